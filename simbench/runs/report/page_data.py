"""Scripts, arrays and texts of an interactive page: data as one compressed block of letters.

The scripts are bundled by `scripts/tools/build_report_scripts.py`. The block is base64 of gzip of: the length
of a JSON document in bytes (uint32, little endian), the document, and the bytes of all arrays. An array in
the document is an object that says where its bytes are:

- signals, `{"at", "count", "low", "step"}`: one or more channels over time, each rounded to 16 bits between
  its least and greatest value. A code c means `low + c * step`, 65535 means NaN. Of each channel, the
  differences of successive codes are written (modulo 2¹⁶, zigzag), first all low bytes, then all high ones:
  smooth signals so compress to a fraction of their size.
- plain arrays, `{"at", "count", "type"}`: little-endian numbers as they are.
"""

import base64
import functools
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.runs.log_schema import LARGEST

SCRIPTS = Path(__file__).resolve().parent / "scripts"  # Sources of the scripts, as they are edited.
ASSETS = Path(__file__).resolve().parent / "bundle"  # Bundled scripts and style, as reports contain them.

_MISSING = 65535  # Code of NaN.
_TYPES = {"uint8": "<u1", "int8": "<i1", "uint16": "<u2", "uint32": "<u4", "float32": "<f4", "float64": "<f8"}

Reference = dict[str, Any]


class Packer:
    """Collects arrays for a page."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add_signals(self, values: ArrayLike) -> Reference:
        """Add signals over time, each rounded to 16 bits.

        `values` (T,) or (T, ...) array_like: values; those that are not finite, or too large to be drawn,
        become NaN. Returns description of the array in the document.
        """
        array = np.asarray(values, dtype=float)
        channels = array.reshape(len(array), -1).T
        lows, steps = [], []
        planes = []
        for channel in channels:
            codes, low, step = quantise(channel)
            lows.append(low)
            steps.append(step)
            change = np.diff(codes, prepend=np.uint16(0)).astype(np.int16).astype(np.int32)
            zigzag = ((change << 1) ^ (change >> 15)).astype(np.uint16)
            planes += [(zigzag & 255).astype(np.uint8).tobytes(), (zigzag >> 8).astype(np.uint8).tobytes()]
        return {"at": self._append(b"".join(planes)), "count": len(array), "low": lows, "step": steps}

    def add_array(self, values: ArrayLike, kind: str) -> Reference:
        """Add numbers as they are.

        `values`: numbers; several dimensions are written row by row; `kind`: `uint8`, `int8`, `uint16`,
        `uint32`, `float32` or `float64`. Returns description of the array in the document.
        """
        array = np.ascontiguousarray(np.asarray(values).astype(_TYPES[kind]))
        self._bytes += bytes(-len(self._bytes) % 8)
        return {"at": self._append(array.tobytes()), "count": array.size, "type": kind}

    def pack(self, document: dict[str, Any]) -> str:
        """Compress a document and the arrays.

        `document`: content of the page, with descriptions of arrays in it. Returns letters of base64.
        """
        text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
        # Arrays begin at a multiple of eight bytes, as typed arrays of scripts demand.
        text += b" " * (-(4 + len(text)) % 8)
        return compress(len(text).to_bytes(4, "little") + text + bytes(self._bytes))

    def _append(self, data: bytes) -> int:
        at = len(self._bytes)
        self._bytes += data
        return at


def compress(data: bytes) -> str:
    """Compress bytes for a page: the same bytes give the same letters.

    `data`: any bytes. Returns base64 of gzip.
    """
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def quantise(values: NDArray[np.float64]) -> tuple[NDArray[np.uint16], float, float]:
    """Round a signal to 16 bits between its least and greatest value.

    `values` (T,): values; those that are not finite, or too large to be drawn, get the code 65535. Returns
    `codes` (T,) of uint16; `low`, `step`: A code c means `low + c * step`.
    """
    finite = np.abs(values) <= LARGEST
    codes = np.full(len(values), _MISSING, dtype=np.uint16)
    if not finite.any():
        return codes, 0.0, 0.0
    low, high = float(values[finite].min()), float(values[finite].max())
    step = (high - low) / (_MISSING - 1)
    codes[finite] = np.rint((values[finite] - low) / step) if step > 0.0 else 0
    return codes, low, step


def sources_digest() -> str:
    """Compute the digest of the scripts' sources.

    Returns SHA-256 of their names and contents, hexadecimal.
    """
    digest = hashlib.sha256()
    for path in sorted(SCRIPTS.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def read_asset(name: str) -> str:
    """Read a file of the bundle.

    `name`: `report.js`, `report.css`, `licences.txt`, or `loader.js`, which unpacks and starts the bundled
    script; the page has no other script that runs by itself. Returns the file's text.
    """
    return (ASSETS / name).read_text(encoding="utf-8")


@functools.cache
def packed_script() -> str:
    """Compress the bundled script for a page. Returns base64 of gzip."""
    return compress(read_asset("report.js").encode())


def content_policy() -> str:
    """Write the content security policy of a report: no network, and no script but ours.

    Returns value of the meta element `Content-Security-Policy`.
    """
    digests = [hashlib.sha256(text.encode()).digest() for text in map(read_asset, ("loader.js", "report.js"))]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
