"""Folders and files from others: damaged, or made to do harm, with checksums that fit."""

import json
import os
import re
import resource
import shutil
from dataclasses import replace
from random import Random

import numpy

import checkpoints
import configurations
import npy_files
import run_folders
from cases import Case

TITLE = "folders and files from others: bounded in time and memory, and told"

TEMPLATES = ("kde-lp", "kde-lp-published", "kde-panels", "kde-endless", "kde-endless-direct",
             "kde-cvt", "kde-eigen", "kde-sep", "kde-lm", "kde-bounds", "kde-maze", "cnf-lp",
             "cnf-lp-published", "ns-multi", "cma-mae-lp", "dms-lp", "cma-me-lp", "map-elites-line-arm")
ITERATIONS = 12

MOST_MEGABYTES = 1024  # of memory, for folders of less than a megabyte
# Threads reserve addresses that they never use.
ADDRESSES = (2 << 30) + ((os.cpu_count() or 1) << 28)
MOST_CPU = 30  # seconds of processor time; an honest run of this size takes a tenth of one


def bounded(world, *words, codes=(0, 2, 3, 4)):
    end = world.rarefy(*words, codes=codes, cpu=MOST_CPU,
                       limits={resource.RLIMIT_AS: ADDRESSES})
    world.check(end.megabytes < MOST_MEGABYTES, f"takes {end.megabytes:.0f} MB: {end}")
    for phrase in (b"not enough memory", b"out of memory", b"bad_alloc"):
        world.check(phrase not in end.err, f"asks for more memory than there is: {end}")
    return end


def look_at(world, folder):
    """All that one may do with a folder from somebody else."""
    end = bounded(world, "show", folder, "--json")
    if end.code == 0:
        try:
            json.loads(end.out)
        except ValueError as error:
            world.check(False, f"no JSON ({error}): {end}")
    if end.code == 0 and world.random.random() < 0.3:
        bounded(world, "show", folder)
        bounded(world, "show", folder, "--density")
    end = bounded(world, "resume", folder, "--quiet", "--iterations", str(ITERATIONS + 2),
                  "--threads", "2")
    if end.code == 0:
        world.whole(folder)


def _changed(template, change):
    """`change(folder, random)` does something to a copy."""
    def function(world):
        folder = world.place / "run"
        shutil.copytree(template, folder)
        change(folder, world.random)
        look_at(world, folder)
    return function


# ---- bytes -------------------------------------------------------------------------------------

def _cut(data, random):
    return data[:random.randrange(len(data) + 1)]


def _longer(data, random):
    return data + random.randbytes(random.randint(1, 5000))


def _flip(data, random):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 10))):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def _block(data, random):
    at, size = random.randrange(len(data) + 1), random.randint(1, 64)
    return data[:at] + random.choice((bytes(size), b"\xff" * size, random.randbytes(size))) + (
        data[at + size:])


def _moved(data, random):
    at, to = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:at] + data[to:] + data[at:to]


BYTES = {"cut": _cut, "longer": _longer, "flip": _flip, "block": _block, "moved": _moved,
         "random": lambda data, random: random.randbytes(len(data)),
         "nothing": lambda data, random: b"",
         "zeros": lambda data, random: bytes(len(data))}


def _bytes_of(name, how):
    def change(folder, random):
        file = folder / name
        file.write_bytes(BYTES[how](file.read_bytes(), random))
    return change


def _payload(how):
    """The same to the payload of the checkpoint, and the checksum made to fit."""
    def change(folder, random):
        file = folder / "checkpoint.bin"
        payload = checkpoints.payload_of(file.read_bytes())
        file.write_bytes(checkpoints.file_of(BYTES[how](payload, random)))
    return change


# ---- fields of the state -----------------------------------------------------------------------

INTEGERS = (0, 1, -1, 2**31, 2**40, 2**62, 2**63 - 1, -2**63)
REALS = (0.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, 1e100, float("nan"), float("inf"),
         float("-inf"))
FLOATS = (0.0, -1.0, 3e38, 1e-45, float("nan"), float("inf"))
TEXTS = (b"", b"\x1b[31m\x9b2J", b"a" * (1 << 21), b"\xff\xfe", b"no")


