"""A reader of pickles that users bring, which cannot run anything: it makes data itself and looks up no name.

Python's own unpickler calls what a pickle names, allocates as many places as an index in it says, and hashes
keys without bound on their depth. This one interprets the instructions that data need: numbers, texts, lists,
tuples, dicts, NumPy arrays (also as joblib writes them), and SciPy's sparse matrices as their arrays. All
others are refused before anything is made of them.
"""

import pickle
import struct
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from simbench.files.arrays.memory_budget import MemoryBudget
from simbench.files.arrays.plain_values import (
    ArrayHolder,
    ElementType,
    PickleProblem,
    SparseMatrix,
    checked_size,
)

MAX_INSTRUCTIONS = 3_000_000
"""Each makes or moves one value: this bounds time, and the memory of many small values."""
MAX_DEPTH = 40
"""Levels of nesting."""
MAX_LINE = 10_000
"""Bytes of a line in the oldest, textual protocol, other than those of a text."""

# Functions and classes that the reader knows how to replace, by the name in the pickle.
_ARRAY_PARTS = {"_reconstruct": "array", "scalar": "scalar", "_frombuffer": "buffer"}
_NAMES: dict[tuple[str, str], str] = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("collections", "OrderedDict"): "dict",
    ("collections", "defaultdict"): "defaultdict",
    ("copy_reg", "_reconstructor"): "instance",
    ("copyreg", "_reconstructor"): "instance",
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): "joblib",
    **{
        (f"numpy.{core}.{module}", name): meaning
        for core in ("core", "_core")
        for module in ("multiarray", "numeric")
        for name, meaning in _ARRAY_PARTS.items()
    },
    **{
        (module, name): name
        for module in ("builtins", "__builtin__")
        for name in ("object", "bytes", "bytearray", "list", "dict", "int", "float", "complex")
    },
    **{
        (f"scipy.sparse{module}", f"{by}_{kind}"): by
        for by in ("csc", "csr")
        for module in ("", f".{by}", f"._{by}")
        for kind in ("matrix", "array")
    },
}
_CLASSES = ("csc", "csr", "joblib")


def read_data_pickle(stream: BinaryIO, size: int, budget: MemoryBudget) -> Any:
    """Read the data of a pickle.

    Parameters
    ----------
    stream : file object
        Stream at the beginning of the pickle, in binary mode.
    size : int
        Bytes that follow in it at most.
    budget : MemoryBudget
        Memory that the contents may take.

    Returns
    -------
    object
        None, bool, int, float, complex, str, bytes, NumPy scalars and arrays of numbers or texts,
        `SparseMatrix`, lists of these (also for tuples and arrays of objects), dicts of these with texts as
        keys.

    Raises
    ------
    SimbenchError
        Of the budget's class, in one line: the pickle is damaged, too large, too deep, or holds anything but
        data.
    """
    machine = _Machine(stream, size, budget)
    try:
        return _Converter().convert(machine.run(), 0)
    except PickleProblem as problem:
        raise budget.error(f"{budget.name}: {problem}") from None
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError, struct.error) as reason:
        raise budget.error(
            f"{budget.name}: not a pickle of arrays, or a damaged one ({type(reason).__name__})"
        ) from None


class _Named:
    """What a pickle names, which is never looked up; `meaning` is a value of `_NAMES`."""

    def __init__(self, module: object, name: object) -> None:
        meaning = _NAMES.get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if meaning is None:
            raise PickleProblem(_refusal(str(module)[:60], str(name)[:60]))
        self.meaning = meaning


