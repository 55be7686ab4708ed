"""Rows as `.npz` files, written without NumPy."""

import struct
import zipfile


def npy(values, shape, kind="<f4"):
    """`kind`: of NumPy, "<f4" or "<i8"."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q", "<f8": "d"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


def write_npz(path, **arrays):
    """Each array: (values, shape), or (values, shape, kind)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", npy(*array))


class Draws:
    """A small generator, the same everywhere."""

    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) / (1 << 31)

    def normal(self):
        return sum(self.unit() for _ in range(12)) - 6

    def normals(self, count):
        return [self.normal() for _ in range(count)]
