"""The same digits on processors of other makes.

What numba compiles for simbench adds and multiplies in the order of the source, without contraction, on every
processor. Libraries choose among kernels when they are loaded: OpenBLAS sums matrix products in an order of
its own for each make, and NumPy has other exponentials and arc tangents for AVX-512. Here every processor is
given the kernels that all of its architecture have.
"""

import os
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path

# `0` leaves every library its fastest kernels. By default the command chooses portable ones; a program that
# imports simbench chooses them with `1`.
PORTABLE = "SIMBENCH_PORTABLE"
# Variables that decide which kernels libraries take, and so the last digits of what they compute.
KERNELS = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "GLIBC_TUNABLES")
_NAMES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
# Kernels of OpenBLAS, with the feature of the processor that each needs. The first are those of every
# processor; matrices here have at most some hundred rows, for which they take about as long as the others.
_BLAS = {
    "x86_64": {"Nehalem": "", "Haswell": "avx2", "SkylakeX": "avx512dq"},
    "aarch64": {"ARMV8": "", "NEOVERSEN1": "", "CORTEXA57": ""},
}
_PROCESSOR = Path("/proc/cpuinfo")


def choose_portable_kernels(*, always: bool = False) -> None:
    """Choose the portable kernels for libraries that this process and its children load from now on.

    `always`: whether variables of the user's own are overwritten, too.
    """
    chosen = portable_kernels()
    os.environ.update(chosen if always else {**chosen, **os.environ})


def portable_kernels() -> dict[str, str]:
    """Find the environment variables that choose portable kernels on this machine; none where unknown."""
    chosen = {}
    for core in list(_BLAS.get(_NAMES.get(platform.machine(), ""), {}))[:1]:
        chosen["OPENBLAS_CORETYPE"] = core
    # NumPy warns of a feature that the processor does not have.
    if "avx512dq" in _features():
        # Since 2.4, levels of features replace single ones.
        numpy = tuple(int(part) for part in metadata.version("numpy").split(".")[:2])
        chosen["NPY_DISABLE_CPU_FEATURES"] = "X86_V4" if numpy >= (2, 4) else "AVX512F AVX512CD AVX512_SKX"
    return chosen


def other_kernels() -> list[dict[str, str]]:
    """List the variables that choose what libraries take on other processors, as far as this one can.

    The first are the portable kernels, the last also those of NumPy and of the C library's functions for
    processors that are as they are here, and for such without fused multiplication.
    """
    features, portable = _features(), portable_kernels()
    cores = _BLAS.get(_NAMES.get(platform.machine(), ""), {})
    chosen = [
        {**portable, "OPENBLAS_CORETYPE": core}
        for core, needed in cores.items()
        if not needed or needed in features
    ]
    if not chosen:
        return [{}]
    chosen.append({**chosen[-1], "NPY_DISABLE_CPU_FEATURES": ""})
    if "fma" in features:
        chosen.append(
            {**portable, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"}
        )
    return chosen


@lru_cache(maxsize=1)
def _features() -> frozenset[str]:
    """Read what Linux says that the processor can do; nothing elsewhere."""
    try:
        with _PROCESSOR.open(encoding="utf-8", errors="replace") as file:
            lines = (line.partition(":")[2].split() for line in file if line.startswith("flags"))
            return frozenset(next(lines, ()))
    except OSError:
        return frozenset()