def _field_changes(field):
    """name -> the field, changed"""
    changes = {}
    if field.type == "t":
        for i, text in enumerate(TEXTS):
            changes[f"text{i}"] = replace(field, data=text)
    else:
        values = field.values()
        extremes = {"i": INTEGERS, "r": REALS, "f": FLOATS}[field.type]
        for at in sorted({0, len(values) - 1} if values else ()):
            for extreme in extremes:
                other = list(values)
                other[at] = extreme
                changes[f"[{at}]={extreme}"] = field.with_values(other)
            if field.type == "i":
                for more in (-1, 1):
                    other = list(values)
                    other[at] = max(-2**63, min(2**63 - 1, values[at] + more))
                    changes[f"[{at}]{more:+}"] = field.with_values(other)
        if len(values) > 1:
            for extreme in extremes:
                changes[f"all={extreme}"] = field.with_values([extreme] * len(values))
        changes["shorter"] = field.with_values(values[:-1])
        changes["longer"] = field.with_values(values + values[-1:] if values else [0])
        changes["none"] = field.with_values([])
        changes["twice"] = field.with_values(values * 2)
    for claimed in (0, field.count + 1, 2**40, 2**61, 2**64 - 1):
        changes[f"claims{claimed}"] = replace(field, claimed=claimed)
    return changes


def _field(number, name):
    def change(folder, random):
        file = folder / "checkpoint.bin"
        fields = checkpoints.decode(file.read_bytes())
        fields[number] = _field_changes(fields[number])[name]
        file.write_bytes(checkpoints.encode(fields))
    return change


def _several_fields(folder, random):
    file = folder / "checkpoint.bin"
    fields = checkpoints.decode(file.read_bytes())
    for _ in range(random.randint(2, 4)):
        at = random.randrange(9, len(fields))
        changes = _field_changes(fields[at])
        fields[at] = changes[random.choice(sorted(changes))]
        if fields[at].claimed is not None:
            break  # what comes after it is not where it seems
    file.write_bytes(checkpoints.encode(fields))


# ---- configurations ----------------------------------------------------------------------------

# Every parameter gets each of the large ones, and some of the odd ones by turns.
LARGE = ("5000", "20000", "30000", "1000000", "1000000000", "9223372036854775807")
ODD = ("0", "-1", "99999999999999999999", "1e308", "1e-300", "nan", "''", "'unlimited'",
       "'\\u001b[31m'", "[]", "'1000000000 width'", "'1000000000,1000000000'",
       "'" + "9" * 5000 + "'")
LINE = re.compile(r"^([a-z0-9-]+) = (.*?)(  #.*)?$", re.M)


def _config(key, value, agreed):
    """A value in config.toml and, where `agreed`, in the checkpoint as well."""
    def changed(text):
        return LINE.sub(lambda m: f"{key} = {value}" if m[1] == key else m[0], text)

    def change(folder, random):
        file = folder / "config.toml"
        file.write_text(changed(file.read_text()))
        if agreed:
            file = folder / "checkpoint.bin"
            fields = [replace(f, data=changed(f.data.decode()).encode())
                      if f.name == b"state.config" else f
                      for f in checkpoints.decode(file.read_bytes())]
            file.write_bytes(checkpoints.encode(fields))
    return change


def _all(*changes):
    def change(folder, random):
        for each in changes:
            each(folder, random)
    return change


def _without(name, *more):
    def change(folder, random):
        (folder / name).unlink()
        for each in more:
            each(folder, random)
    return change


# ---- files that options name -------------------------------------------------------------------

def _given(words, suffix, data):
    def function(world):
        file = world.place / f"given{suffix}"
        file.write_bytes(data)
        bounded(world, *[file if word is None else word for word in words])
    return function


def _replaced(name, data):
    def change(folder, random):
        (folder / name).write_bytes(data)
    return change


def _bytes_of_files(bench, templates):
    times = 1 if bench.quick else 3
    for key, template in templates.items():
        names = [p.name for p in sorted(template.iterdir()) if p.name != "heatmap.png"]
        for name in names:
            read = name not in ("metrics.csv", "archive.npz")
            for how in BYTES:
                for i in range(times if read and how in ("flip", "block", "cut") else 1):
                    yield Case(f"bytes.{key}.{name}.{how}.{i}",
                               _changed(template, _bytes_of(name, how)))
        for how in BYTES:
            for i in range(times * (4 if how in ("flip", "block") else 1)):
                yield Case(f"payload.{key}.{how}.{i}", _changed(template, _payload(how)))