class _Instance:
    """An instance of one of the `_CLASSES`; `value` is what its state describes."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.value: Any = None


def _refusal(module: str, name: str) -> str:
    """Say why a name in a pickle is refused, and what to do about it."""
    package = module.partition(".")[0]
    if package == "torch":
        return (
            "holds PyTorch tensors, which are not read; save arrays instead: "
            "numpy.savez('motion.npz', **{name: tensor.numpy() for name, tensor in data.items()})"
        )
    if package == "chumpy":
        return (
            "holds chumpy arrays, which only chumpy reads; use the .npz file of the model, or convert it with "
            "numpy.savez('model.npz', **{name: numpy.array(value) for name, value in model.items()})"
        )
    return (
        f"a pickle that names {module}.{name} is not read; allowed: arrays, numbers, texts, lists and dicts"
    )


class _Machine:
    """Interpreter of the instructions of a pickle that make data."""

    def __init__(
        self, stream: BinaryIO, size: int, budget: MemoryBudget, instructions: int = MAX_INSTRUCTIONS
    ) -> None:
        self.stream, self.left, self.budget = stream, size, budget
        self.instructions, self.inner = instructions, instructions != MAX_INSTRUCTIONS
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Interpret all instructions; return the value on the stack at the end."""
        while self.instructions > 0:
            self.instructions -= 1
            code = self.read(1)
            if code == pickle.STOP:
                return self.pop()
            step = _STEPS.get(code)
            if step is None:
                if code in (pickle.PERSID, pickle.BINPERSID):
                    raise PickleProblem(_refusal("torch", "storage"))
                raise PickleProblem("not a pickle of arrays, or a damaged one")
            step(self)
        raise PickleProblem(f"more than {MAX_INSTRUCTIONS} values; save the data as arrays")

    def read(self, count: int) -> bytes:
        """Read just so many bytes."""
        if not 0 <= count <= self.left:
            raise PickleProblem("a damaged pickle: it ends too early")
        self.left -= count
        if count > 1000:
            self.budget.take(count)
        data = self.stream.read(count)
        if len(data) != count:
            raise PickleProblem("a damaged pickle: it ends too early")
        return data

    def number(self, form: str) -> Any:
        """Read a number of a fixed size."""
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def line(self, limit: int = MAX_LINE) -> str:
        """Read a line of text, without its end."""
        data = self.stream.readline(min(limit, self.left) + 1)
        self.left -= len(data)
        if not data.endswith(b"\n"):
            raise PickleProblem("a damaged pickle: a line does not end")
        if len(data) > 1000:
            self.budget.take(len(data))
        return data[:-1].decode("latin1")

    def pop(self) -> Any:
        """Take the value on top of the stack."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleProblem("a damaged pickle: a value is missing")
        return self.stack.pop()

    def top(self) -> Any:
        """Return the value on top of the stack and leave it there."""
        value = self.pop()
        self.stack.append(value)
        return value

    def pop_mark(self) -> list[Any]:
        """Take all values since the last mark."""
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def append_all(self, values: list[Any]) -> None:
        """Append values to the list on top of the stack."""
        target = self.top()
        if type(target) is not list:
            raise PickleProblem("a damaged pickle: values are appended to what is no list")
        target.extend(values)

    def set_all(self, values: list[Any]) -> None:
        """Set keys and values in the dict on top of the stack; keys are texts and numbers."""
        target = self.top()
        if type(target) is not dict or len(values) % 2:
            raise PickleProblem("a damaged pickle: keys are set in what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | bytes | int | float | np.generic):
                raise PickleProblem("keys other than texts and numbers are not read")
            target[key] = value

    def store(self, index: int) -> None:
        """Remember the value on top of the stack."""
        self.memo[index] = self.top()

    def call(self) -> None:
        """Replace a named function or class and its arguments by the data that they make."""
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, _Named) or not isinstance(arguments, tuple):
            raise PickleProblem("a damaged pickle: a call of what is no function")
        self.stack.append(self.make(function.meaning, arguments))

    def make(self, meaning: str, arguments: tuple[Any, ...]) -> Any:
        """Make the data that a known function or class makes from its arguments."""
        if meaning in _CLASSES:
            return _Instance(meaning)
        if meaning == "instance" and isinstance(arguments[0], _Named) and arguments[0].meaning in _CLASSES:
            return _Instance(arguments[0].meaning)
        maker = _MAKERS.get(meaning)
        if maker is None:
            raise PickleProblem(f"a pickle that calls {meaning} is not read")
        return maker(self, *arguments)

    def build(self) -> None:
        """Give the value on top of the stack its state."""
        state, target = self.pop(), self.top()
        if isinstance(target, ElementType):
            target.set_state(state)
        elif isinstance(target, ArrayHolder) and isinstance(state, tuple) and len(state) in (4, 5):
            shape, element, fortran, data = state[-4:]
            target.fill(shape, element, fortran, self.encode(data) if isinstance(data, str) else data)
        elif isinstance(target, _Instance) and isinstance(state, dict):
            target.value = (
                self.read_joblib_array(state) if target.kind == "joblib" else _sparse(target.kind, state)
            )
        else:
            raise PickleProblem("a damaged pickle: a state of what has none")

    def encode(self, text: str, coding: str = "latin1") -> bytes:
        """Encode a text that stands for bytes."""
        if coding not in ("latin1", "latin-1") or not isinstance(text, str):
            raise PickleProblem("a damaged pickle: bytes in an unknown coding")
        self.budget.take(len(text))
        return text.encode("latin1")

    def read_joblib_array(self, state: dict[Any, Any]) -> Any:
        """Read an array whose bytes joblib wrote after its description."""
        element, shape = state["dtype"], state["shape"]
        if not isinstance(element, ElementType):
            raise PickleProblem("an array has no element type")
        if element.objects:
            if self.inner:
                raise PickleProblem("arrays of objects within arrays of objects are not read")
            inner = _Machine(self.stream, self.left, self.budget, self.instructions)
            value = inner.run()
            self.left, self.instructions = inner.left, inner.instructions
            return value
        if state.get("numpy_array_alignment_bytes") is not None:
            self.read(self.number("<B"))
        holder = ArrayHolder()
        count = checked_size(shape) * element.dtype.itemsize
        holder.fill(shape, element, state.get("order") == "F", self.read(count))
        return holder


def _sparse(by: str, state: dict[Any, Any]) -> SparseMatrix:
    """Make a sparse matrix from the state of SciPy's."""
    shape = state.get("_shape", state.get("shape"))
    parts = [state.get(name) for name in ("data", "indices", "indptr")]
    arrays = [_contents(part) for part in parts]
    if checked_size(shape) < 0 or len(shape) != 2 or not all(isinstance(a, np.ndarray) for a in arrays):  # type: ignore[arg-type]
        raise PickleProblem("a sparse matrix is damaged")
    return SparseMatrix(by, shape, *arrays)  # type: ignore[arg-type]


