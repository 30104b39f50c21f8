"""Kernels of libraries that every processor has: what is chosen, and that bits then are the same."""

import os
import subprocess
import sys

import pytest

from simbench.system import portable
from simbench.system.portable import choose_portable_kernels, other_kernels, portable_kernels

# Sums in matrix products, and functions of which NumPy has others for some processors.
DIGEST = """
import hashlib, numpy
x = numpy.random.default_rng(1).standard_normal((60, 60))
for part in (x @ x, numpy.linalg.inv(x), numpy.exp(x), numpy.arctan2(x, 2.0)):
    print(hashlib.sha256(part.tobytes()).hexdigest())
"""


def digest(variables):
    kept = {name: value for name, value in os.environ.items() if name not in portable.KERNELS}
    command = [sys.executable, "-c", DIGEST]
    return subprocess.run(command, env={**kept, **variables}, capture_output=True, check=True).stdout


@pytest.fixture
def processor(tmp_path, monkeypatch):
    """Pretend that Linux says these features of an x86 processor."""

    def pretend(features):
        path = tmp_path / "cpuinfo"
        path.write_text(f"processor : 0\nflags\t\t: {features}\n", encoding="utf-8")
        monkeypatch.setattr(portable, "_PROCESSOR", path)
        monkeypatch.setattr(portable.platform, "machine", lambda: "x86_64")
        portable._features.cache_clear()

    yield pretend
    portable._features.cache_clear()


def test_a_processor_with_more_gets_what_one_with_less_has(processor, monkeypatch):
    processor("fpu sse4_2")
    assert portable_kernels() == {"OPENBLAS_CORETYPE": "Nehalem"}
    assert other_kernels() == [
        {"OPENBLAS_CORETYPE": "Nehalem"},
        {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": ""},
    ]
    processor("fpu sse4_2 avx2 fma avx512dq")
    for version, name in (
        ("2.2.6", "AVX512F AVX512CD AVX512_SKX"),
        ("2.4.1", "X86_V4"),
        ("3.0.0rc1", "X86_V4"),
    ):
        monkeypatch.setattr(portable.metadata, "version", lambda _, version=version: version)
        assert portable_kernels() == {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": name}
    cores = [each["OPENBLAS_CORETYPE"] for each in other_kernels()]
    assert cores == ["Nehalem", "Haswell", "SkylakeX", "SkylakeX", "Nehalem"]
    assert "GLIBC_TUNABLES" in other_kernels()[-1]


def test_an_architecture_that_is_not_known_keeps_its_kernels(processor, monkeypatch):
    processor("")
    monkeypatch.setattr(portable.platform, "machine", lambda: "riscv64")
    assert portable_kernels() == {}
    assert other_kernels() == [{}]


def test_what_a_user_chose_stays_but_for_a_check(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)
    choose_portable_kernels()
    assert os.environ["OPENBLAS_CORETYPE"] == "Haswell"
    choose_portable_kernels(always=True)
    assert os.environ["OPENBLAS_CORETYPE"] == portable_kernels().get("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)


def test_other_kernels_give_other_digits_and_portable_ones_the_same_from_anywhere():
    kernels = portable_kernels()
    if "OPENBLAS_CORETYPE" not in kernels:
        pytest.skip("no kernels are known for this architecture")
    expected = digest(kernels)
    assert digest({"SIMBENCH_PORTABLE": "1"} | kernels) == expected
    if len(other_kernels()) > 2 and portable.platform.machine() == "x86_64":
        assert digest(other_kernels()[1]) != expected
