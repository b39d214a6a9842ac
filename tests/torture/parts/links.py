"""Links, other people's files, folders that move, permissions: what is not ours stays as it is."""

import os
import shutil
import signal
import stat

import configurations
import run_folders
from cases import Case, Skip

TITLE = "links, moved folders and files of others: nothing that is precious changes"

ITERATIONS = 6
OFTEN = ("--checkpoint-seconds", "0", "--threads", "1")
NAMES = (*run_folders.NAMES, "trajectory-0.png", "trajectory-0.csv", "arm-0.png")
NOBODY = 65534


def _words(name="kde-lp", iterations=ITERATIONS):
    return configurations.words(name, iterations, *OFTEN)


class Precious:
    """Files beside a run folder that nothing may touch."""

    def __init__(self, place):
        self.folder = place / "precious"
        self.folder.mkdir()
        self.file = self.folder / "thesis.tex"
        self.file.write_text("years of work\n")
        self.file.chmod(0o640)
        (self.folder / "more").mkdir()
        (self.folder / "more" / "data.csv").write_text("1,2\n")
        self.before = self._look()

    def _look(self):
        seen = {}
        for path in [self.folder, *sorted(self.folder.rglob("*"))]:
            status = path.lstat()
            seen[str(path)] = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode),
                               status.st_mtime_ns, status.st_ino, status.st_uid,
                               path.read_bytes() if path.is_file() else b"")
        return seen

    def check(self, world):
        now = self._look()
        for path in sorted(set(now) | set(self.before)):
            if path not in now:
                world.check(False, f"{path} is gone")
            elif path not in self.before:
                world.check(False, f"{path} is new")
            elif now[path] != self.before[path]:
                world.check(False, f"{path} has changed")


def _put(kind, at, precious):
    """Something else at one of our names."""
    if at.is_symlink() or at.is_file():
        at.unlink()
    if kind == "to-file":
        at.symlink_to(precious.file)
    elif kind == "to-folder":
        at.symlink_to(precious.folder)
    elif kind == "relative":
        at.symlink_to(os.path.relpath(precious.file, at.parent))
    elif kind == "dangling":
        at.symlink_to(precious.folder / "not-there")
    elif kind == "loop":
        at.symlink_to(at.name)
    elif kind == "chain":
        (at.parent.parent / "chain").unlink(missing_ok=True)
        (at.parent.parent / "chain").symlink_to(precious.file)
        at.symlink_to(at.parent.parent / "chain")
    elif kind == "hard":
        os.link(precious.file, at)
    elif kind == "folder":
        at.mkdir()
        (at / "inside").write_text("mine")
    elif kind == "pipe":
        os.mkfifo(at)
    elif kind == "device":
        at.symlink_to("/dev/zero")


KINDS = ("to-file", "to-folder", "relative", "dangling", "loop", "chain", "hard", "folder", "pipe",
         "device")
COMMANDS = {
    "show": lambda f: ["show", f],
    "density": lambda f: ["show", f, "--density"],
    "resume": lambda f: ["resume", f, "--quiet", "--iterations", str(ITERATIONS + 1)],
    "overwrite": lambda f: ["run", *_words(), "--quiet", "--overwrite", "--out", f],
    "run": lambda f: ["run", *_words(), "--quiet", "--out", f],
}


def _at_a_name(kind, name, command, template):
    def function(world):
        folder = world.place / "run"
        shutil.copytree(template, folder)
        precious = Precious(world.place)
        own = folder / "mine.txt"
        own.write_text("mine")
        inode = precious.file.stat().st_ino
        _put(kind, folder / name, precious)
        if kind == "hard":
            precious.before = precious._look()
        end = world.rarefy(*COMMANDS[command](folder), codes=(0, 2, 3, 4))
        precious.check(world)
        world.check(precious.file.stat().st_ino == inode, "precious is another file now")
        world.check(own.read_text() == "mine", "a file of the user's has changed")
        if command == "run":
            world.check(end.code == 2, f"mixes with what is there: {end}")
        if command == "overwrite" and end.code == 0:
            expected = world.bench.references[str(("links", ITERATIONS))][0]
            world.same(folder, expected, leave_out=["mine.txt"])
        if end.code == 0:
            if (folder / name).is_symlink() or (
                    (folder / name).exists() and (folder / name).stat().st_ino == inode):
                (folder / name).unlink()  # not written this time: it is still the user's
            world.whole(folder, temporaries=False)
        if kind == "folder":
            world.check((folder / name / "inside").read_text() == "mine", "a folder was emptied")
        if command == "overwrite" and kind not in ("folder",):
            world.check(end.code == 0, f"a link stands in the way: {end}")
    return function


