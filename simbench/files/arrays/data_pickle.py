"""A reader of pickles that users bring, which makes data and runs nothing that they name.

Python's own unpickler in C allocates as many places as an index in the file says, and NumPy's `dtype` and
`ndarray` take flags from a file that make it follow numbers as pointers. So this one is the unpickler in
Python, reduced to the instructions that data need, and every name in a file leads to a replacement below that
makes data itself; no name is looked up. Numbers, texts, lists, tuples, dicts, NumPy arrays (also as joblib
writes them) and SciPy's sparse matrices, as their arrays, are read.
"""

import pickle
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from simbench.errors import SimbenchError
from simbench.files.text import printable
from simbench.system.limits import MOST_NUMBERS, MOST_TEXTS, require_at_most

# Bytes that the arrays and texts of one file may take, each number as a float64.
MAX_MEMORY = 8 * MOST_NUMBERS
MAX_DEPTH = 40  # Levels of nesting.
# Each makes or moves one value: this bounds time, and the memory of many small values.
MAX_INSTRUCTIONS = 1_000_000
MAX_NAME = 100
_ENTRY_BYTES = 100  # Memory of one entry of a dict.
# What to do with tensors outside of an archive that `torch.save` wrote.
TORCH_ADVICE = (
    "holds PyTorch tensors in a pickle, which are not read; with PyTorch, torch.save(CONTENT, 'motion.pt') "
    "writes them as an archive, which is read (CONTENT is what pickle, joblib or an older torch.load gives)"
)
# The number that begins what PyTorch wrote before 1.6.
_OLD_TORCH = 0x1950A86A20F9469CFC6C
_CHUMPY_ADVICE = (
    "holds chumpy arrays, which only chumpy reads; use the .npz file of the model, or convert it: "
    "numpy.savez('model.npz', **{name: numpy.array(value) for name, value in model.items()})"
)
_SIMPLE_TYPE = re.compile(r"\?|b1|[iuf][1248]|f16|c8|c16|c32|[SUa]\d{1,6}")


class PickleProblem(Exception):
    """What is wrong with a pickle, as text."""


@dataclass
class MemoryBudget:
    """Counts the bytes that the contents of a file take, and refuses more than the limit."""

    name: str  # Name of the file in messages.
    error: type[SimbenchError]  # Class of the error that is raised.
    left: int = MAX_MEMORY  # Bytes that may still be taken.

    def take(self, count: int) -> None:
        """Count bytes before they are allocated.

        `count`: number of bytes. Raises SimbenchError of the given class, if the limit is passed.
        """
        self.left -= count
        if self.left < 0:
            allowed = f"{MAX_MEMORY / 1e6:g} MB, 8 bytes for each number"
            raise self.error(f"{self.name}: its arrays take too much memory; allowed: {allowed}")


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
        form = sparse.csc_array if self.by == "csc" else sparse.csr_array
        try:
            parts = (self.data.astype(np.float64), self.indices, self.indptr)
            matrix = form(parts, shape=self.shape)
            # Without the full check SciPy would write beyond the matrix.
            matrix.check_format(full_check=True)
        except (ValueError, TypeError):
            raise ValueError("the arrays of a sparse matrix contradict each other") from None
        return np.asarray(matrix.toarray())


class ElementType:
    """Element type of an array by NumPy's code, `f8` or `U4`; a pickle states the byte order afterwards."""

    def __init__(self, code: object, *_: object) -> None:
        self.objects = code in ("O", "O4", "O8", "|O")
        text = str(code).lstrip("<>=|") if isinstance(code, str) else ""
        if not self.objects and not _SIMPLE_TYPE.fullmatch(text):
            raise PickleProblem(f"arrays of type {str(code)[:40]!r} are not read; allowed: numbers and texts")
        self.dtype = np.dtype(object) if self.objects else np.dtype(text)

    def set_state(self, state: Any) -> None:
        """Take the byte order from the state of a `numpy.dtype`; refuse records and subarrays."""
        if not isinstance(state, tuple) or len(state) < 5 or state[1] not in ("<", ">", "=", "|"):
            raise PickleProblem("the element type of an array is damaged")
        if any(part not in (None, ()) for part in state[2:5]):
            raise PickleProblem("arrays of records are not read; allowed: numbers and texts")
        if not self.objects and state[1] in "<>":
            self.dtype = self.dtype.newbyteorder(state[1])


