"""Functions that numba compiles, where those that only other kernels call are compiled for that alone.

Numba makes each compiled function callable from Python and from C, optimises it fully and places it in
memory, also when all that ever calls it is another compiled function, whose machine code contains it again.
Half of the time of compiling went there.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.registry import CPUDispatcher

from simbench.kinematics.kernel_cache import KernelCache


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

    def _rebuild(self, target_context: Any, payload: Sequence[Any]) -> Any:
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
    returns the folders in which machine code is kept; called at the first compilation; `forceinline`: whether
    to compile it into the functions that call it.
    """

    def __init__(
        self,
        function: Callable[..., object],
        folders: Callable[[], Sequence[Path]],
        *,
        forceinline: bool = False,
    ) -> None:
        options = {"nopython": True, "boundscheck": None, "error_model": "numpy", "forceinline": forceinline}
        super().__init__(function, {}, {**options, "no_cfunc_wrapper": True})
        self._cache = KernelCache(function, folders)
        linked = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._linked = _LinkedKernel(function, {}, linked, _LinkedCompiler)
        self._linked._cache = _LinkedCache(function, folders)

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
        with _without_garbage_collection():
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        """Register machine code, with the constants of all functions that it contains."""
        for environment in cres._find_referenced_environments() if cres.metadata else ():
            cres.codegen.set_env(environment.env_name, environment)
        super().add_overload(cres)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Collect no cycles meanwhile: compiling makes millions of objects that all stay in use."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