def _contents(part: Any) -> Any:
    """Return the array that a holder holds, or what joblib's wrapper of it holds."""
    while isinstance(part, ArrayHolder | _Instance):
        part = part.value
    return part


def _scalar(machine: _Machine, element: Any, data: Any = b"") -> Any:
    """Make a NumPy scalar."""
    holder = ArrayHolder()
    holder.fill((), element, False, machine.encode(data) if isinstance(data, str) else data)
    return holder.value[()]


def _from_buffer(machine: _Machine, data: Any, element: Any, shape: Any, order: Any = "C", *_: Any) -> Any:
    """Make an array as pickles of protocol 5 describe it."""
    del machine
    holder = ArrayHolder()
    holder.fill(shape, element, order == "F", data)
    return holder


def _bytes(machine: _Machine, *arguments: Any) -> bytes:
    """Make bytes from nothing, bytes, or a text and its coding; a number would ask for memory."""
    if not arguments:
        return b""
    if isinstance(arguments[0], str):
        return machine.encode(*arguments)
    if len(arguments) == 1 and isinstance(arguments[0], bytes):
        return arguments[0]
    raise PickleProblem("a damaged pickle: bytes made of something else")


def _dict(machine: _Machine, pairs: Any = ()) -> dict[Any, Any]:
    """Make a dict from pairs."""
    del machine
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str | bytes | int | float)
        for pair in pairs
    ):
        raise PickleProblem("a damaged pickle: a dict made of something else than pairs")
    return dict(pairs)


def _complex(machine: _Machine, real: Any, imaginary: Any) -> complex:
    """Make a complex number from two numbers."""
    del machine
    if not all(isinstance(part, int | float) for part in (real, imaginary)):
        raise PickleProblem("a damaged pickle: a number made of something else")
    return complex(real, imaginary)


_MAKERS: dict[str, Callable[..., Any]] = {
    "array": lambda machine, *_: ArrayHolder(),
    "scalar": _scalar,
    "buffer": _from_buffer,
    "dtype": lambda machine, code, *_: ElementType(code),
    "encode": lambda machine, text, coding="utf-8": machine.encode(text, coding),
    "bytes": _bytes,
    "bytearray": _bytes,
    "dict": _dict,
    "defaultdict": lambda machine, *_: {},
    "complex": _complex,
}


