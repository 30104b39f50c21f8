from dataclasses import dataclass
from functools import partial
from operator import add, mul
from pathlib import Path

import numpy as np
import pytest

from simbench.errors import StudyError
from simbench.runs import provenance as module
from simbench.runs.provenance import fingerprint, sources_fingerprint
from simbench.runs.scenario.loading import load_scenario


@dataclass(frozen=True)
class Settings:
    gain: float
    names: tuple[str, ...]


VALUES = [
    None,
    0,
    False,
    0.0,
    -0.0,
    "",
    "0",
    b"0",
    (),
    [],
    {},
    (0,),
    (0, 0),
    ((0,), 0),
    ("ab", "c"),
    ("a", "bc"),
    {"a": 1, "b": 2},
    {"a": 2, "b": 1},
    Path("0"),
    np.zeros(3),
    np.zeros((3, 1)),
    np.zeros(3, dtype=np.float32),
    np.array([0.0, 0.0, 5e-324]),
    Settings(1.0, ("a",)),
    Settings(1.0, ("a", "b")),
    add,
    mul,
    partial(add, 1),
    partial(add, 2),
]


def test_different_values_differ():
    assert len({fingerprint(value) for value in VALUES}) == len(VALUES)


def test_equal_values_do_not():
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(np.arange(6.0)[::2]) == fingerprint(np.array([0.0, 2.0, 4.0]))
    assert fingerprint(np.float64(0.1)) == fingerprint(0.1)
    assert fingerprint(load_scenario("drawer")) == fingerprint(load_scenario("drawer", ["seed=0"]))
    assert fingerprint(load_scenario("drawer")) != fingerprint(load_scenario("drawer", ["seed=1"]))


@pytest.mark.parametrize("value", [object(), lambda: 0, np.array([object()]), (1, [object()])])
def test_what_cannot_be_told_apart_is_refused(value):
    with pytest.raises(StudyError):
        fingerprint(value)


def test_the_sources_are_code_robots_and_marker_maps(tmp_path, monkeypatch):
    for name in ("simbench/a.py", "simbench/b.txt", "robots/romeo/robot.yaml", "marker_maps/cmu.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "simbench")
    monkeypatch.setattr(module, "resource_dir", lambda kind: tmp_path / kind)
    states = [sources_fingerprint()]
    for name in ("simbench/a.py", "robots/romeo/robot.yaml", "marker_maps/cmu.yaml"):
        (tmp_path / name).write_text("changed")
        states.append(sources_fingerprint())
    (tmp_path / "simbench" / "c.py").touch()
    states.append(sources_fingerprint())
    assert len(set(states)) == len(states)
    (tmp_path / "simbench" / "b.txt").write_text("changed")
    assert sources_fingerprint() == states[-1]