class _Holder:
    """Something whose contents a pickle states after it was made; `value` is what they describe."""

    value: Any = None

    def set_state(self, state: Any) -> None:
        """Take the contents from the state in a pickle."""
        raise PickleProblem("a damaged pickle: a state of what has none")


class _ArrayHolder(_Holder):
    """An array, or a list of objects for an array of objects; made of any arguments, as `_reconstruct` is."""

    def __init__(self, *_: object) -> None:
        pass

    def set_state(self, state: Any) -> None:
        """Set the contents: shape, element type, whether the first index varies fastest, and the elements.

        These are bytes of just the right number, or a list for an array of objects.
        """
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise PickleProblem("a damaged pickle: a state of what has none")
        shape, element, fortran, data = state[-4:]
        if not isinstance(element, ElementType):
            raise PickleProblem("an array has no element type")
        size = checked_size(shape)
        if element.objects:
            if not isinstance(data, list) or len(data) != size:
                raise PickleProblem("an array of objects lacks some of them")
            self.value = data[0] if shape == () else data
            return
        # Elements of no bytes, empty texts, could be any number.
        if element.dtype.kind in "SU" and size > MOST_TEXTS:
            raise PickleProblem(f"an array of {size} texts; allowed: {MOST_TEXTS}")
        # Python 2 wrote bytes as text.
        data = data.encode("latin1") if isinstance(data, str) else data
        if not isinstance(data, bytes) or len(data) != size * element.dtype.itemsize:
            raise PickleProblem("an array has another number of bytes than its shape says")
        flat = np.frombuffer(data, element.dtype) if data else np.empty(size, element.dtype)
        if not has_valid_text(flat):
            raise PickleProblem("an array of texts holds numbers that are no characters")
        self.value = flat.reshape(shape, order="F" if fortran else "C")


class _ColumnsHolder(_Holder):
    """A sparse matrix in compressed columns."""

    by = "csc"

    def set_state(self, state: Any) -> None:
        """Set the contents from the state of SciPy's matrix."""
        shape = state.get("_shape", state.get("shape"))
        arrays = [state.get(name) for name in ("data", "indices", "indptr")]
        arrays = [part.value if isinstance(part, _Holder) else part for part in arrays]
        if checked_size(shape) < 0 or len(shape) != 2 or not all(isinstance(a, np.ndarray) for a in arrays):
            raise PickleProblem("a sparse matrix is damaged")
        self.value = SparseMatrix(self.by, shape, *arrays)


class _RowsHolder(_ColumnsHolder):
    """A sparse matrix in compressed rows."""

    by = "csr"


class _JoblibHolder(_Holder):
    """An array whose bytes joblib wrote after its description."""


def plain_name(name: object) -> str:
    """Write a name of a file in one short line.

    `name`: name, as bytes, text or number. Returns the name without control characters and line feeds, at
    most 100 characters.
    """
    text = name.decode("latin1") if isinstance(name, bytes) else str(name)
    return " ".join(printable(text[:MAX_NAME]).split())[:MAX_NAME]


def has_valid_text(array: NDArray[Any]) -> bool:
    """Tell whether all characters of an array of texts exist; NumPy fails on others only when they are used.

    `array`: array of texts, contiguous; of any other type it is right. Returns whether all characters are at
    most U+10FFFF.
    """
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    codes = array.ravel(order="K").view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return int(codes.max()) <= sys.maxunicode


def checked_size(shape: Any) -> int:
    """Compute the number of elements of an array of a shape that a file states."""
    if not isinstance(shape, tuple) or any(type(length) is not int or length < 0 for length in shape):
        raise PickleProblem("the shape of an array is damaged")
    # An array without columns has as many rows as it says.
    if prod(length or 1 for length in shape) > MOST_NUMBERS:
        raise PickleProblem(f"an array of shape {str(shape)[:60]}; allowed: {MOST_NUMBERS} numbers")
    return prod(shape)


