"""A file without a checksum is tried in another process, which may crash in place of this one."""

import os
import signal
import subprocess

import numpy as np
import pytest
import xarray as xr

from simbench.files.hdf5 import probe
from simbench.files.hdf5.probe import probe_file


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a file.nc"
    xr.Dataset({"angle": ("time", np.linspace(0.0, 1.0, 500), {"units": "rad"})}).to_netcdf(
        path, engine="h5netcdf"
    )
    return path


def test_a_whole_file_passes_and_a_cut_one_says_why(path):
    assert probe_file(path) == ""
    path.write_bytes(path.read_bytes()[:1000])
    reason = probe_file(path)
    assert "truncated file" in reason
    assert "\n" not in reason


@pytest.mark.parametrize("status", [-signal.SIGSEGV, -signal.SIGXCPU, -signal.SIGKILL, 1, 139])
def test_a_process_that_dies_is_a_reason(path, monkeypatch, status):
    def died(command, **options):
        assert os.fspath(path) in command
        return subprocess.CompletedProcess(command, status, b"half a")

    monkeypatch.setattr(probe.subprocess, "run", died)
    assert probe_file(path) == "the HDF5 library crashes, or takes too long, reading it"


def test_the_trial_is_limited_in_time_and_memory(monkeypatch):
    """Limits follow what the file declares; only the soft ones, so that they can be raised again."""
    limits = {}
    monkeypatch.setattr(probe.resource, "getrlimit", lambda which: (5, probe.resource.RLIM_INFINITY))
    monkeypatch.setattr(probe.resource, "setrlimit", lambda which, values: limits.update({which: values}))
    probe._limit(0)
    least = dict(limits)
    probe._limit(200 << 20)
    for which, more in ((probe.resource.RLIMIT_CPU, 10), (probe.resource.RLIMIT_AS, 400 << 20)):
        assert limits[which][0] - least[which][0] == pytest.approx(more, rel=0.3)
        assert limits[which][1] == probe.resource.RLIM_INFINITY
