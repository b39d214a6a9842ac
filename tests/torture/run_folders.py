"""Are the files of a run whole, and are two runs the same?"""

import io
import itertools
import re
import zipfile

import numpy

import checkpoints

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

NAMES = ("config.toml", "checkpoint.bin", "metrics.csv", "archive.npz", "heatmap.png",
         "centroids.npy", "density.png", "density.npz", "initial.npy", "journal.bin", "failures.log",
         "warnings.txt")
OF_A_CELL = re.compile(r"trajectory-\d+\.(png|csv)|arm-\d+\.png")
TEMPORARY = re.compile(r"\..+\.tmp-\d+-\d+")


def is_ours(name):
    return name in NAMES or OF_A_CELL.fullmatch(name) is not None


def _check_png(data):
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at, kind = 8, b""
    while at + 12 <= len(data):
        kind = data[at + 4:at + 8]
        at += 12 + int.from_bytes(data[at:at + 4], "big")
    if kind != b"IEND" or at != len(data):
        raise ValueError("a PNG that is cut short, or goes on after its end")


def _check_toml(data):
    if tomllib is not None:
        tomllib.loads(data.decode())
    if b"\njournal = " not in data or not data.endswith(b"\n"):
        raise ValueError("it is cut short")  # that is its last parameter


def _check_csv(data):
    if not data.endswith(b"\n"):
        raise ValueError("the last line is cut short")
    widths = {line.count(b",") for line in data.splitlines()}
    if len(widths) != 1:
        raise ValueError("lines of different lengths")


def _check_npz(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if archive.testzip() is not None:
            raise ValueError("a wrong checksum")
    arrays = numpy.load(io.BytesIO(data))
    for name in arrays:
        arrays[name]


_CHECKS = {
    ".toml": _check_toml,
    "journal.bin": lambda data: None,  # it may be torn anywhere: what is torn is not trusted
    ".bin": checkpoints.decode,
    ".csv": _check_csv,
    ".npz": _check_npz,
    ".npy": lambda data: numpy.load(io.BytesIO(data)),
    ".png": _check_png,
}


def damages(folder, temporaries=True):
    """What is wrong with single files; empty where each is whole. `temporaries` says whether a
    writer may have left some."""
    found = []
    if not folder.is_dir():
        return found
    for path in sorted(folder.iterdir()):
        if TEMPORARY.fullmatch(path.name):
            if not temporaries:
                found.append(f"the temporary {path.name} was left behind")
            continue
        if not is_ours(path.name) or not path.is_file():
            continue
        try:
            _CHECKS.get(path.name, _CHECKS.get(path.suffix))(path.read_bytes())
        except Exception as error:  # whatever a reader says of a torn file
            found.append(f"{path.name} is damaged: {type(error).__name__}: {error}")
    return found


def _without_seconds(data):
    lines = [line.split(b",") for line in data.splitlines()]
    kept = [not name.endswith(b"seconds") for name in lines[0]] if lines else []
    return [list(itertools.compress(line, kept)) for line in lines]


def iteration_in(folder):
    """How far the checkpoint is."""
    for field in checkpoints.decode((folder / "checkpoint.bin").read_bytes()):
        if field.name == b"search.generations":
            return min(field.values())
    raise ValueError("no search.generations")


def differences(folder, expected, leave_out=()):
    """What is different in the files of two runs, but for measured times."""
    found = []
    here = {p.name for p in folder.iterdir()} if folder.is_dir() else set()
    there = {p.name for p in expected.iterdir()}
    leave_out = set(leave_out)
    if here - leave_out != there - leave_out:
        found.append(f"there are {sorted(here)}, expected {sorted(there)}")
    for name in sorted((here & there) - leave_out):
        one, other = folder / name, expected / name
        if one.is_symlink() or not one.is_file():
            found.append(f"{name} is no file")
            continue
        one, other = one.read_bytes(), other.read_bytes()
        if one == other:
            continue
        if name == "metrics.csv" and _without_seconds(one) == _without_seconds(other):
            continue
        if name == "checkpoint.bin":
            try:
                one, other = (checkpoints.without_times(b) for b in (one, other))
            except checkpoints.Damaged as error:
                found.append(f"{name} is damaged: {error}")
                continue
            if one == other:
                continue
            first = next((a.name for a, b in zip(one, other) if a != b), b"its length")
            found.append(f"{name} differs at {first.decode()}")
            continue
        found.append(f"{name} has other bytes")
    return found