class _BoundedStream:
    """The bytes of a pickle: none are allocated that are not there, and the budget counts them."""

    def __init__(self, stream: IO[bytes], left: int, budget: MemoryBudget) -> None:
        self.stream, self.left, self.budget = stream, left, budget

    def read(self, count: int) -> bytes:
        """Read just so many bytes. `count`: number of bytes."""
        if not 0 <= count <= self.left:
            raise PickleProblem("a damaged pickle: it ends too early")
        self.left -= count
        if count > 1000:
            self.budget.take(count)
        data = self.stream.read(count)
        if len(data) != count:
            raise PickleProblem("a damaged pickle: it ends too early")
        return data

    def readline(self) -> bytes:
        """Read a line of the oldest, textual protocol, with its end."""
        data = self.stream.readline(self.left + 1)
        self.left -= len(data)
        if not data.endswith(b"\n"):
            raise PickleProblem("a damaged pickle: a line does not end")
        if len(data) > 1000:
            self.budget.take(len(data))
        return data


class _Steps(dict[int, Callable[[Any], None]]):
    """What the unpickler does for each instruction that data need, and how many may still follow."""

    left = MAX_INSTRUCTIONS

    def __getitem__(self, code: int) -> Callable[[Any], None]:
        self.left -= 1
        if self.left < 0:
            raise PickleProblem(f"more than {MAX_INSTRUCTIONS} values; save the data as arrays")
        if code not in self:
            raise PickleProblem("not a pickle of arrays, or a damaged one")
        return super().__getitem__(code)