class _Converter:
    """Conversion of what the instructions made to plain values, each only once."""

    def __init__(self) -> None:
        self.done: dict[int, tuple[Any, Any]] = {}
        self.pending: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        """Convert a value and all that it holds.

        Parameters
        ----------
        value : object
            The value.
        depth : int
            Levels of nesting above it.

        Returns
        -------
        object
            The plain value.

        Raises
        ------
        PickleProblem
            It holds itself, a name that stands for itself, or too many levels.
        """
        if isinstance(value, ArrayHolder | _Instance):
            if value.value is None:
                raise PickleProblem("a damaged pickle: an array without contents")
            return self.convert(value.value, depth)
        if isinstance(value, _Named | ElementType):
            raise PickleProblem("a class or an element type by itself is not read")
        if type(value) not in (list, tuple, dict):
            return value
        if id(value) in self.done:
            return self.done[id(value)][1]
        if depth >= MAX_DEPTH or id(value) in self.pending:
            raise PickleProblem(f"more than {MAX_DEPTH} levels of nesting")
        self.pending.add(id(value))
        result: Any
        if isinstance(value, dict):
            result = {_key(key): self.convert(item, depth + 1) for key, item in value.items()}
        else:
            result = [self.convert(item, depth + 1) for item in value]
        self.pending.discard(id(value))
        # The original is kept, so that its identity is not given to another value.
        self.done[id(value)] = value, result
        return result


def _key(key: Any) -> str:
    """Write a key of a dict as text."""
    return key.decode("latin1") if isinstance(key, bytes) else str(key)


def _counted(form: str, decode: Callable[[bytes], Any]) -> Callable[[_Machine], None]:
    """Make the step for bytes that follow their number."""

    def step(machine: _Machine) -> None:
        machine.stack.append(decode(machine.read(machine.number(form))))

    return step


def _fixed(form: str) -> Callable[[_Machine], None]:
    """Make the step for a number of a fixed size."""
    return lambda machine: machine.stack.append(machine.number(form))


def _constant(value: Any) -> Callable[[_Machine], None]:
    """Make the step for a constant."""
    return lambda machine: machine.stack.append(value)


def _joined(count: int) -> Callable[[_Machine], None]:
    """Make the step for a tuple of so many values."""

    def step(machine: _Machine) -> None:
        values = [machine.pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(values)))

    return step


def _text_integer(machine: _Machine) -> None:
    """Read an integer or a truth value in text."""
    line = machine.line()
    machine.stack.append({"00": False, "01": True}[line] if line in ("00", "01") else int(line.rstrip("L")))


def _quoted(machine: _Machine) -> None:
    """Read a text in quotes, which stands for bytes, with Python's escape sequences."""
    line = machine.line(machine.left).strip()
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "'\"":
        raise PickleProblem("a damaged pickle: a text without quotes")
    machine.budget.take(len(line))
    machine.stack.append(line[1:-1].encode("latin1").decode("unicode_escape"))


def _name_on_stack(machine: _Machine) -> None:
    """Take module and name from the stack."""
    name, module = machine.pop(), machine.pop()
    machine.stack.append(_Named(module, name))


def _new_object(machine: _Machine) -> None:
    """Make an instance of one of the known classes."""
    arguments, cls = machine.pop(), machine.pop()
    if not isinstance(cls, _Named) or cls.meaning not in _CLASSES or arguments != ():
        raise PickleProblem("a damaged pickle: an object of an unknown class")
    machine.stack.append(_Instance(cls.meaning))


def _set_one(machine: _Machine) -> None:
    """Set one key of a dict."""
    value, key = machine.pop(), machine.pop()
    machine.set_all([key, value])


def _append_one(machine: _Machine) -> None:
    """Append one value to a list."""
    value = machine.pop()
    machine.append_all([value])


def _new_dict(machine: _Machine) -> None:
    """Make a dict of the keys and values since the mark."""
    values = machine.pop_mark()
    machine.stack.append({})
    machine.set_all(values)


def _discard(machine: _Machine) -> None:
    """Discard the top of the stack, a value or a mark."""
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


def _latin1(data: bytes) -> str:
    """Decode a text of Python 2, which stands for bytes."""
    return data.decode("latin1")


