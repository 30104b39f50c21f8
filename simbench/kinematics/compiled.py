"""Compile a function of arrays to machine code, kept on disk between runs where that is possible.

Numba's own cache unpickles whatever is in its files. A file that a full disk truncated, or that is of another
version, ends the process there; a damaged one may crash it; and an index that was written before a process
was killed can name outdated machine code. Here what is damaged, outdated or another user's is not used.

Numba makes each compiled function callable from Python and from C, optimises it fully and places it in
memory, also when all that ever calls it is another compiled function, whose machine code contains it again.
Half of the time of compiling went there: functions that only other kernels call are compiled for that alone.
"""

import gc
import hashlib
import inspect
import os
import pickle
import platform
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import config, event
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from simbench.resources import user_cache_dir


def _describe(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield what tells a value that a kernel uses from every other."""
    if isinstance(value, Dispatcher):
        yield f"compiled with {sorted(value.targetoptions.items())}"
        value = value.py_func
    if isinstance(value, FunctionType):
        # Once, since functions may call each other.
        if id(value) in seen:
            return
        seen.add(id(value))
        yield f"{value.__module__}.{value.__qualname__} {value.__defaults__}"
        names: set[str] = set()
        yield from _describe_code(value.__code__, names)
        for cell in value.__closure__ or ():
            yield from _describe(cell.cell_contents, seen)
        used = {name: value.__globals__[name] for name in sorted(names & value.__globals__.keys())}
        for name, each in used.items():
            yield name
            yield from _describe(each, seen)
        for module in used.values():
            if isinstance(module, ModuleType):
                for name in sorted(names & vars(module).keys()):
                    yield from _describe(vars(module)[name], seen)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__} of {len(value)}"
        for each in value:
            yield from _describe(each, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype!r} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
        # Those of an enumeration.
        yield repr([(name, each.value) for name, each in getattr(value, "__members__", {}).items()])
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif callable(value):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    else:
        yield repr(value)


def _describe_code(code: CodeType, names: set[str]) -> Iterator[str]:
    """Yield the instructions and constants of a function, and collect the names that it looks up."""
    names.update(code.co_names)
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _describe_code(constant, names)
        else:
            yield repr(constant)


_VERSIONS = (numba.__version__, llvmlite.__version__, platform.python_version())
MAX_FILES = 3000  # Number of files in a folder beyond which the oldest quarter is removed: some 200 MB.
_DIGEST_SIZE = hashlib.sha256().digest_size
_WRITABLE_BY_OTHERS = 0o002
# Errors of an intact file whose classes have another form in these sources.
_NOT_OURS = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    TypeError,
    ValueError,
)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Machine code of one function for the types of its arguments, one file each.

    A file begins with the SHA-256 of the rest, which is the pickled key and machine code. The key has the
    types, the processor, the versions of numba and Python, and the digest of the function with all that it
    uses. A file counts only if it belongs to this user, to the owner of these sources or to root, since
    unpickling can execute anything. `function`: the function that is compiled; `folders`: returns where
    machine code is looked for, in this order; it is kept in the first that can be written.
    """

    kind = "called from Python"
    _rebuild: Callable[..., Any] = CompileResult._rebuild  # Makes machine code callable that was read.

    def __init__(self, function: Callable[..., object], folders: Callable[[], Sequence[Path]]) -> None:
        # Not numba's, which makes a file in each folder for each function to see whether it can.
        self._name = repr(function)
        self._py_func = function
        self._folders = folders
        # SHA-256 of the function with every function and constant that its machine code contains.
        self._digest = ""
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """Folder in which machine code is kept."""
        return str(next(iter(self._folders()), ""))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read the machine code for types of arguments.

        `target_context`: processor for which it was compiled. Returns the machine code; None if there is none
        that can be used.
        """
        target_context.refresh()
        if not self._enabled:
            return None
        key, name = self._key(sig, target_context.codegen())
        for folder in self._folders():
            path = folder / name
            with suppress(*_NOT_OURS, OSError, RuntimeError):
                with path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    # Nobody else can have written it.
                    owners = (0, os.geteuid(), Path(__file__).stat().st_uid)
                    if status.st_uid not in owners or status.st_mode & _WRITABLE_BY_OTHERS:
                        continue
                    content = file.read()
                body = content[_DIGEST_SIZE:]
                if hashlib.sha256(body).digest() != content[:_DIGEST_SIZE]:
                    continue
                stored, payload = pickle.loads(body)
                if stored == key:
                    return self._rebuild(target_context, *payload)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for types of arguments, where that is possible."""
        if not self._enabled or data.library.has_dynamic_globals or data.lifted:
            return
        key, name = self._key(sig, data.codegen)
        body = dumps((key, data._reduce()))
        content = hashlib.sha256(body).digest() + body
        for folder in self._folders():
            path = folder / name
            part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
            try:
                folder.mkdir(parents=True, exist_ok=True)
                # Others may read it at most, whatever the process's mask is.
                with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
                    file.write(content)
                os.replace(part, path)
            except OSError:
                with suppress(OSError):
                    part.unlink()
                continue
            # Machine code of sources, versions and types that are no longer in use goes.
            with suppress(OSError):
                files = list(folder.glob("*.nbc"))
                if len(files) > MAX_FILES:
                    for old in sorted(files, key=lambda each: each.stat().st_mtime)[: MAX_FILES // 4]:
                        old.unlink(missing_ok=True)
            break

    def flush(self) -> None:
        """Forget nothing: machine code that is compiled anew replaces what is kept."""

    def _key(self, sig: Any, codegen: Any) -> tuple[tuple[Any, ...], str]:
        """Build the key of the machine code for types of arguments, and the name of its file."""
        if not self._digest:
            # At the first call, when all that the function uses is defined. The digest does not depend on the
            # place of the source file nor on comments, so that machine code serves all installations of the
            # same sources.
            digest = hashlib.sha256()
            for part in _describe(self._py_func, set()):
                digest.update(part.encode() + b"\0")
            self._digest = digest.hexdigest()
        # `NUMBA_BOUNDSCHECK=1` makes other machine code.
        options = (self.kind, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.BOUNDSCHECK)
        key = (sig, codegen.magic_tuple(), str(options), self._digest, _VERSIONS)
        code = self._py_func.__code__
        # At most 255 bytes are allowed.
        name = f"{Path(code.co_filename).stem}.{code.co_name}"[:80].translate({60: "", 62: ""})
        return key, f"{name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into that of its callers: optimised with them, and not placed in memory itself."""

    def _optimize_final_module(self) -> None:
        """Leave optimising to the callers."""

    def _finalize_final_module(self) -> None:
        """Finish the code without handing it to the execution engine."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """Serialise what there is: no machine code. Returns name, kind and bitcode."""
        return self.serialize_using_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> "_LinkedLibrary":
        """Make the code from its bitcode."""
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _LinkedCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function without making it callable from Python."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_compile = True
        self.state.library = _LinkedLibrary(self.state.targetctx.codegen(), "linked")


class _LinkedCache(KernelCache):
    """Keeps the code of functions that are only linked."""

    kind = "linked"

    def _rebuild(self, target_context: Any, *payload: Any) -> Any:
        """Make code that was read ready for linking."""
        code, description, environment, signature, objectmode, lifted, types, initialisers, used = payload
        for initialise in initialisers:
            initialise()
        return CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=None,
            typing_error=None,
            type_annotation=types,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            fndesc=description,
            library=_LinkedLibrary._unserialize(target_context.codegen(), code),
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=initialisers,
            referenced_envs=used,
        )


class _LinkedKernel(CPUDispatcher):  # type: ignore[misc]
    """A function as other kernels call it."""

    def add_overload(self, cres: Any) -> None:
        """Register compiled code under a key of its own instead of a Python function."""
        key = object()
        self.targetctx.insert_user_function(key, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=key)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function: called from Python, or linked into another compiled function.

    `function`: function of arrays and numbers, in the subset of Python that numba compiles; `folders`:
    returns the folders in which machine code is kept; called at the first compilation; `shapes`: as for
    `compiled_entry`; `forceinline`: whether to compile it into the functions that call it.
    """

    def __init__(
        self,
        function: Callable[..., object],
        folders: Callable[[], Sequence[Path]],
        *,
        shapes: str = "",
        forceinline: bool = False,
    ) -> None:
        options = {"nopython": True, "boundscheck": None, "error_model": "numpy", "forceinline": forceinline}
        super().__init__(function, {}, {**options, "no_cfunc_wrapper": True})
        self._cache = KernelCache(function, folders)
        linked = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._linked = _LinkedKernel(function, {}, linked, _LinkedCompiler)
        self._linked._cache = _LinkedCache(function, folders)
        self._shapes = shapes

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a caller that is compiled.

        `args`: types of the arguments; `kws`: types of the arguments that are given by name. Returns as
        numba's.
        """
        return self._linked.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Find the code that a compiled caller uses.

        `sig`: types of the arguments. Returns key of the code.
        """
        return self._linked.get_overload(sig)

    def compile(self, sig: Any) -> Any:
        """Compile for calls from Python. `sig`: types of the arguments. Returns the compiled function."""
        if self._shapes:
            self._cache._py_func = self._compiler.py_func = self._comparing_shapes()
            self._shapes = ""
        # Compiling makes millions of objects that all stay in use: no cycles are collected meanwhile.
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if enabled:
                gc.enable()

    def _comparing_shapes(self) -> FunctionType:
        """Write the function that Python calls: it compares the shapes of arrays, and calls the kernel."""
        function = self.py_func
        arguments = ", ".join(inspect.signature(function).parameters)
        lines, sizes = [f"def {function.__name__}({arguments}):"], set()
        for array, shape in re.findall(r"([\w.\[\]]+) \(([^)]*)\)", self._shapes):
            for axis, size in enumerate(filter(None, shape.replace(" ", "").split(","))):
                if size.isidentifier() and size not in sizes:
                    sizes.add(size)
                    lines.append(f" size_{size} = {array}.shape[{axis}]")
                else:
                    wanted = re.sub(r"([A-Za-z]\w*)", r"size_\1", size)
                    message = f"{function.__name__}: {array} must be ({shape}) where {self._shapes}"
                    lines.append(f" if {array}.shape[{axis}] != {wanted}: raise ValueError({message!r})")
        lines.append(f" return kernel({arguments})")
        names = {"kernel": self._linked, "__name__": function.__module__}
        exec(compile("\n".join(lines), function.__code__.co_filename, "exec"), names)
        return cast(FunctionType, names[function.__name__])

    def add_overload(self, cres: Any) -> None:
        """Register machine code, with the constants of all functions that it contains."""
        for environment in cres._find_referenced_environments() if cres.metadata else ():
            cres.codegen.set_env(environment.env_name, environment)
        super().add_overload(cres)


Function = TypeVar("Function", bound=Callable[..., object])


def kernel_folders() -> list[Path]:
    """Find where machine code is kept.

    Returns where machine code is looked for, and kept in the first that can be written: below
    `NUMBA_CACHE_DIR`, the user's folder of caches, which all installations share, and the package's
    `__pycache__`.
    """
    named, cache = os.environ.get("NUMBA_CACHE_DIR"), user_cache_dir()
    parents = [Path(named)] if named else []
    parents += [*([cache / "simbench"] if cache else []), Path(__file__).resolve().parents[1] / "__pycache__"]
    return [parent / "kernels" for parent in parents]


def compiled(function: Function, *, into_callers: bool = False) -> Function:
    """Compile a function at its first call.

    The machine code is kept in one of the folders of `kernel_folders`; where none can be written, every
    process compiles anew. `function`: function of arrays and numbers, in the subset of Python that numba
    compiles; `into_callers`: whether it is compiled into the functions that call it. Returns compiled
    function with the same signature.
    """
    if config.DISABLE_JIT:
        return function
    return cast(Function, Kernel(function, kernel_folders, forceinline=into_callers))


def compiled_entry(shapes: str) -> Callable[[Function], Function]:
    """Compile a function that Python calls, with a comparison of the shapes of its arrays.

    Machine code does not know where an array ends: with one that is too short it reads what lies behind. The
    comparison is machine code, too, and costs nanoseconds. `shapes`: arrays, each with its shape in
    parentheses: `tree.parent (n), path (T, 7 + n)`; an array in a NamedTuple has its name; a letter stands
    for a size, and stands alone where it is met first. Returns decorator.
    """

    def decorate(function: Function) -> Function:
        if config.DISABLE_JIT:
            return function
        return cast(Function, Kernel(function, kernel_folders, shapes=shapes))

    return decorate


# Compiles a function into the functions that call it. A call that hands over many arrays in NamedTuples costs
# time of its own: 5 % of a bounded least-squares iteration on a humanoid's arms. Only for what is called in
# few places: each has a copy.
compiled_into_callers = partial(compiled, into_callers=True)


def compile_for(function: Function, *arguments: object) -> Function:
    """Compile a function for the types of given arguments, and leave out the look-up of types at its calls.

    The look-up takes longer in a NamedTuple than beside one: with 31 arrays in NamedTuples a call takes
    4.9 µs more than without it. In exchange the arguments of all calls have to be of these types: an array of
    another memory layout is not noticed. Arrays that are made once and written in place are safe.

    `function`: function that `compiled` returned; `*arguments`: examples of the arguments: all calls have to
    have the same types and memory layouts. Returns compiled function with the same signature.
    """
    if not isinstance(function, Dispatcher):
        return function
    types = tuple(numba.typeof(argument) for argument in arguments)
    return cast(Function, function.compile(types))


@contextmanager
def compile_timer() -> Iterator[Callable[[], float]]:
    """Measure for how long functions are compiled, or read from disk, at their first calls.

    Yields returns the time since the context was entered, s.
    """
    timing = event.TimingListener()
    with event.install_listener("numba:compiler_lock", timing) as listener:
        yield lambda: float(listener.duration) if listener.done else 0.0
