"""The stack machine that a pickle instructs, reduced to what data need."""

import pickle
import struct
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from simbench.files.arrays.memory_budget import MemoryBudget
from simbench.files.arrays.plain_values import (
    TORCH_ADVICE,
    ArrayHolder,
    ElementType,
    PickleProblem,
    SparseMatrix,
    checked_size,
    plain_name,
)

MAX_INSTRUCTIONS = 1_000_000
"""Each makes or moves one value: this bounds time, and the memory of many small values."""
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
CLASSES = ("csc", "csr", "joblib")


class Named:
    """What a pickle names, which is never looked up; `meaning` is a value of `_NAMES`.

    `module`, `name`: name in the pickle; must be texts. Raises PickleProblem it is not known; the message
    says what to do about it.
    """

    def __init__(self, module: object, name: object) -> None:
        meaning = _NAMES.get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if meaning is None:
            raise PickleProblem(_refusal(plain_name(module), plain_name(name)))
        self.meaning = meaning


class Instance:
    """An instance of one of the `CLASSES`; `value` is what its state describes."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.value: Any = None


def _refusal(module: str, name: str) -> str:
    """Say why a name in a pickle is refused, and what to do about it."""
    package = module.partition(".")[0]
    if package == "torch":
        return TORCH_ADVICE
    if package == "chumpy":
        return (
            "holds chumpy arrays, which only chumpy reads; use the .npz file of the model, or convert it: "
            "numpy.savez('model.npz', **{name: numpy.array(value) for name, value in model.items()})"
        )
    return (
        f"a pickle that names {module}.{name} is not read; allowed: arrays, numbers, texts, lists and dicts"
    )


class Machine:
    """Interpreter of the instructions of a pickle that make data.

    `stream`: stream at the beginning of the pickle, in binary mode; `size`: bytes that follow in it at most;
    `budget`: memory that the contents may take; `steps`: what each instruction does with the machine;
    `instructions`: largest number of instructions.
    """

    def __init__(
        self,
        stream: BinaryIO,
        size: int,
        budget: MemoryBudget,
        steps: Mapping[bytes, Callable[["Machine"], None]],
        instructions: int = MAX_INSTRUCTIONS,
    ) -> None:
        self.stream, self.left, self.budget, self.steps = stream, size, budget, steps
        self.instructions, self.inner = instructions, instructions != MAX_INSTRUCTIONS
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Interpret all instructions. Returns value on the stack at the end."""
        while self.instructions > 0:
            self.instructions -= 1
            code = self.read(1)
            if code == pickle.STOP:
                return self.pop()
            step = self.steps.get(code)
            if step is None:
                if code in (pickle.PERSID, pickle.BINPERSID):
                    raise PickleProblem(_refusal("torch", "storage"))
                raise PickleProblem("not a pickle of arrays, or a damaged one")
            step(self)
        raise PickleProblem(f"more than {MAX_INSTRUCTIONS} values; save the data as arrays")

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

    def number(self, form: str) -> Any:
        """Read a number of a fixed size.

        `form`: format of `struct`. Raises PickleProblem the pickle is damaged.
        """
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def line(self, limit: int = MAX_LINE) -> str:
        """Read a line of text.

        `limit`: bytes of the longest line. Returns the line without its end, each byte as the character of
        that number.
        """
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
        """Look at the value on top of the stack.

        Returns the value, which stays there. Raises PickleProblem the pickle is damaged.
        """
        value = self.pop()
        self.stack.append(value)
        return value

    def pop_mark(self) -> list[Any]:
        """Take all values since the last mark. Returns the values, first the deepest."""
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
        """Set keys and values in the dict on top of the stack.

        `values`: keys, which are texts or numbers, and values in turn.
        """
        target = self.top()
        if type(target) is not dict or len(values) % 2:
            raise PickleProblem("a damaged pickle: keys are set in what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | bytes | int | float | np.generic):
                raise PickleProblem("keys other than texts and numbers are not read")
            target[key] = value

    def store(self, index: int) -> None:
        """Remember the value on top of the stack.

        `index`: number by which it is recalled. Raises PickleProblem the pickle is damaged.
        """
        self.memo[index] = self.top()

    def call(self) -> None:
        """Replace a named function or class and its arguments by the data that they make."""
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Named) or not isinstance(arguments, tuple):
            raise PickleProblem("a damaged pickle: a call of what is no function")
        self.stack.append(self.make(function.meaning, arguments))

    def make(self, meaning: str, arguments: tuple[Any, ...]) -> Any:
        """Make the data that a known function or class makes from its arguments.

        `meaning`: A value of `_NAMES`; `arguments`: arguments of the call.
        """
        if meaning in CLASSES:
            return Instance(meaning)
        if meaning == "instance" and isinstance(arguments[0], Named) and arguments[0].meaning in CLASSES:
            return Instance(arguments[0].meaning)
        maker = _MAKERS.get(meaning)
        if maker is None:
            raise PickleProblem(f"a pickle that calls {meaning} is not read")
        return maker(self, *arguments)

    def build(self) -> None:
        """Give the value on top of the stack its state, which lies above it."""
        state, target = self.pop(), self.top()
        if isinstance(target, ElementType):
            target.set_state(state)
        elif isinstance(target, ArrayHolder) and isinstance(state, tuple) and len(state) in (4, 5):
            shape, element, fortran, data = state[-4:]
            target.fill(shape, element, fortran, self.encode(data) if isinstance(data, str) else data)
        elif isinstance(target, Instance) and isinstance(state, dict):
            target.value = (
                self.read_joblib_array(state) if target.kind == "joblib" else _sparse(target.kind, state)
            )
        else:
            raise PickleProblem("a damaged pickle: a state of what has none")

    def encode(self, text: str, coding: str = "latin1") -> bytes:
        """Encode a text that stands for bytes.

        `coding`: name of the coding in the pickle; only Latin-1 is known.
        """
        if coding not in ("latin1", "latin-1") or not isinstance(text, str):
            raise PickleProblem("a damaged pickle: bytes in an unknown coding")
        self.budget.take(len(text))
        return text.encode("latin1")

    def read_joblib_array(self, state: dict[Any, Any]) -> Any:
        """Read an array whose bytes joblib wrote after its description.

        Returns holder of the array, or a list of objects.
        """
        element, shape = state["dtype"], state["shape"]
        if not isinstance(element, ElementType):
            raise PickleProblem("an array has no element type")
        if element.objects:
            if self.inner:
                raise PickleProblem("arrays of objects within arrays of objects are not read")
            inner = Machine(self.stream, self.left, self.budget, self.steps, self.instructions)
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
    while isinstance(part, ArrayHolder | Instance):
        part = part.value
    return part


