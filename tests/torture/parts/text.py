"""Words, names and files of words: exit codes and messages as README tells them."""

import json
import os

from cases import Case, Skip

TITLE = "odd words, names and configurations: the right exit code, and a message one can read"

TINY = ["--n", "4", "--batch", "4", "--emitters", "2", "--iterations", "2", "--grid", "5",
        "--threads", "1"]


def _says(words, code, *phrases):
    """Runs in a folder of its own."""
    def function(world):
        end = world.rarefy(*words, codes=(code,), cwd=world.place)
        for phrase in phrases:
            world.check(phrase.encode() in end.err + end.out, f"does not say {phrase!r}: {end}")
        if code == 2:
            world.check(not list(world.place.iterdir()), "something was made all the same")
    return function


def _full(words):
    def function(world):
        if not os.path.exists("/dev/full"):
            raise Skip("no /dev/full here")
        full = os.open("/dev/full", os.O_WRONLY)
        end = world.rarefy(*words, codes=(4,), streams={1: full}, cwd=world.place)
        os.close(full)
        world.check(b"No space left" in end.err, f"does not say why: {end}")
    return function


# ---- names of folders --------------------------------------------------------------------------

NAMES = {
    "space": b"a b", "newline": b"a\nb", "escape": b"\x1b[31mred\x1b[0m", "bell": b"a\x07\x08b",
    "c1": b"a\x9b2Jb", "c1-utf8": "a\x9b2Jb".encode(), "invalid": b"\xff\xfe\xfd",
    "overlong": b"\xc0\xaf", "surrogate": b"\xed\xa0\x80", "cut": b"a\xe2\x82", "quotes": b"'\"\\",
    "dash": b"-x", "dots": b"...", "braces": b"{}{0}%s%n", "umlaut": "ä ö 日本".encode(),
    "right-to-left": "a\u202egnp.exe".encode(), "separator": "a\u2028b".encode(),
    "delete": b"a\x7fb", "tab": b"a\tb", "return": b"a\rb", "long": b"n" * 255,
}


def _name(raw):
    """A run in a folder of this name, from its beginning to --json."""
    def function(world):
        folder = os.fsencode(world.place) + b"/" + raw
        world.rarefy("run", "lp", *TINY, b"--out=" + folder)
        world.rarefy("show", folder)
        end = world.rarefy("show", folder, "--json")
        try:
            json.loads(end.out)
        except ValueError as error:
            world.check(False, f"no JSON ({error}): {end}")
        world.rarefy("resume", folder, "--iterations", "3")
        world.rarefy("run", "lp", *TINY, b"--out=" + folder, codes=(2,))
        world.rarefy("show", folder + b"/none", codes=(4,))
        world.rarefy("run", raw, codes=(2,), cwd=world.place)
        world.rarefy("run", "lp", b"--" + raw, codes=(0, 2), cwd=world.place)
        world.rarefy("run", "lp", b"--config=" + folder + b"/none.toml", codes=(2, 4),
                     cwd=world.place)
    return function


# ---- configurations ----------------------------------------------------------------------------

def _bombs(quick):
    parts = 4_000 if quick else 40_000
    dotted = "a" + ".a" * parts
    return {
        "dotted-key": dotted + " = 1\n",
        "dotted-table": f"[{dotted}]\n",
        "dotted-tables": f"[[{dotted}]]\n",
        "deep-array": "a = " + "[" * parts,
        "deep-array-closed": "a = " + "[" * parts + "]" * parts,
        "deep-inline": "a = " + "{a=" * parts,
        "inline-dotted": "x = {" + dotted + " = 1}\n",
        "many-keys": "".join(f"k{i} = {i}\n" for i in range(parts)),
        "many-tables": "".join(f"[t{i}]\n" for i in range(parts)),
        "many-in-run": "[run]\n" + "".join(f"k{i} = {i}\n" for i in range(parts)),
        "long-array": "[run]\ndomain = 'maze'\n[domain]\nwalls = [" + "[0,0,1,1]," * parts
                      + "[0,0,1]]\n",
        "long-text": "[run]\ndomain = '" + "x" * (25 * parts) + "'\n",
        "long-name": "[run]\n" + "x" * (25 * parts) + " = 1\n",
        "long-number": "[run]\nseed = " + "9" * (25 * parts) + "\n",
        "escapes": '[run]\n"\\u001b[31m\\u0007" = 1\ndomain = "l\\u001b[2Jp"\n',
        "raw-escapes": "[run]\n'\x1b]0;gone\x07' = 1\n",
        "half": "[run]\ndomain = 'l",
        "wrong-type": "run = 3\n",
        "section-is-array": "[[run]]\ndomain = 'lp'\n",
        "twice": "[run]\ndomain = 'lp'\ndomain = 'lp'\n",
        "date": "[run]\nseed = 1979-05-27T07:32:00Z\n",
        "own-version": "rarefy = 1\n[run]\ndomain = 'lp'\n[x]\n",
    }


