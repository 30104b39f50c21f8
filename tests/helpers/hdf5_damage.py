"""Damage to HDF5 files: bytes as disks and networks change them, and structures as programs write them."""

import hashlib
import os

import h5py
import numpy as np

from simbench.files.netcdf_file import SEAL


def seal(content):
    """Append its checksum to the bytes of a file that another program wrote."""
    return content + SEAL + hashlib.sha256(content).hexdigest().encode()


def damage_bytes(content, rng):
    """Return the bytes cut, overwritten, flipped, exchanged or extended, and which of these."""
    changed, size = bytearray(content), len(content)
    at = int(rng.integers(size))
    length = int(rng.choice([1, 8, 64, 512, 4096]))
    kind = str(rng.choice(["cut", "zeros", "ones", "flips", "header", "exchange", "insert"]))
    if kind == "cut":
        del changed[at:]
    elif kind in ("zeros", "ones"):
        changed[at : at + length] = (b"\x00" if kind == "zeros" else b"\xff") * len(changed[at : at + length])
    elif kind in ("flips", "header"):
        reach = size if kind == "flips" else min(size, 20_000)
        for _ in range(int(rng.integers(1, 17))):
            changed[int(rng.integers(reach))] ^= 1 << int(rng.integers(8))
    elif kind == "exchange":
        first, second = sorted(int(k) * length for k in rng.integers(max(1, size // length), size=2))
        if first != second:
            one, other = changed[first : first + length], changed[second : second + length]
            changed[first : first + length], changed[second : second + length] = other, one
    else:
        changed[at:at] = rng.bytes(int(rng.integers(1, 100)))
    return kind, bytes(changed)


def _replace(file, name, **made):
    del file[name]
    return file.create_dataset(name, **made)


def _external_storage(file, name, elsewhere):
    _replace(file, name, shape=(16,), dtype="u1", external=[(os.fspath(elsewhere), 0, 16)])


def _virtual(file, name, elsewhere):
    layout = h5py.VirtualLayout((2,), dtype="f8")
    layout[:] = h5py.VirtualSource(os.fspath(elsewhere), "secret", shape=(2,))
    del file[name]
    file.create_virtual_dataset(name, layout)


def _link(file, name, link):
    del file[name]
    file[name] = link


STRUCTURES = {
    "external link": lambda file, name, elsewhere: _link(file, name, h5py.ExternalLink(elsewhere, "/secret")),
    "soft link to nothing": lambda file, name, elsewhere: _link(file, name, h5py.SoftLink("/nowhere")),
    "soft link to itself": lambda file, name, elsewhere: _link(file, name, h5py.SoftLink(f"/{name}")),
    "external storage": _external_storage,
    "virtual dataset": _virtual,
    "decompression bomb": lambda file, name, elsewhere: _replace(
        file, name, shape=(10**10,), dtype="f8", chunks=(10**6,), compression="gzip"
    ),
    "enormous chunk": lambda file, name, elsewhere: _replace(
        file, name, shape=(4,), maxshape=(None,), dtype="f8", chunks=(2**28,), compression="gzip"
    ),
    "millions of texts": lambda file, name, elsewhere: _replace(
        file, name, shape=(10**7,), dtype=h5py.string_dtype(), chunks=(1000,), compression="gzip"
    ),
    "plugin filter": lambda file, name, elsewhere: _replace(
        file, name, shape=(4,), dtype="f8", chunks=(4,), compression="lzf"
    ),
    "compound": lambda file, name, elsewhere: _replace(
        file, name, shape=(4,), dtype=[("a", "f8"), ("b", "S3")]
    ),
    "opaque": lambda file, name, elsewhere: _replace(file, name, shape=(4,), dtype="V7"),
    "references": lambda file, name, elsewhere: _replace(file, name, shape=(4,), dtype=h5py.ref_dtype),
    "arrays of any length": lambda file, name, elsewhere: _replace(
        file, name, shape=(4,), dtype=h5py.vlen_dtype("f8")
    ),
    "text that is not UTF-8": lambda file, name, elsewhere: _replace(
        file, name, data=np.array([b"\xff\xfe\x80"] * 4, dtype=h5py.string_dtype())
    ),
    "a group": lambda file, name, elsewhere: _replace_by_group(file, name),
    "a group in itself": lambda file, name, elsewhere: _link(file, name, file["/"]),
}
"""Changes of the structure: functions (open file, name of a variable, path of another HDF5 file)."""


def _replace_by_group(file, name):
    del file[name]
    file.create_group(name)
