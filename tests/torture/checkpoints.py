"""checkpoint.bin: a header with a checksum, then named fields (src/storage/checkpoint.cpp)."""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from dataclasses import dataclass, replace

MAGIC = b"RAREFYCK"
HEADER = struct.Struct("<8sIIQ16s")
UNITS = {"i": 8, "r": 8, "f": 4, "t": 1}
LETTERS = {"i": "q", "r": "d", "f": "f"}


class Damaged(Exception):
    """No whole checkpoint."""


class _Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


class _Canonical(ctypes.Structure):
    _fields_ = [("digest", ctypes.c_ubyte * 16)]


def _library():
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_128bits.restype = _Hash128
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.XXH128_canonicalFromHash.argtypes = [ctypes.POINTER(_Canonical), _Hash128]
    return library


_xxhash = None


def checksum(payload):
    """As the command computes it, by the same library."""
    global _xxhash
    _xxhash = _xxhash or _library()
    canonical = _Canonical()
    _xxhash.XXH128_canonicalFromHash(ctypes.byref(canonical),
                                     _xxhash.XXH3_128bits(payload, len(payload)))
    return bytes(canonical.digest)


@dataclass(frozen=True)
class Field:
    name: bytes
    type: str
    data: bytes
    claimed: int | None = None  # a count other than that of the data

    @property
    def count(self):
        return len(self.data) // UNITS[self.type]

    def values(self):
        return list(struct.unpack(f"<{self.count}{LETTERS[self.type]}", self.data))

    def with_values(self, values):
        return replace(self, data=struct.pack(f"<{len(values)}{LETTERS[self.type]}", *values))

    def encoded(self):
        count = self.count if self.claimed is None else self.claimed
        return (bytes([len(self.name)]) + self.name + self.type.encode() +
                struct.pack("<Q", count) + self.data)


def payload_of(bytes_of_file):
    if len(bytes_of_file) < HEADER.size:
        raise Damaged(f"{len(bytes_of_file)} bytes")
    magic, _, _, length, digest = HEADER.unpack_from(bytes_of_file)
    payload = bytes_of_file[HEADER.size:]
    if magic != MAGIC or length != len(payload) or digest != checksum(payload):
        raise Damaged("the header and the payload do not fit together")
    return payload


def file_of(payload):
    return HEADER.pack(MAGIC, 1, 0, len(payload), checksum(payload)) + payload


def decode(bytes_of_file):
    payload = payload_of(bytes_of_file)
    fields, at = [], 0
    while at < len(payload):
        length = payload[at]
        name = payload[at + 1:at + 1 + length]
        kind = chr(payload[at + 1 + length])
        (count,) = struct.unpack_from("<Q", payload, at + 2 + length)
        at += 10 + length
        size = count * UNITS[kind]
        fields.append(Field(name, kind, payload[at:at + size]))
        at += size
    return fields


def encode(fields):
    return file_of(b"".join(field.encoded() for field in fields))


def without_times(bytes_of_file):
    """The fields, with the measured seconds set to 0: all that resuming must give again."""
    fields = []
    lines = 0
    for field in decode(bytes_of_file):
        if field.name == b"metrics.counts":
            lines = field.count // 5
        if field.name in (b"state.seconds", b"state.processor_seconds"):
            field = field.with_values([0.0])
        if field.name == b"metrics.values" and lines:
            values = field.values()
            each = len(values) // lines  # the last two of a line are times
            for place in (each - 2, each - 1):
                values[place::each] = [0.0] * lines
            field = field.with_values(values)
        fields.append(field)
    return fields