def _as_nobody(kind, name, command, template):
    """By a user who may not write where the links lead, nor read all of it."""
    def function(world):
        if os.geteuid() != 0:
            raise Skip("not root: nobody else can run the command")
        place = world.place
        folder = place / "run"
        shutil.copytree(template, folder)
        precious = Precious(place)
        precious.file.chmod(0o600)
        _put(kind, folder / name, precious)
        precious.before = precious._look()
        writable = world.random.random() < 0.5
        for path in [folder, *folder.iterdir()]:
            if writable:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

        def prepare():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        for above in [place, *place.parents]:
            if str(above).startswith(str(world.bench.root)):
                above.chmod(0o755)
        before = {p.name: p.lstat().st_ino for p in folder.iterdir()}
        try:
            end = world.rarefy(*COMMANDS[command](folder), codes=(0, 2, 3, 4), prepare=prepare)
        except PermissionError as error:
            raise Skip(f"another user cannot start the command: {error}") from error
        precious.check(world)
        if not writable:
            world.check(end.code != 0 or b"writing nothing" in end.err,
                        f"does not say that it may not write: {end}")
            world.check(before == {p.name: p.lstat().st_ino for p in folder.iterdir()},
                        "a folder that may not be written to has changed")
    return function


def _read_through(name, template):
    """Files that are read may lie elsewhere: they are read there, and stay as they are."""
    def function(world):
        folder = world.place / "run"
        shutil.copytree(template, folder)
        moved = world.place / "moved"
        shutil.move(folder / name, moved)
        (folder / name).symlink_to(moved)
        before = moved.read_bytes(), moved.stat().st_mtime_ns
        world.rarefy("resume", folder, "--quiet", "--iterations", str(ITERATIONS + 2))
        world.check((moved.read_bytes(), moved.stat().st_mtime_ns) == before, "was written through")
        world.whole(folder, temporaries=False)
    return function


def _moved(kill):
    """The folder is moved in the middle of a run, and another run begins at its place."""
    def function(world):
        folder, moved = world.place / "run", world.place / "run.old"
        first = world.start("run", *_words(iterations=1_000_000_000), "--out", folder)
        first.wait_until(lambda: (folder / "config.toml").exists())
        os.rename(folder, moved)
        expected = world.bench.references[str(("links", ITERATIONS))][0]
        world.rarefy("run", *_words(), "--quiet", "--out", folder)
        world.same(folder, expected)
        end = world.rarefy("resume", moved, codes=(4,), cpu=20)
        world.check(b"in use" in end.err, f"two at the same time: {end}")
        if not first.is_over():
            first.send(signal.SIGKILL if kill else signal.SIGTERM)
        end = world.judge(first.wait(), (130,), (signal.SIGKILL,) if kill else ())
        world.check(kill or str(moved).encode() in end.err, f"does not say where it is: {end}")
        world.same(folder, expected)
        world.whole(moved)
        done = run_folders.iteration_in(moved)
        world.rarefy("resume", moved, "--quiet", "--iterations", str(done + 2))
        words = _words(iterations=done + 2)
        words[words.index("--checkpoint-seconds") + 1] = "1000"
        world.rarefy("run", *words, "--quiet", "--out", world.place / "undisturbed")
        world.same(moved, world.place / "undisturbed", leave_out=["config.toml"])
    return function


def _removed(world):
    """The folder is deleted in the middle of a run."""
    folder = world.place / "run"
    precious = Precious(world.place)
    first = world.start("run", *_words(iterations=1_000_000_000), "--out", folder)
    first.wait_until(lambda: (folder / "config.toml").exists())
    os.rename(folder, world.place / "away")
    os.symlink(precious.folder, folder)
    shutil.rmtree(world.place / "away", ignore_errors=True)  # it may be writing there
    if not first.is_over():
        first.send(signal.SIGTERM)
    world.judge(first.wait(), (4, 130))
    precious.check(world)


def _own_file(name):
    def function(world):
        folder = world.place / "mine"
        folder.mkdir()
        (folder / name).write_text("mine")
        (folder / ".notes.tmp-2024-01-05").write_text("mine")
        end = world.rarefy("run", *_words(), "--quiet", "--out", folder, codes=(2,))
        world.check(name.encode() in end.err and b"--overwrite" in end.err,
                    f"does not say what is in the way: {end}")
        world.check((folder / name).read_bytes() == b"mine", "a file of the user's was replaced")
        world.rarefy("run", *_words(), "--quiet", "--overwrite", "--out", folder)
        world.same(folder, world.bench.references[str(("links", ITERATIONS))][0],
                   leave_out=[".notes.tmp-2024-01-05"])
    return function