def _utf8(data: bytes) -> str:
    """Decode a text."""
    return data.decode("utf-8", "surrogatepass")


def _whole_number(data: bytes) -> int:
    """Decode a long integer."""
    return int.from_bytes(data, "little", signed=True)


_STEPS: dict[bytes, Callable[[_Machine], None]] = {
    pickle.PROTO: lambda machine: _require_protocol(machine.number("<B")),
    # The bytes of a frame follow it, so that its length says nothing more.
    pickle.FRAME: lambda machine: None if machine.read(8) else None,
    pickle.MARK: lambda machine: machine.marks.append(len(machine.stack)),
    pickle.POP: _discard,
    pickle.POP_MARK: lambda machine: None if machine.pop_mark() else None,
    pickle.DUP: lambda machine: machine.stack.append(machine.top()),
    pickle.NONE: _constant(None),
    pickle.NEWTRUE: _constant(True),
    pickle.NEWFALSE: _constant(False),
    pickle.INT: _text_integer,
    pickle.LONG: _text_integer,
    pickle.FLOAT: lambda machine: machine.stack.append(float(machine.line())),
    pickle.BININT: _fixed("<i"),
    pickle.BININT1: _fixed("<B"),
    pickle.BININT2: _fixed("<H"),
    pickle.BINFLOAT: _fixed(">d"),
    pickle.LONG1: _counted("<B", _whole_number),
    pickle.LONG4: _counted("<i", _whole_number),
    pickle.STRING: _quoted,
    pickle.UNICODE: lambda machine: machine.stack.append(
        machine.line(machine.left).encode("latin1").decode("raw_unicode_escape")
    ),
    pickle.BINSTRING: _counted("<i", _latin1),
    pickle.SHORT_BINSTRING: _counted("<B", _latin1),
    pickle.BINUNICODE: _counted("<I", _utf8),
    pickle.SHORT_BINUNICODE: _counted("<B", _utf8),
    pickle.BINUNICODE8: _counted("<Q", _utf8),
    pickle.BINBYTES: _counted("<I", bytes),
    pickle.SHORT_BINBYTES: _counted("<B", bytes),
    pickle.BINBYTES8: _counted("<Q", bytes),
    pickle.BYTEARRAY8: _counted("<Q", bytes),
    pickle.EMPTY_TUPLE: _constant(()),
    pickle.TUPLE: lambda machine: machine.stack.append(tuple(machine.pop_mark())),
    pickle.TUPLE1: _joined(1),
    pickle.TUPLE2: _joined(2),
    pickle.TUPLE3: _joined(3),
    pickle.EMPTY_LIST: lambda machine: machine.stack.append([]),
    pickle.LIST: lambda machine: machine.stack.append(machine.pop_mark()),
    pickle.APPEND: _append_one,
    pickle.APPENDS: lambda machine: machine.append_all(machine.pop_mark()),
    pickle.EMPTY_DICT: lambda machine: machine.stack.append({}),
    pickle.DICT: _new_dict,
    pickle.SETITEM: _set_one,
    pickle.SETITEMS: lambda machine: machine.set_all(machine.pop_mark()),
    pickle.GET: lambda machine: machine.stack.append(machine.memo[int(machine.line())]),
    pickle.BINGET: lambda machine: machine.stack.append(machine.memo[machine.number("<B")]),
    pickle.LONG_BINGET: lambda machine: machine.stack.append(machine.memo[machine.number("<I")]),
    pickle.PUT: lambda machine: machine.store(int(machine.line())),
    pickle.BINPUT: lambda machine: machine.store(machine.number("<B")),
    pickle.LONG_BINPUT: lambda machine: machine.store(machine.number("<I")),
    pickle.MEMOIZE: lambda machine: machine.store(len(machine.memo)),
    pickle.GLOBAL: lambda machine: machine.stack.append(_Named(machine.line(), machine.line())),
    pickle.STACK_GLOBAL: _name_on_stack,
    pickle.REDUCE: lambda machine: machine.call(),
    pickle.NEWOBJ: _new_object,
    pickle.BUILD: lambda machine: machine.build(),
}


def _require_protocol(version: int) -> None:
    """Refuse protocols that are not known."""
    if version > 5:
        raise PickleProblem(f"a pickle of protocol {version}; allowed: 0 to 5")
