"""Packed arrays: read back as the page's scripts read them, they are what was packed."""

import base64
import gzip

import numpy as np
import pytest
from packed_pages import read_signals, unpack

from simbench.runs.report.page_data import Packer


def test_signals_are_rounded_by_at_most_half_a_step_and_gaps_stay():
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.normal(size=(500, 3)), axis=0) * [1.0, 1e-4, 1e6]
    values[10:20, 1] = np.nan
    values[0, 2], values[7, 2], values[8, 2] = np.inf, -np.inf, 1e300
    packer = Packer()
    document, data = unpack(packer.pack({"values": packer.add_signals(values)}))
    read = read_signals(document["values"], data)
    known = np.abs(values) < 1e12
    assert (np.isnan(read) == ~known).all()
    steps = np.array(document["values"]["step"])
    extent = [np.ptp(values[known[:, k], k]) for k in range(3)]
    assert steps == pytest.approx(np.array(extent) / 65534)
    assert (np.abs(read - values)[known] <= np.tile(0.500001 * steps, (500, 1))[known]).all()


def test_a_constant_and_an_empty_signal():
    packer = Packer()
    document, data = unpack(packer.pack({"values": packer.add_signals([[2.5, np.nan]] * 4)}))
    read = read_signals(document["values"], data)
    assert read[:, 0].tolist() == [2.5] * 4
    assert np.isnan(read[:, 1]).all()


def test_plain_arrays_are_exact_and_begin_where_typed_arrays_may():
    packer = Packer()
    first = packer.add_signals([1.0, 2.0, 4.0])
    times = packer.add_array([0.0, 0.1, 0.30000000000000004], "float64")
    normals = packer.add_array([[127, -127, 0]], "int8")
    letters = packer.pack({"first": first, "times": times, "normals": normals, "text": "é</script>"})
    document, data = unpack(letters)
    assert document["times"]["at"] % 8 == 0
    block = gzip.decompress(base64.b64decode(letters))
    assert (4 + int.from_bytes(block[:4], "little")) % 8 == 0
    read = np.frombuffer(data, "<f8", 3, document["times"]["at"])
    assert read.tolist() == [0.0, 0.1, 0.30000000000000004]
    assert np.frombuffer(data, "i1", 3, document["normals"]["at"]).tolist() == [127, -127, 0]
    assert document["text"] == "é</script>"


def test_the_same_content_gives_the_same_letters():
    def make():
        packer = Packer()
        return packer.pack({"values": packer.add_signals(np.sin(np.arange(50.0)))})

    assert make() == make()
