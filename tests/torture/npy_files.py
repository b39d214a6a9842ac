"""Arrays in files as nobody should write them."""

import io
import struct
import zipfile
import zlib

import numpy


def npy(header, data=b"", version=(1, 0), length=None):
    """A .npy file with this header, whatever it says."""
    header = header if isinstance(header, bytes) else header.encode()
    size = len(header) if length is None else length
    packed = struct.pack("<H", size & 0xFFFF) if version[0] == 1 else struct.pack("<I", size)
    return b"\x93NUMPY" + bytes(version) + packed + header + data


def described(descr="'<f8'", order="False", shape="(2, 8)", more=""):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n"


def whole(rows=2, columns=8, dtype="<f8", order="C", value=0.5):
    out = io.BytesIO()
    numpy.save(out, numpy.full((rows, columns), value, dtype=dtype, order=order))
    return out.getvalue()


def crafted_npy():
    """name -> bytes"""
    data = bytes(2 * 8 * 8)
    files = {
        "empty": b"",
        "magic-alone": b"\x93NUMPY",
        "no-header": npy(""),
        "shape-huge": npy(described(shape="(1000000000000, 8)"), data),
        "shape-overflow": npy(described(shape="(4294967296, 4294967296)"), data),
        "shape-overflow-to-little": npy(described(shape="(2305843009213693954, 8)"), data),
        "shape-negative": npy(described(shape="(-1, 8)"), data),
        "shape-beyond-int64": npy(described(shape="(99999999999999999999999, 8)"), data),
        "shape-no-rows": npy(described(shape="(0, 8)")),
        "shape-many-empty-rows": npy(described(shape="(9000000000000000000, 0)")),
        "shape-none": npy(described(shape="()"), bytes(8)),
        "shape-many": npy(described(shape="(" + "1, " * 5000 + ")"), bytes(8)),
        "shape-text": npy(described(shape="'x'"), data),
        "shape-real": npy(described(shape="(2.0, 8)"), data),
        "type-object": npy(described("'|O'"), data),
        "type-long-text": npy(described("'<U1000000000'"), data),
        "type-complex": npy(described("'<c16'"), data),
        "type-record": npy(described("[('x', '<f8')]"), data),
        "type-big-endian": npy(described("'>f8'"), data),
        "type-unknown": npy(described("'<\x1b[31mf8'"), data),
        "order-wrong": npy(described(order="Maybe"), data),
        "key-twice": npy(described(more="'shape': (9, 9), "), data),
        "key-unknown": npy(described(more="'\x1b]0;x\x07': 1, "), data),
        "deep": npy("(" * 60000, data),
        "deep-list": npy("{'descr': " + "[" * 30000, data),
        "header-longer-than-file": npy(described(), data, length=60000),
        "header-4-gigabytes": npy(described(), data, version=(2, 0), length=0xFFFFFFF0),
        "version-9": npy(described(), data, version=(9, 9)),
        "cut-short": npy(described(), data[:-3]),
        "too-long": npy(described(), data + b"x"),
        "not-finite": whole(value=float("nan")),
        "infinite": whole(value=float("inf")),
        "large": whole(value=1e308),
        "binary-header": npy(bytes(range(256)) * 10, data),
        "no-newline": npy(described().rstrip("\n"), data),
    }
    for dtype in ("<i8", "<f4", "|b1", "<i1", "<u8"):
        files[f"dtype-{dtype.strip('<|')}"] = whole(dtype=dtype, value=1)
    return files


def _zip(entries, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def _bomb(megabytes, name="solutions.npy"):
    """So much of nothing, packed a thousandfold, without ever being there unpacked."""
    rows = megabytes * (1 << 20) // 64
    head = npy(described(shape=f"({rows}, 8)"))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = bytes(1 << 20)
    packed, crc = [packer.compress(head)], zlib.crc32(head)
    for _ in range(megabytes):
        packed.append(packer.compress(block))
        crc = zlib.crc32(block, crc)
    packed = b"".join([*packed, packer.flush()])
    size = len(head) + (megabytes << 20)
    name = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(packed), size, len(name), 0)
    local = b"PK\x03\x04" + common + name
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack(
        "<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central),
                                      len(local) + len(packed), 0)
    return local + packed + central + end


def crafted_npz(small):
    """name -> bytes. What takes long to make is left out where `small`."""
    good = whole()
    whole_zip = _zip([("solutions.npy", good)])
    central = whole_zip.index(b"PK\x01\x02")
    lying = bytearray(whole_zip)
    lying[central + 20:central + 28] = struct.pack("<II", 0xFFFFFFF0, 0xFFFFFFF0)
    encrypted = bytearray(whole_zip)
    encrypted[central + 8] |= 1
    encrypted[6] |= 1
    wrong = bytearray(whole_zip)
    wrong[whole_zip.index(good) + len(good) - 1] ^= 1
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = _zip([("solutions.npy", good), ("solutions.npy", good)])
    files = {
        "no-archive": b"PK\x05\x06" + bytes(18),
        "no-solutions": _zip([("others.npy", good)]),
        "escape-in-name": _zip([("\x1b[31m.npy", good), ("solutions.npy", good)]),
        "path-in-name": _zip([("../../solutions.npy", good), ("solutions.npy", good)]),
        "other-file": _zip([("readme.txt", b"x"), ("solutions.npy", good)]),
        "empty-entry": _zip([("solutions.npy", b"")]),
        "twice": twice,
        "sizes-lie": bytes(lying),
        "encrypted": bytes(encrypted),
        "crc-wrong": bytes(wrong),
        "cut-short": whole_zip[:-30],
        "junk-behind": whole_zip + bytes(1000),
        "junk-before": bytes(1000) + whole_zip,
        "bomb-300MB": _bomb(300 if not small else 30),
        "many": _zip([(f"a{i}.npy", good) for i in range(200 if small else 20000)]),
    }
    if not small:
        files["bomb-2GB"] = _bomb(2000)
        files["bomb-elsewhere"] = _bomb(2000, "unused.npy")
    for name, data in crafted_npy().items():
        files[f"npy-{name}"] = _zip([("solutions.npy", data)])
    return files