def _config(data):
    def function(world):
        file = world.place / "config.toml"
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        end = world.rarefy("run", "--config", file, "--out", world.place / "run", codes=(2,), cpu=60)
        world.check(b"config.toml" in end.err, f"does not name the file: {end}")
        world.check(len(end.err) < 3 * len(data) + 20_000, f"says {len(end.err)} bytes")
        world.check(not (world.place / "run").exists(), "a folder was made")
    return function


def _nothing_in_config(data):
    """An empty file sets nothing: what is missing is the domain."""
    def function(world):
        file = world.place / "config.toml"
        file.write_bytes(data)
        end = world.rarefy("run", "--config", file, codes=(2,), cwd=world.place)
        world.check(b"no domain" in end.err, f"does not say what is missing: {end}")
    return function


def _large_config(world):
    """A file that is larger than any configuration."""
    file = world.place / "config.toml"
    with open(file, "wb") as out:
        out.truncate(20 << 30)
    end = world.rarefy("run", "--config", file, codes=(2, 3, 4), cpu=60, cwd=world.place)
    world.check(end.megabytes < 1024, f"takes {end.megabytes:.0f} MB: {end}")


def _loops(world):
    (world.place / "loop").symlink_to("loop")
    for words in (["show", "loop"], ["resume", "loop"], ["run", "lp", "--config", "loop"],
                  ["run", "lp", *TINY, "--out", "loop"], ["run", "lp", *TINY, "--out", "loop/b"],
                  ["evaluate", "lp", "--solutions", "loop"],
                  ["run", "lp", "--initial-solutions", "loop"],
                  ["run", "lp", "--archive", "cvt", "--centroids", "loop"]):
        end = world.rarefy(*words, codes=(4,), cwd=world.place)
        world.check(b"loop" in end.err, f"does not name it: {end}")
    world.check(not [p for p in world.place.rglob("*") if p.is_file()], "something was made")


def _not_files(world):
    """A folder, a pipe and a device where a file should be."""
    os.mkfifo(world.place / "pipe")
    (world.place / "folder").mkdir()
    for name in ("pipe", "folder", "/dev/zero", "/dev/null", "missing", "folder/missing", "pipe/x"):
        for words in (["run", "lp", "--config", name], ["evaluate", "lp", "--solutions", name],
                      ["run", "lp", "--archive", "cvt", "--centroids", name],
                      ["run", "lp", "--initial-solutions", name], ["show", name],
                      ["resume", name]):
            world.rarefy(*words, codes=(2, 3, 4) if name == "/dev/null" else (4,), cpu=60,
                         cwd=world.place)


def _long_words(world):
    for length in (256, 4096, 100_000):
        word = "x" * length
        world.rarefy("run", word, codes=(2,), cwd=world.place)
        world.rarefy("run", "lp", f"--{word}", codes=(2,), cwd=world.place)
        world.rarefy("run", "lp", *TINY, "--out", word, codes=(4,), cwd=world.place)
        world.rarefy("show", word, codes=(4,), cwd=world.place)
        world.rarefy("resume", word, codes=(4,), cwd=world.place)
        world.rarefy("run", "lp", "--seed", "9" * length, codes=(2,), cwd=world.place)
        world.rarefy("run", "lp", "--sigma0", "9" * length, codes=(2,), cwd=world.place)
        world.rarefy("run", "lp", "--config", word, codes=(4,), cwd=world.place)
        end = world.rarefy("run", "lp", "--algorithm", word, codes=(2,), cwd=world.place)
        world.check(len(end.err) < 3 * length + 2000, f"says {len(end.err)} bytes")


