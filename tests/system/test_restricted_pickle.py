"""Pickles make data and nothing else: every way to call something is refused before it is called."""

import builtins
import io
import os
import pickle
from pathlib import Path

import cloudpickle
import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.runs import execution
from simbench.runs.execution import JobResult, read_result, run_isolated
from simbench.sim.rendering.scene_view import Camera, Frames
from simbench.system.restricted_pickle import load_pickle, parse_pickle


class Calls:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def touch(path):
    return [
        Calls(os.system, f"touch {path}"),
        Calls(os.mkdir, str(path)),
        Calls(builtins.open, str(path), "w"),
        Calls(builtins.eval, f"open({str(path)!r}, 'w')"),
        Calls(builtins.exec, f"open({str(path)!r}, 'w')"),
        Calls(Path.touch, path),
        Calls(execution.run_isolated, os.mkdir, [(str(path),)], 1),
        Calls(execution.JobResult, Calls(os.mkdir, str(path))),
        Calls(np.save, str(path), np.zeros(2)),
    ]


@pytest.mark.parametrize("kind", range(9))
def test_a_pickle_that_calls_something_is_refused(tmp_path, kind):
    path = tmp_path / "made"
    content = pickle.dumps(touch(path)[kind])
    with pytest.raises(pickle.UnpicklingError, match="is not data; allowed"):
        parse_pickle(content)
    assert read_result(content, ("os",)).error.startswith("its result cannot be read: ")
    assert list(tmp_path.iterdir()) == []


def test_a_function_by_value_is_refused(tmp_path):
    content = cloudpickle.dumps(lambda: os.mkdir(tmp_path / "made"))
    with pytest.raises(pickle.UnpicklingError, match="is not data"):
        load_pickle(io.BytesIO(content))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["execution.os.mkdir", "os.mkdir", "capture_result", "os"])
def test_no_name_leads_through_a_module_of_simbench(protocol, name):
    head = b"\x80" + bytes([protocol])
    content = head + b"csimbench.runs.execution\n" + name.encode() + b"\n."
    with pytest.raises(pickle.UnpicklingError, match="is not data"):
        parse_pickle(content)


def test_what_a_drawing_process_gets_comes_through():
    robot = load_robot("puma560")
    frames = Frames(np.zeros((3, 7)), np.ones((3, 6)), {}, None, {})
    camera = Camera((0.0, 0.0, 0.5), 2.0, 0.0, 0.0, 50.0, 64, 48, 30)
    job = robot, [], frames, camera, range(0, 3, 2)
    [read_robot, _, read_frames, read_camera, indices] = parse_pickle(pickle.dumps([job]))[0]
    np.testing.assert_array_equal(read_frames.joints, frames.joints)
    assert read_camera == camera
    assert indices == range(0, 3, 2)
    assert read_robot.joint_names == robot.joint_names
    assert isinstance(read_robot.model, pin.Model)
    assert read_robot.urdf == robot.urdf


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1.5,
        "text",
        b"bytes",
        [1, (2.0, {"a": {1}})],
        np.float64(2.0),
        np.int64(3),
        range(2),
        Path("/a"),
    ],
    ids=repr,
)
def test_results_of_jobs_come_through(value):
    assert read_result(pickle.dumps(JobResult(value)), ()) == JobResult(value)


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps(3), pickle.dumps(JobResult(3))[:-5]])
def test_a_damaged_result_is_an_error_of_its_job(content):
    assert read_result(content, ()).error.startswith("its result ")


def test_a_job_that_returns_code_is_an_error(monkeypatch):
    ((_, result),) = run_isolated(os.getenv, [("HOME",)], 1)
    assert result.error == ""
    ((_, result),) = run_isolated(type, [("Made", (), {})], 1)
    assert result.error