def _fields_of_states(bench, templates):
    """Each field of each name in the first template that has it."""
    seen = set()
    for key, template in templates.items():
        fields = checkpoints.decode((template / "checkpoint.bin").read_bytes())
        for number, field in enumerate(fields):
            if (field.name, field.type) in seen:
                continue
            seen.add((field.name, field.type))
            for change in _field_changes(field):
                yield Case(f"state.{key}.{field.name.decode()}.{change}",
                           _changed(template, _field(number, change)))
        for i in range(0 if bench.quick else 25):
            yield Case(f"states.{key}.{i}", _changed(template, _several_fields))


def _configurations(bench, templates):
    for key, prefix in (("kde-lp", ""), ("kde-cvt", "c"), ("cnf-lp", "flow")):
        if key not in templates:
            continue
        template = templates[key]
        for number, match in enumerate(LINE.finditer((template / "config.toml").read_text())):
            if not match[1].startswith(prefix):
                continue
            for value in (*LARGE, *(ODD[(3 * number + i) % len(ODD)] for i in range(3))):
                yield Case(f"config.{key}.{match[1]}={value[:24]}",
                           _changed(template, _config(match[1], value, True)))
            yield Case(f"config.{key}.{match[1]}.not-agreed",
                       _changed(template, _config(match[1], "7", False)))
    # Each is possible, and together they are not.
    for i, several in enumerate(((("emitters", "20000"), ("batch", "20000")),
                                 (("n", "3000"), ("emitters", "1000")),
                                 (("flow-layers", "'9000,9000'"), ("flow-batch", "9000")))):
        for key in ("kde-lp", "cnf-lp"):
            if key in templates:
                yield Case(f"config.{key}.several.{i}", _changed(templates[key], _all(
                    *(_config(name, value, True) for name, value in several))))
    if "kde-cvt" in templates:
        template = templates["kde-cvt"]
        yield Case("config.kde-cvt.no-centroids", _changed(template, _without("centroids.npy")))
        for key, value in (("cells", "1000000"), ("cells", "1000000000"),
                           ("cvt-samples", "1000000000"), ("cvt-iterations", "1000000000")):
            yield Case(f"config.kde-cvt.no-centroids.{key}.{value}", _changed(
                template, _without("centroids.npy", _config(key, value, True))))


def _arrays(bench, templates):
    small = bench.quick
    tiny = ["--batch", "4", "--emitters", "2", "--iterations", "1", "--quiet", "--overwrite"]
    lp = ["lp", "--n", "8"]
    out = ["--out", str(bench.root / "given")]
    for name, data in npy_files.crafted_npy().items():
        yield Case(f"npy.evaluate.{name}", _given(["evaluate", *lp, "--solutions", None], ".npy",
                                                  data))
        yield Case(f"npy.centroids.{name}", _given(
            ["run", *lp, "--m", "8", *tiny, *out, "--archive", "cvt", "--centroids", None], ".npy",
            data))
        if "kde-cvt" in templates:
            yield Case(f"npy.folder.{name}", _changed(templates["kde-cvt"],
                                                      _replaced("centroids.npy", data)))
        if "initial" in templates:
            yield Case(f"npy.initial.{name}", _changed(templates["initial"],
                                                       _replaced("initial.npy", data)))
    for name, data in npy_files.crafted_npz(small).items():
        yield Case(f"npz.{name}", _given(["run", *lp, *tiny, *out, "--initial-solutions", None],
                                         ".npz", data))


def cases(bench):
    keys = ("kde-lp", "kde-cvt") if bench.quick else TEMPLATES
    templates = {key: bench.reference((key, "crafted"), configurations.words(
        key, ITERATIONS, "--checkpoint-seconds", "0", "--threads", "1")) for key in keys}
    solutions = bench.root / "crafted-initial.npy"
    numpy.save(solutions, numpy.linspace(-1, 1, 40).reshape(5, 8))
    templates["initial"] = bench.reference("crafted initial", configurations.words(
        "kde-lp", ITERATIONS, "--initial-solutions", str(solutions)))
    for template in templates.values():
        assert run_folders.damages(template) == []
    chance = Random(bench.seed)  # another seed tries others
    found = []
    for group, most in ((_bytes_of_files, 350), (_fields_of_states, 1500), (_configurations, 2000),
                        (_arrays, 250)):
        whole = list(group(bench, templates))
        if bench.quick:
            found += whole[::len(whole) // 12]
        elif bench.all or len(whole) <= most:
            found += whole
        else:
            found += chance.sample(whole, most)
    return found
