"""Answers arrays with their first two columns; one with a row that begins with 13 in a way of its own."""
import struct
import sys
import time


def read_array(stream):
    prefix = stream.read(10)
    if not prefix:
        sys.exit(0)
    header = stream.read(struct.unpack("<H", prefix[8:])[0]).decode()
    rows, columns = eval(header)["shape"]
    values = struct.unpack(f"<{rows * columns}d", stream.read(8 * rows * columns))
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def array_bytes(rows, descr="<f8", order=False, version=b"\x01\x00", shape=None, extra=""):
    text = repr({"descr": descr, "fortran_order": order, "shape": shape or (len(rows), 2)}) + extra + "\n"
    code = "f" if descr == "<f4" else "d"
    values = b"".join(struct.pack(f"<2{code}", *row) for row in rows)
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode() + values


def bad_bytes(kind, rows):
    if kind == "text":
        return b"Traceback (most recent call last):\n"
    if kind == "shape":
        return array_bytes(rows, shape=(len(rows), 3))
    if kind == "flat":
        return array_bytes(rows, shape=(2 * len(rows),))
    if kind == "float":
        return array_bytes(rows, descr="<f4")
    if kind == "fortran":
        return array_bytes(rows, order=True)
    if kind == "version":
        return array_bytes(rows, version=b"\x02\x00")
    if kind == "header":
        return array_bytes(rows, extra="!")
    if kind == "more":
        return array_bytes(rows) + b"more"
    if kind == "cut":
        return array_bytes(rows)[:-8]
    return array_bytes([(float("nan"), 0.0) if row[0] == 13 else row for row in rows])


kind = sys.argv[1]
while True:
    rows = [tuple(row[:2]) for row in read_array(sys.stdin.buffer)]
    if kind == "slow":
        time.sleep(0.002 * len(rows))
    if any(row[0] == 13 for row in rows):
        if kind == "dies":
            sys.exit(9)
        sys.stdout.buffer.write(bad_bytes(kind, rows))
        if kind == "cut":
            sys.exit(0)
    else:
        sys.stdout.buffer.write(array_bytes(rows))
    sys.stdout.buffer.flush()
