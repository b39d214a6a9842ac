"""A model of a disk: what may be on it after a power cut, by what was written and synced before.

It promises no more than POSIX does. Data of a file are safe once the file was synced; names in a
folder once the folder was. Until then each change of a name may be there or not, and of data
that were not synced nothing, all, a part, or zeros. One rename is one change: both names, or none.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class File:
    safe: bytes = b""
    now: bytes = b""


@dataclass
class Folder:
    safe: dict = field(default_factory=dict)  # name -> number of a file or folder
    now: dict = field(default_factory=dict)
    pending: list = field(default_factory=list)  # changes since the last sync, each a list of
    # (name, number or None)


class Disk:
    def __init__(self, root):
        """As it is below `root`, all of it synced."""
        self.root = root
        self.things = {}
        self._numbers = {}  # the system's inode -> our number
        self.top = self._scan(root)

    def _new(self, thing, inode):
        number = len(self.things)
        self.things[number] = thing
        self._numbers[inode] = number
        return number

    def _scan(self, path):
        if not path.is_dir():
            data = path.read_bytes()
            return self._new(File(data, data), path.stat().st_ino)
        number = self._new(Folder(), path.stat().st_ino)
        names = {entry.name: self._scan(entry) for entry in sorted(path.iterdir())}
        self.things[number] = Folder(dict(names), dict(names))
        return number

    def _folder_of(self, path):
        """The folder a path lies in, and its name there."""
        parts = Path(path).relative_to(self.root).parts
        number = self.top
        for part in parts[:-1]:
            number = self.things[number].now[part]
        return self.things[number], parts[-1]

    def _change(self, folder, *changes):
        folder.pending.append(list(changes))
        for name, number in changes:
            if number is None:
                folder.now.pop(name, None)
            else:
                folder.now[name] = number

    def apply(self, call):
        """One call, as fault.c wrote it down; true where it changed what a cut may leave."""
        if call.result < 0:
            return False
        if call.kind == "open" and call.first & os.O_CREAT:
            folder, name = self._folder_of(call.path)
            if name in folder.now:
                return False
            self._change(folder, (name, self._new(File(), call.inode)))
        elif call.kind == "mkdir":
            folder, name = self._folder_of(call.path)
            self._change(folder, (name, self._new(Folder(), call.inode)))
        elif call.kind in ("write", "ftruncate"):
            file = self.things[self._numbers[call.inode]]
            data = bytearray(file.now)
            if call.kind == "write":
                data[len(data):call.first] = bytes(max(0, call.first - len(data)))
                data[call.first:call.first + len(call.data)] = call.data
            else:
                data = data[:call.first].ljust(call.first, b"\0")
            file.now = bytes(data)
        elif call.kind == "fsync":
            thing = self.things[self._numbers[call.inode]]
            thing.safe = thing.now if isinstance(thing, File) else dict(thing.now)
            if isinstance(thing, Folder):
                thing.pending = []
        elif call.kind in ("unlink", "rmdir"):
            folder, name = self._folder_of(call.path)
            self._change(folder, (name, None))
        elif call.kind in ("rename", "link"):
            folder, name = self._folder_of(call.path)
            other, new_name = self._folder_of(call.other)
            number = folder.now[name]
            gone = [(name, None)] if call.kind == "rename" else []
            if folder is other:
                self._change(folder, *gone, (new_name, number))
            else:  # two folders: two changes
                self._change(other, (new_name, number))
                if gone:
                    self._change(folder, *gone)
        else:
            return False
        return True

    # ---- what a cut leaves ---------------------------------------------------------------------

    def states(self, random, samples):
        """(order, tree) for what may be there after a cut now; a tree is {path: bytes, or None for a
        folder}. Changes of names may come to the disk `in-order` or, where a file system is free
        to, in `any-order`."""
        most = max((len(t.pending) for t in self.things.values() if isinstance(t, Folder)),
                   default=0)
        names = [("in-order", lambda pending, n=n: pending[:n]) for n in range(most + 1)]
        names.append(("any-order", lambda pending: pending[-1:]))
        names.append(("any-order", lambda pending: pending[1:]))
        for _ in range(samples):
            names.append(("any-order",
                          lambda pending: [one for one in pending if random.random() < 0.5]))
        data = [lambda f: f.now, lambda f: f.safe, lambda f: f.now[:len(f.now) // 2],
                lambda f: f.safe[:len(f.now)].ljust(len(f.now), b"\0"),
                lambda f: random.choice([f.now, f.safe, f.now[:1], f.now[:-1]])]
        for order, choose in names:
            for left in data:
                yield order, self._tree(choose, left)

    def _tree(self, choose, left):
        tree = {}

        def walk(number, path):
            thing = self.things[number]
            if isinstance(thing, File):
                tree[path] = thing.now if thing.now == thing.safe else left(thing)
                return
            tree[path] = None
            names = dict(thing.safe)
            for change in choose(thing.pending):
                for name, what in change:
                    if what is None:
                        names.pop(name, None)
                    else:
                        names[name] = what
            for name, what in names.items():
                walk(what, path + "/" + name)

        walk(self.top, "")
        return tree


def restore(tree, place):
    """Makes that tree below `place`."""
    for path, data in sorted(tree.items()):
        target = Path(str(place) + path)
        if data is None:
            target.mkdir(exist_ok=True, parents=True)
        else:
            target.write_bytes(data)
