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

from simbench.files.arrays.memory_budget import MemoryBudget
from simbench.files.arrays.pickle_machine import CLASSES, Instance, Machine, Named
from simbench.files.arrays.plain_values import ArrayHolder, ElementType, PickleProblem, plain_name

MAX_DEPTH = 40
"""Levels of nesting."""


def read_data_pickle(stream: BinaryIO, size: int, budget: MemoryBudget) -> Any:
    """Read the data of a pickle.

    `stream`: stream at the beginning of the pickle, in binary mode; `size`: bytes that follow in it at most;
    `budget`: memory that the contents may take. Returns none, bool, int, float, complex, str, bytes, NumPy
    scalars and arrays of numbers or texts, `SparseMatrix`, lists of these (also for tuples and arrays of
    objects), dicts of these with texts as keys. Raises SimbenchError of the budget's class, in one line: the
    pickle is damaged, too large, too deep, or holds anything but data.
    """
    machine = Machine(stream, size, budget, _STEPS)
    try:
        return _Converter().convert(machine.run(), 0)
    except PickleProblem as problem:
        raise budget.error(f"{budget.name}: {problem}") from None
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError, struct.error) as reason:
        raise budget.error(
            f"{budget.name}: not a pickle of arrays, or a damaged one ({type(reason).__name__})"
        ) from None


class _Converter:
    """Conversion of what the instructions made to plain values, each only once."""

    def __init__(self) -> None:
        self.done: dict[int, tuple[Any, Any]] = {}
        self.pending: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        """Convert a value and all that it holds.

        `depth`: levels of nesting above it. Returns the plain value.
        """
        if isinstance(value, ArrayHolder | Instance):
            if value.value is None:
                raise PickleProblem("a damaged pickle: an array without contents")
            return self.convert(value.value, depth)
        if isinstance(value, Named | ElementType):
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
            result = {plain_name(key): self.convert(item, depth + 1) for key, item in value.items()}
        else:
            result = [self.convert(item, depth + 1) for item in value]
        self.pending.discard(id(value))
        # The original is kept, so that its identity is not given to another value.
        self.done[id(value)] = value, result
        return result


def _counted(form: str, decode: Callable[[bytes], Any]) -> Callable[[Machine], None]:
    """Make the step for bytes that follow their number."""

    def step(machine: Machine) -> None:
        machine.stack.append(decode(machine.read(machine.number(form))))

    return step


def _fixed(form: str) -> Callable[[Machine], None]:
    """Make the step for a number of a fixed size."""
    return lambda machine: machine.stack.append(machine.number(form))


def _constant(value: Any) -> Callable[[Machine], None]:
    """Make the step for a constant."""
    return lambda machine: machine.stack.append(value)


def _joined(count: int) -> Callable[[Machine], None]:
    """Make the step for a tuple of so many values."""

    def step(machine: Machine) -> None:
        values = [machine.pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(values)))

    return step


def _text_integer(machine: Machine) -> None:
    """Read an integer or a truth value in text."""
    line = machine.line()
    machine.stack.append({"00": False, "01": True}[line] if line in ("00", "01") else int(line.rstrip("L")))


def _quoted(machine: Machine) -> None:
    """Read a text in quotes, which stands for bytes, with Python's escape sequences."""
    line = machine.line(machine.left).strip()
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "'\"":
        raise PickleProblem("a damaged pickle: a text without quotes")
    machine.budget.take(len(line))
    machine.stack.append(line[1:-1].encode("latin1").decode("unicode_escape"))


def _name_on_stack(machine: Machine) -> None:
    """Take module and name from the stack."""
    name, module = machine.pop(), machine.pop()
    machine.stack.append(Named(module, name))


def _new_object(machine: Machine) -> None:
    """Make an instance of one of the known classes."""
    arguments, cls = machine.pop(), machine.pop()
    if not isinstance(cls, Named) or cls.meaning not in CLASSES or arguments != ():
        raise PickleProblem("a damaged pickle: an object of an unknown class")
    machine.stack.append(Instance(cls.meaning))


def _set_one(machine: Machine) -> None:
    """Set one key of a dict."""
    value, key = machine.pop(), machine.pop()
    machine.set_all([key, value])


def _append_one(machine: Machine) -> None:
    """Append one value to a list."""
    value = machine.pop()
    machine.append_all([value])


def _new_dict(machine: Machine) -> None:
    """Make a dict of the keys and values since the mark."""
    values = machine.pop_mark()
    machine.stack.append({})
    machine.set_all(values)


def _discard(machine: Machine) -> None:
    """Discard the top of the stack, a value or a mark."""
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


def _discard_to_mark(machine: Machine) -> None:
    """Discard all values since the last mark."""
    machine.pop_mark()


def _skip_length(machine: Machine) -> None:
    """Skip the length of a frame: its bytes follow, so that it says nothing more."""
    machine.read(8)


def _latin1(data: bytes) -> str:
    """Decode a text of Python 2, which stands for bytes."""
    return data.decode("latin1")


def _utf8(data: bytes) -> str:
    """Decode a text."""
    return data.decode("utf-8", "surrogatepass")


def _whole_number(data: bytes) -> int:
    """Decode a long integer."""
    return int.from_bytes(data, "little", signed=True)


_STEPS: dict[bytes, Callable[[Machine], None]] = {
    pickle.PROTO: lambda machine: _require_protocol(machine.number("<B")),
    pickle.FRAME: _skip_length,
    pickle.MARK: lambda machine: machine.marks.append(len(machine.stack)),
    pickle.POP: _discard,
    pickle.POP_MARK: _discard_to_mark,
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
    pickle.GLOBAL: lambda machine: machine.stack.append(Named(machine.line(), machine.line())),
    pickle.STACK_GLOBAL: _name_on_stack,
    pickle.REDUCE: lambda machine: machine.call(),
    pickle.NEWOBJ: _new_object,
    pickle.BUILD: lambda machine: machine.build(),
}


def _require_protocol(version: int) -> None:
    """Refuse protocols that are not known."""
    if version > 5:
        raise PickleProblem(f"a pickle of protocol {version}; allowed: 0 to 5")