def _scalar(machine: Machine, element: Any, data: Any = b"") -> Any:
    """Make a NumPy scalar."""
    holder = ArrayHolder()
    holder.fill((), element, False, machine.encode(data) if isinstance(data, str) else data)
    return holder.value[()]


def _from_buffer(machine: Machine, data: Any, element: Any, shape: Any, order: Any = "C", *_: Any) -> Any:
    """Make an array as pickles of protocol 5 describe it."""
    del machine
    holder = ArrayHolder()
    holder.fill(shape, element, order == "F", data)
    return holder


def _bytes(machine: Machine, *arguments: Any) -> bytes:
    """Make bytes from nothing, bytes, or a text and its coding; a number would ask for memory."""
    if not arguments:
        return b""
    if isinstance(arguments[0], str):
        return machine.encode(*arguments)
    if len(arguments) == 1 and isinstance(arguments[0], bytes):
        return arguments[0]
    raise PickleProblem("a damaged pickle: bytes made of something else")


def _dict(machine: Machine, pairs: Any = ()) -> dict[Any, Any]:
    """Make a dict from pairs."""
    del machine
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str | bytes | int | float)
        for pair in pairs
    ):
        raise PickleProblem("a damaged pickle: a dict made of something else than pairs")
    return dict(pairs)


def _complex(machine: Machine, real: Any, imaginary: Any) -> complex:
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