KEPT = (".notes.tmp-2024-01-05", ".metrics.csv.tmp-01-1", ".metrics.csv.tmp-1", "metrics.csv~",
        ".metrics.csv.tmp-1-1x", ".other.csv.tmp-1-1", "trajectory-x.csv", "trajectory-.csv",
        ".config.toml.swp", "Config.toml", "checkpoint.bin.bak", ".metrics.csv.tmp--1-1", ".tmp-1-1",
        ".metrics.csv.tmp-1-99999999999", "archive.npz.tmp-1-1", "trajectory-1.csv.gz")


def _hidden(command):
    """Names that look nearly like ours."""
    def function(world):
        folder = world.place / "run"
        shutil.copytree(world.bench.references[str(("links", ITERATIONS))][0], folder)
        for name in KEPT:
            (folder / name).write_text("mine")
        gone = folder / ".metrics.csv.tmp-123456-0"  # what a killed writer leaves
        gone.write_text("half a")
        world.rarefy(*COMMANDS[command](folder))
        for name in KEPT:
            path = folder / name
            world.check(path.is_file() and path.read_text() == "mine", f"{name} was touched")
        world.check(not gone.exists() or command in ("show", "density"), "a leftover stays")
    return function


def _permissions(mode, command):
    def function(world):
        folder = world.place / "run"
        shutil.copytree(world.bench.references[str(("links", ITERATIONS))][0], folder)
        for path in folder.iterdir():
            path.chmod(mode)
        before = {p.name for p in folder.iterdir()}
        world.rarefy(*COMMANDS[command](folder))
        for name in before:
            now = stat.S_IMODE((folder / name).stat().st_mode)
            world.check(now == mode, f"{name} had permissions {mode:o}, and has {now:o}")
    return function


def _umask(mask):
    def function(world):
        folder = world.place / "run"
        world.rarefy("run", *_words(), "--quiet", "--out", folder,
                     prepare=lambda: os.umask(mask))
        for path in folder.iterdir():
            now = stat.S_IMODE(path.stat().st_mode)
            world.check(now == 0o666 & ~mask, f"{path.name} has permissions {now:o}")
    return function


def _linked_out(kind):
    """--out through a link: the folder it leads to is meant."""
    def function(world):
        real = world.place / "real"
        link = world.place / "link"
        if kind == "to-folder":
            real.mkdir()
        link.symlink_to("real" if kind == "to-folder" else "not-there/at/all")
        end = world.rarefy("run", *_words(), "--quiet", "--out", link,
                           codes=(0,) if kind == "to-folder" else (4,))
        world.check(link.is_symlink(), "the link was replaced")
        if end.code == 0:
            world.same(real, world.bench.references[str(("links", ITERATIONS))][0])
    return function


def cases(bench):
    template = bench.reference(("links", ITERATIONS), _words())
    cvt = bench.reference(("links", "cvt"), _words("kde-cvt"))
    found = []
    for name in NAMES:
        for kind in KINDS:
            for command in COMMANDS:
                found.append(Case(f"at.{name}.{kind}.{command}",
                                  _at_a_name(kind, name, command, template)))
    nobody = [Case(f"nobody.{name}.{kind}.{command}", _as_nobody(kind, name, command, template))
              for name in NAMES for kind in ("to-file", "to-folder", "dangling")
              for command in ("show", "resume", "overwrite")]
    if bench.quick:
        found, nobody = found[::61], nobody[::33]
    found += nobody
    for name in ("config.toml", "checkpoint.bin", "metrics.csv", "centroids.npy"):
        found.append(Case(f"read-through.{name}", _read_through(name, cvt)))
    for i in range(1 if bench.quick else 5):
        found.append(Case(f"moved.stopped.{i}", _moved(False)))
        found.append(Case(f"moved.killed.{i}", _moved(True)))
        found.append(Case(f"removed.{i}", _removed))
    for name in NAMES[:3] if bench.quick else NAMES:
        found.append(Case(f"own-file.{name}", _own_file(name)))
    for command in ("show", "resume", "overwrite"):
        found.append(Case(f"hidden.{command}", _hidden(command)))
    for mode in (0o400, 0o600, 0o644, 0o666, 0o755, 0o640)[:2 if bench.quick else 6]:
        for command in ("show", "resume"):
            found.append(Case(f"permissions.{mode:o}.{command}", _permissions(mode, command)))
    for mask in (0, 0o022, 0o027, 0o077):
        found.append(Case(f"umask.{mask:o}", _umask(mask)))
    for kind in ("to-folder", "dangling"):
        found.append(Case(f"out-is-a-link.{kind}", _linked_out(kind)))
    return found
