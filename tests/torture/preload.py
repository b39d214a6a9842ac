"""fault.c: built here, and what it wrote down."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


def build(folder):
    """Path of the library; None where there is no compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "fault.so"
    source = Path(__file__).with_name("fault.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-o", library, source,
                    "-pthread"], check=True)
    return library


def environment(library, under, *, log=None, do=None, at=None, lasts=1, calls=None):
    env = {"LD_PRELOAD": str(library), "FAULT_UNDER": str(under)}
    if log is not None:
        env["FAULT_LOG"] = str(log)
    if do is not None:
        env.update(FAULT_DO=str(do), FAULT_AT=str(at), FAULT_FOR=str(lasts))
    if calls is not None:
        env["FAULT_CALLS"] = ",".join(calls)
    return env


@dataclass
class Call:
    """One call, as fault.c wrote it down."""

    kind: str
    result: int
    error: int
    inode: int
    first: int
    second: int
    path: str
    other: str
    data: bytes


def calls_in(log):
    data = log.read_bytes() if log.exists() else b""
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, result, error, inode, first, second, path, other, length = (
            data[at:end].decode(errors="surrogateescape").split("\t"))
        at = end + 1 + int(length)
        found.append(Call(kind, int(result), int(error), int(inode), int(first), int(second),
                          os.path.normpath(path), os.path.normpath(other) if other else "",
                          data[end + 1:at]))
    return found
