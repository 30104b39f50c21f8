"""The loader of files of named arrays that users bring, within a bounded memory: NumPy, pickle, PyTorch.

Only data is loaded from them.
"""

import io
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Collection, Mapping
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from simbench.errors import SimbenchError
from simbench.files.arrays.data_pickle import (
    MAX_MEMORY,
    MemoryBudget,
    has_valid_text,
    plain_name,
    read_data_pickle,
)
from simbench.files.arrays.torch_archive import read_torch_archive
from simbench.files.text import require_regular_file
from simbench.system.limits import MOST_NUMBERS, MOST_TEXTS, require_at_most

UNNAMED = ""  # Key of the contents of a file that holds one array or one list without a name.
MAX_MEMBERS = 10_000
_CHUNK = 2**20
_NPY_MAGIC, _ZIP_MAGIC = b"\x93NUMPY", b"PK\x03\x04"
# First byte of what zlib wrote, as joblib does when asked to compress.
_ZLIB_MAGIC = b"\x78"


def read_array_file(
    path: Path, error: type[SimbenchError], names: Collection[str] | None = None
) -> Mapping[str, Any]:
    """Read the named arrays of a file, whose format is told by its first bytes.

    Nothing that the file holds is run, and at most 1.2 GB of memory are used. `path`: file that NumPy,
    pickle, joblib or PyTorch wrote; `error`: class of the error that is raised; `names`: names of the arrays
    of an `.npz` file that are read, as far as they are there; None reads all. Returns contents by name: NumPy
    arrays of numbers or texts, and what `read_data_pickle` returns. Objects in arrays without dimensions are
    themselves; other arrays of objects are lists. A file that holds one array or one list has it under the
    key `UNNAMED`. Raises SimbenchError of the given class, in one line that begins with the file: unreadable,
    damaged, too large, or it holds anything but data.
    """
    require_regular_file(path, error)
    budget = MemoryBudget(str(path), error)
    try:
        with open(path, "rb") as stream:
            magic = stream.read(len(_NPY_MAGIC))
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            if not magic:
                raise error(f"{path}: the file is empty")
            if magic.startswith(_ZIP_MAGIC):
                return _read_archive(stream, budget, names)
            content: Any
            if magic == _NPY_MAGIC:
                content = _read_array(stream, size, budget)
            elif magic.startswith(_ZLIB_MAGIC):
                inflated = io.BytesIO()
                machine = zlib.decompressobj()
                while not machine.eof:
                    if not (chunk := machine.unconsumed_tail or stream.read(_CHUNK)):
                        raise zlib.error
                    budget.take(inflated.write(machine.decompress(chunk, _CHUNK)))
                # They become the arrays, which are counted again.
                budget.left, size = MAX_MEMORY, inflated.tell()
                inflated.seek(0)
                content = read_data_pickle(inflated, size, budget)
            else:
                content = read_data_pickle(stream, size, budget)
    except zlib.error:
        raise error(f"{path}: the compressed data are damaged") from None
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror or reason}") from None
    return content if isinstance(content, dict) else {UNNAMED: content}


def _read_archive(stream: BinaryIO, budget: MemoryBudget, names: Collection[str] | None) -> dict[str, Any]:
    """Read the arrays of a zip archive."""
    found: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise budget.error(f"{budget.name}: more than {MAX_MEMBERS} arrays")
            pickles = [m.filename for m in members if m.filename.rpartition("/")[2] == "data.pkl"]
            if pickles:
                content = read_torch_archive(archive, pickles[0], budget)
                return content if isinstance(content, dict) else {UNNAMED: content}
            for member in members:
                name, dot, suffix = plain_name(member.filename).rpartition(".")
                if not dot or suffix != "npy" or (names is not None and name not in names):
                    continue
                methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                if member.flag_bits & 1 or member.compress_type not in methods:
                    raise budget.error(
                        f"{budget.name}, {name}: encrypted or compressed by another method than deflate"
                    )
                with archive.open(member) as part:
                    inner = MemoryBudget(f"{budget.name}, {name}", budget.error, budget.left)
                    found[name] = _read_array(part, member.file_size, inner)
                    budget.left = inner.left
    except (*(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error),) as reason:
        detail = " ".join(str(reason).split())[:80]
        raise budget.error(f"{budget.name}: a damaged archive of arrays ({detail})") from None
    if not found and names is None:
        raise budget.error(f"{budget.name}: an archive without arrays; one of NumPy (.npz) holds .npy files")
    return found


def _read_array(stream: IO[bytes], size: int, budget: MemoryBudget) -> Any:
    """Read one array in NumPy's format, of which `size` bytes are there at most."""
    header = None
    try:
        with warnings.catch_warnings():
            # Python 2 wrote headers that NumPy reads with a warning.
            warnings.simplefilter("ignore")
            version = np.lib.format.read_magic(stream)
            if version == (1, 0):
                header = np.lib.format.read_array_header_1_0(stream)
            elif version == (2, 0):
                header = np.lib.format.read_array_header_2_0(stream)
    except (
        *(ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError),
        tokenize.TokenError,
    ):
        pass
    if header is None:
        raise budget.error(f"{budget.name}: the header of an array is damaged, or of an unknown version")
    shape, fortran, dtype = header
    if dtype.hasobject and dtype.kind == "O":
        # The pickle of an array without dimensions holds that array, which becomes its only element.
        return read_data_pickle(stream, size, budget)
    if dtype.kind not in "biufcSU" or dtype.subdtype is not None:
        raise budget.error(f"{budget.name}: an array of {str(dtype)[:60]}; allowed: numbers and texts")
    count = prod(shape) * dtype.itemsize
    too_short = f"{budget.name}: the file ends before the array of shape {str(shape)[:60]} does"
    if not 0 <= count <= size or len(shape) > 32 or any(length < 0 for length in shape):
        raise budget.error(too_short)
    texts = dtype.kind in "SU"
    most, what = (MOST_TEXTS, "texts") if texts else (MOST_NUMBERS, "numbers")
    # An array without columns has as many rows as it says.
    require_at_most(prod(length or 1 for length in shape), most, f"{budget.name}: {what}", budget.error)
    budget.take(count if texts else 8 * prod(shape))
    data = np.empty(count, dtype=np.uint8)
    filled = 0
    while filled < count:
        part = stream.read(min(_CHUNK, count - filled))
        if not part:
            raise budget.error(too_short)
        data[filled : filled + len(part)] = np.frombuffer(part, dtype=np.uint8)
        filled += len(part)
    array = np.ndarray(shape, dtype, data, order="F" if fortran else "C")
    if not has_valid_text(array):
        raise budget.error(f"{budget.name}: an array of texts holds numbers that are no characters")
    return array
