"""Plain values that the contents of a pickle become: no object of any other kind leaves the loader."""

import re
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.files.text import printable

TORCH_ADVICE = (
    "holds PyTorch tensors, which are not read; save arrays with PyTorch: parameters = torch.load(FILE, "
    "map_location='cpu') (of GVHMR its part ['smpl_params_global']), then "
    "numpy.savez('motion.npz', **parameters)"
)
"""What to do with a file that PyTorch wrote."""
MAX_DIMENSIONS = 32
MAX_NAME = 100
MAX_EMPTY_TEXTS = 1_000_000
_SIMPLE_TYPE = re.compile(r"\?|b1|[iuf][1248]|f16|c8|c16|c32|[SUa]\d{1,6}")


def plain_name(name: object) -> str:
    """Write a name of a file in one short line.

    `name`: name, as bytes, text or number. Returns the name without control characters and line feeds, at
    most 100 characters.
    """
    text = name.decode("latin1") if isinstance(name, bytes) else str(name)
    return " ".join(printable(text[:MAX_NAME]).split())[:MAX_NAME]


class PickleProblem(Exception):
    """What is wrong with a pickle, as text."""


class SparseMatrix(NamedTuple):
    """A sparse matrix in compressed columns or rows, as data."""

    by: str  # `csc` for compressed columns, `csr` for compressed rows.
    shape: tuple[int, int]  # Number of rows and columns.
    # `data`, `indices`, `indptr`: entries, their rows (`csc`) or columns (`csr`), and the first entry of each
    # column or row.
    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]

    def to_dense(self) -> NDArray[np.float64]:
        """Expand the matrix. Returns (rows, columns): all entries."""
        rows, columns = self.shape
        major, minor = (columns, rows) if self.by == "csc" else (rows, columns)
        counts = np.diff(self.indptr)
        consistent = (
            self.indptr.ndim == self.indices.ndim == self.data.ndim == 1
            and len(self.indptr) == major + 1
            and self.indptr.dtype.kind in "iu"
            and self.indices.dtype.kind in "iu"
            and self.data.dtype.kind in "iuf"
            and self.indptr[0] == 0
            and self.indptr[-1] == len(self.indices) == len(self.data)
            and bool((counts >= 0).all())
            and (len(self.indices) == 0 or 0 <= self.indices.min() <= self.indices.max() < minor)
        )
        if not consistent:
            raise ValueError("the arrays of a sparse matrix contradict each other")
        dense = np.zeros((major, minor))
        np.add.at(dense, (np.repeat(np.arange(major), counts), self.indices), self.data)
        return dense.T if self.by == "csc" else dense


class ElementType:
    """The element type of an array, of which a pickle states the byte order afterwards.

    `code`: NumPy's code, `f8` or `U4`; `O` for objects. Raises PickleProblem not the code of plain numbers,
    texts or objects.
    """

    def __init__(self, code: object) -> None:
        self.objects = code in ("O", "O4", "O8", "|O")
        text = str(code).lstrip("<>=|") if isinstance(code, str) else ""
        if not self.objects and not _SIMPLE_TYPE.fullmatch(text):
            raise PickleProblem(f"arrays of type {str(code)[:40]!r} are not read; allowed: numbers and texts")
        self.dtype = np.dtype(object) if self.objects else np.dtype(text)

    def set_state(self, state: object) -> None:
        """Take the byte order from the state of a `numpy.dtype`; refuse records and subarrays.

        `state`: state in the pickle.
        """
        if not isinstance(state, tuple) or len(state) < 5 or state[1] not in ("<", ">", "=", "|"):
            raise PickleProblem("the element type of an array is damaged")
        if any(part not in (None, ()) for part in state[2:5]):
            raise PickleProblem("arrays of records are not read; allowed: numbers and texts")
        if not self.objects and state[1] in "<>":
            self.dtype = self.dtype.newbyteorder(state[1])


class ArrayHolder:
    """An array whose contents a pickle states after it was made; `value` is it, or a list of objects."""

    def __init__(self) -> None:
        self.value: Any = None

    def fill(self, shape: Any, element: object, fortran: object, data: object) -> None:
        """Set the contents: of numbers from bytes, of objects from a list.

        `shape`: must be a tuple of dimensions; `element`: must be an `ElementType`; `fortran`: whether the
        first index varies fastest; `data`: must be bytes of just the right number, or a list for an array of
        objects.
        """
        if not isinstance(element, ElementType):
            raise PickleProblem("an array has no element type")
        size = checked_size(shape)
        if element.objects:
            if not isinstance(data, list) or len(data) != size:
                raise PickleProblem("an array of objects lacks some of them")
            self.value = data[0] if shape == () else data
            return
        # Elements of no bytes, empty texts, could be any number.
        if not element.dtype.itemsize and size > MAX_EMPTY_TEXTS:
            raise PickleProblem("an array of too many empty texts")
        if not isinstance(data, bytes | bytearray) or len(data) != size * element.dtype.itemsize:
            raise PickleProblem("an array has another number of bytes than its shape says")
        flat = np.frombuffer(data, element.dtype) if data else np.empty(size, element.dtype)
        if not has_valid_text(flat):
            raise PickleProblem("an array of texts holds numbers that are no characters")
        self.value = flat.reshape(shape, order="F" if fortran else "C")


def has_valid_text(array: NDArray[Any]) -> bool:
    """Tell whether all characters of an array of texts exist; NumPy fails on others only when they are used.

    `array`: array of texts, contiguous; of any other type it is right. Returns whether all characters are at
    most U+10FFFF.
    """
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    codes = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return int(codes.max()) <= sys.maxunicode


def checked_size(shape: Any) -> int:
    """Compute the number of elements of an array of a shape that a file states.

    `shape`: shape; anything but a tuple of whole numbers is refused. Returns their product.
    """
    if not isinstance(shape, tuple) or len(shape) > MAX_DIMENSIONS:
        raise PickleProblem("the shape of an array is damaged")
    size = 1
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**40:
            raise PickleProblem("the shape of an array is damaged")
        size *= length
    return size