PARAMETERS = ("seed", "n", "m", "emitters", "batch", "sigma0", "x0", "selection", "strategy",
              "mirrored", "factor", "bounds", "patience", "patience-rate", "restart-at", "buffer",
              "outside", "kernel", "bandwidth", "kde", "grid", "metrics-every", "entropy-floor",
              "objective-floor", "checkpoint-seconds", "nan-fails", "profile", "algorithm",
              "objective", "threads", "instruction-set")


def _parameter(name):
    """Values that are mostly not possible: done, or refused with the parameter's name."""
    def function(world):
        few = ["--iterations", "1", "--quiet", "--overwrite", "--out", "out"]
        small = [] if name in ("n", "emitters", "batch") else ["--n", "4", "--batch", "4"]
        for value in ("", " ", "-", "0", "-1", "1e400", "nan", "inf", "0x10", "1,2", "1.5.2",
                      "99999999999999999999", "\x1b[31m", "\u00e4", "nan width", "-1 width"):
            end = world.rarefy("run", "lp", *few, *small, f"--{name}={value}", codes=(0, 2), cpu=60,
                               cwd=world.place)
            if end.code == 2:
                named = name.encode() in end.err or name.replace("-", " ").encode() in end.err
                world.check(named, f"does not name {name}: {end}")
    return function


def cases(bench):
    found = []
    empty = "got an empty text, expected a value"
    for name, words in {
        "config": ["run", "lp", "--config", ""], "out": ["run", "lp", "--out", ""],
        "show": ["show", ""], "resume": ["resume", ""], "walls": ["run", "maze", "--walls", ""],
        "centroids": ["run", "multi-lp", "--centroids", ""],
        "initial": ["run", "lp", "--initial-solutions", ""],
        "solutions": ["evaluate", "lp", "--solutions", ""],
    }.items():
        found.append(Case(f"empty.{name}", _says(words, 2, empty)))
    for name, (words, code, *phrases) in {
        "nothing": ([], 0, "Usage"), "help": (["--help"], 0, "Exit codes"),
        "version": (["--version"], 0, "rarefy "), "list": (["list"], 0, "Domains"),
        "list-maze": (["list", "maze", "--algorithm", "ns"], 0, "neighbours"),
        "verb": (["rum"], 2), "option": (["run", "lp", "--sigma", "2"], 2, "--sigma0"),
        "domain": (["run", "nosuch"], 2, "nosuch"), "no-domain": (["run"], 2, "no domain"),
        "no-value": (["run", "lp", "--seed"], 2, "--seed"),
        "idle": (["run", "lp", "--alpha", "0.1"], 2, "alpha"),
        "twice": (["run", "lp", "--seed", "1", "--seed", "2"], 2, "seed"),
        "show-none": (["show"], 2), "show-missing": (["show", "/nowhere/at/all"], 4, "/nowhere"),
        "resume-missing": (["resume", "/nowhere"], 4, "/nowhere"),
        "evaluate-missing": (["evaluate", "lp", "--solutions", "/nowhere.npy"], 4, "/nowhere.npy"),
        "extra": (["run", "lp", "arm"], 2), "empty-domain": (["run", ""], 2),
        "empty-word": (["", "run"], 2), "list-nosuch": (["list", "nosuch"], 2, "nosuch"),
        "json-and-density": (["show", ".", "--json", "--density"], 2),
    }.items():
        found.append(Case(f"words.{name}", _says(words, code, *phrases)))
    for name, words in {"help": ["--help"], "version": ["--version"], "run-help": ["run", "--help"],
                        "list": ["list"], "nothing": []}.items():
        found.append(Case(f"full.{name}", _full(words)))
    for name, raw in NAMES.items():
        found.append(Case(f"name.{name}", _name(raw)))
    for name, text in _bombs(bench.quick).items():
        found.append(Case(f"config.{name}", _config(text)))
    for name, data in {"binary": bytes(range(256)), "invalid-utf8": b"[run]\nx = '\xff\xfe'\n",
                       "nul": b"[run]\nseed = 1\x00\n", "bom-only": b"\xef\xbb\xbf",
                       "empty": b""}.items():
        found.append(Case(f"config.{name}", _config(data) if name not in ("empty", "bom-only")
                          else _nothing_in_config(data)))
    found += [Case("config.large", _large_config), Case("loops", _loops),
              Case("not-files", _not_files), Case("long-words", _long_words)]
    parameters = [Case(f"parameter.{name}", _parameter(name)) for name in PARAMETERS]
    if bench.quick:
        return found[::4] + parameters[::15]
    return found + parameters