class DataUnpickler(pickle._Unpickler):
    """Unpickler for data alone; `find_class` gives nothing but the replacements of this module."""

    # Of the unpickler in Python; the types of the standard library do not name them.
    stack: list[Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]
    read: Callable[[int], bytes]

    def __init__(self, source: _BoundedStream, steps: _Steps, inner: bool = False) -> None:
        super().__init__(source, encoding="latin1")
        self.source, self.steps, self.inner = source, steps, inner
        # Counted for each file, and so not an attribute of the class.
        self.__dict__["dispatch"] = steps

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes the data that a name stands for; refuse every other name, and say what to do."""
        known = _REPLACEMENTS.get(name) if _MODULES.fullmatch(module) else None
        if known is not None:
            return getattr(self, known) if isinstance(known, str) else known
        package = module.partition(".")[0]
        advice = {"torch": TORCH_ADVICE, "chumpy": _CHUMPY_ADVICE}.get(package)
        raise PickleProblem(
            advice
            or f"a pickle that names {plain_name(module)}.{plain_name(name)} is not read; allowed: arrays, "
            "numbers, texts, lists and dicts"
        )

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to what is outside of the pickle, which PyTorch writes."""
        raise PickleProblem(TORCH_ADVICE)

    def load_frame(self) -> None:
        """Skip the length of a frame: its bytes follow, so that it says nothing more."""
        self.read(8)

    def set_all(self, target: Any, values: list[Any]) -> None:
        """Set keys and values, in turn; keys nested deeply would exhaust the stack when they are hashed."""
        if type(target) is not dict or len(values) % 2:
            raise PickleProblem("a damaged pickle: keys are set in what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | bytes | int | float | np.generic):
                raise PickleProblem("keys other than texts and numbers are not read")
            target[key] = value

    def load_setitem(self) -> None:
        """Set one key of a dict."""
        value, key = self.stack.pop(), self.stack.pop()
        self.set_all(self.stack[-1], [key, value])

    def load_setitems(self) -> None:
        """Set the keys and values since the mark in a dict."""
        values = self.pop_mark()
        self.set_all(self.stack[-1], values)

    def load_dict(self) -> None:
        """Make a dict of the keys and values since the mark."""
        made: dict[Any, Any] = {}
        self.set_all(made, self.pop_mark())
        self.append(made)

    def load_build(self) -> None:
        """Give the value on top of the stack its state; anything but a holder would be changed for good."""
        state, target = self.stack.pop(), self.stack[-1]
        if isinstance(target, _JoblibHolder):
            target.value = self.read_joblib_array(state)
        elif isinstance(target, ElementType | _Holder):
            if isinstance(state, tuple) and state and isinstance(state[-1], str):
                self.source.budget.take(len(state[-1]))
            target.set_state(state)
        else:
            raise PickleProblem("a damaged pickle: a state of what has none")

    def read_joblib_array(self, state: dict[str, Any]) -> Any:
        """Read an array whose bytes follow. Returns its holder, or a list of objects."""
        element, shape = state["dtype"], state["shape"]
        if not isinstance(element, ElementType):
            raise PickleProblem("an array has no element type")
        if element.objects:
            if self.inner:
                raise PickleProblem("arrays of objects within arrays of objects are not read")
            return DataUnpickler(self.source, self.steps, inner=True).load()
        if state.get("numpy_array_alignment_bytes") is not None:
            self.source.read(self.source.read(1)[0])
        data = self.source.read(checked_size(shape) * element.dtype.itemsize)
        return self.make_buffer(data, element, shape, state.get("order"))

    def make_instance(self, cls: Any, *_: Any) -> Any:
        """Make an instance as protocols 0 and 1 describe it."""
        if isinstance(cls, type) and issubclass(cls, _Holder):
            return cls()
        raise PickleProblem("a damaged pickle: an object of an unknown class")

    def make_scalar(self, element: Any, data: Any = b"") -> Any:
        """Make a NumPy scalar."""
        return self.make_buffer(data, element, ()).value[()]

    def make_buffer(self, data: Any, element: Any, shape: Any, order: Any = "C", *_: Any) -> Any:
        """Make an array as pickles of protocol 5 describe it."""
        holder = _ArrayHolder()
        holder.set_state((shape, element, order == "F", data))
        return holder

    def make_bytes(self, data: Any = b"", coding: Any = "latin1") -> bytes:
        """Make bytes from bytes, or a text that stands for them; a number would ask for memory."""
        if isinstance(data, str) and coding in ("latin1", "latin-1"):
            self.source.budget.take(len(data))
            return data.encode("latin1")
        if isinstance(data, bytes):
            return data
        raise PickleProblem("a damaged pickle: bytes in an unknown coding, or made of something else")

    def make_dict(self, *arguments: Any) -> dict[Any, Any]:
        """Make a dict from pairs, or an empty one; the function of a `defaultdict` is never called."""
        pairs = arguments[0] if arguments and isinstance(arguments[0], list | tuple) else ()
        self.source.budget.take(_ENTRY_BYTES * len(pairs))
        made: dict[Any, Any] = {}
        for key, value in pairs:
            self.set_all(made, [key, value])
        return made


# Modules whose names are replaced; which of them has a name does not matter, as none is looked up.
_MODULES = re.compile(
    r"numpy(\._?core\.(multiarray|numeric))?|_codecs|collections|copy_?reg|builtins|__builtin__"
    r"|joblib\.numpy_pickle|scipy\.sparse(\._?cs[cr])?"
)
# A class that makes data, or a method of the unpickler, for each name that is read.
_REPLACEMENTS: dict[str, str | type] = {
    # What is named only as an argument gets no contents, which is refused where it is used.
    **dict.fromkeys(("ndarray", "object", "list", "int", "float"), _Holder),
    **dict.fromkeys(("bytes", "bytearray", "encode"), "make_bytes"),
    **dict.fromkeys(("dict", "OrderedDict", "defaultdict"), "make_dict"),
    **dict.fromkeys(("csc_matrix", "csc_array"), _ColumnsHolder),
    **dict.fromkeys(("csr_matrix", "csr_array"), _RowsHolder),
    "complex": complex,
    "dtype": ElementType,
    "_reconstruct": _ArrayHolder,
    "scalar": "make_scalar",
    "_frombuffer": "make_buffer",
    "_reconstructor": "make_instance",
    "NumpyArrayWrapper": _JoblibHolder,
}
_INSTRUCTIONS = """
PROTO MARK STOP POP POP_MARK DUP NONE NEWTRUE NEWFALSE INT LONG FLOAT BININT BININT1 BININT2 BINFLOAT LONG1
LONG4 STRING UNICODE BINSTRING SHORT_BINSTRING BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES
BINBYTES8 EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST LIST APPEND APPENDS EMPTY_DICT GET BINGET
LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE GLOBAL STACK_GLOBAL REDUCE NEWOBJ PERSID BINPERSID
"""
_STEPS: dict[int, Callable[[Any], None]] = {
    **{
        code: pickle._Unpickler.dispatch[code]
        for code in (getattr(pickle, name)[0] for name in _INSTRUCTIONS.split())
    },
    pickle.FRAME[0]: DataUnpickler.load_frame,
    # Its own step makes room before it looks whether the bytes are there.
    pickle.BYTEARRAY8[0]: pickle._Unpickler.dispatch[pickle.BINBYTES8[0]],
    pickle.DICT[0]: DataUnpickler.load_dict,
    pickle.SETITEM[0]: DataUnpickler.load_setitem,
    pickle.SETITEMS[0]: DataUnpickler.load_setitems,
    pickle.BUILD[0]: DataUnpickler.load_build,
}


def read_data_pickle(
    stream: IO[bytes],
    size: int,
    budget: MemoryBudget,
    unpickler: Callable[[_BoundedStream, _Steps], DataUnpickler] = DataUnpickler,
) -> Any:
    """Read the data of a pickle.

    `stream`: stream at the beginning of the pickle, in binary mode; `size`: bytes that follow in it at most;
    `budget`: memory that the contents may take; `unpickler`: what gives meaning to the names. Returns none,
    bool, int, float, complex, str, bytes, NumPy scalars and arrays of numbers or texts, `SparseMatrix`, lists
    of these (also for tuples and arrays of objects), dicts of these with texts as keys. Raises SimbenchError
    of the budget's class, in one line: the pickle is damaged, too large, too deep, or holds anything but
    data.
    """
    try:
        loaded = unpickler(_BoundedStream(stream, size, budget), _Steps(_STEPS)).load()
        if type(loaded) is int and loaded == _OLD_TORCH:
            raise PickleProblem(TORCH_ADVICE)
        plain, count = _to_plain(loaded, 0, {})
        require_at_most(count, MOST_NUMBERS, f"{budget.name}: numbers", budget.error)
        return plain
    except PickleProblem as problem:
        raise budget.error(f"{budget.name}: {problem}") from None
    except (
        *(ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, EOFError),
        *(RecursionError, pickle.UnpicklingError, struct.error),
    ) as reason:
        raise budget.error(
            f"{budget.name}: not a pickle of arrays, or a damaged one ({type(reason).__name__})"
        ) from None


def _to_plain(value: Any, depth: int, done: dict[int, tuple[Any, ...]]) -> tuple[Any, int]:
    """Convert a value and all that it holds to plain values, each only once; count its numbers, written out.

    `depth`: levels of nesting above it; `done`: what was converted, by its identity: the original, which is
    kept so that its identity is not given to another value, the plain value and the count; None while it is
    converted.
    """
    while isinstance(value, _Holder):
        if value.value is None:
            raise PickleProblem("a damaged pickle: an array without contents")
        value = value.value
    if isinstance(value, ElementType) or callable(value):
        raise PickleProblem("a class or an element type by itself is not read")
    if type(value) not in (list, tuple, dict):
        return value, np.size(value) if isinstance(value, np.ndarray) else 1
    if depth >= MAX_DEPTH or done.get(id(value), (None, 0))[1] is None:
        raise PickleProblem(f"more than {MAX_DEPTH} levels of nesting")
    if id(value) not in done:
        done[id(value)] = value, None
        held = value.values() if isinstance(value, dict) else value
        items = [_to_plain(item, depth + 1, done) for item in held]
        result: Any = [item for item, _ in items]
        if isinstance(value, dict):
            result = dict(zip(map(plain_name, value), result, strict=True))
        done[id(value)] = value, result, sum(count for _, count in items)
    return done[id(value)][1:]
