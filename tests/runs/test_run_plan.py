"""Plans as bytes: what is read is what was written, and what is damaged is noticed."""

import dataclasses
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from made_plans import make_plan

from simbench.cli.main import main
from simbench.robot.robot import load_robot
from simbench.runs import run_plan as plans
from simbench.runs.motion_source import scenario_motion
from simbench.runs.run_plan import DamagedPlanError, decode_plan, encode_plan
from simbench.runs.scenario.loading import load_scenario


def equal(one, other):
    """Whether two values are the same, arrays in bits and memory layout."""
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(equal(getattr(one, n), getattr(other, n)) for n in names)
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        return same and one.flags.f_contiguous == other.flags.f_contiguous
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[name], other[name]) for name in one)
    return type(one) is type(other) and (one == other or (one != one and other != other))


def test_what_is_read_is_what_was_written():
    plan = make_plan()
    assert equal(decode_plan(encode_plan(plan)), plan)


def test_the_comparison_of_this_test_sees_one_bit():
    plan = make_plan()
    changed = make_plan()
    changed.timeline.reference.position[3, 1] = np.nextafter(changed.timeline.reference.position[3, 1], 9.0)
    assert not equal(decode_plan(encode_plan(plan)), changed)


@pytest.mark.parametrize("damage", ["empty", "cut", "bit", "foreign", "sealed", "pickle"])
def test_damage_is_noticed(damage):
    content = encode_plan(make_plan())
    if damage == "empty":
        content = b""
    elif damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "bit":
        content = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    elif damage == "foreign":
        content = b"PK" + content
    else:
        import hashlib

        # Whole, but not a plan.
        body = b"{}" if damage == "sealed" else pickle.dumps(make_plan())
        content = hashlib.sha256(body).digest() + body
    with pytest.raises(DamagedPlanError):
        decode_plan(content)


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("mahru_drawer", "hands hold nothing; allowed: a scenario without fixtures"),
        ("mahru_walk", "stepping: the legs follow the person's steps; allowed"),
        ("g1_wave", "lacks left_knee, right_knee, left_ankle, right_ankle; allowed: stand"),
    ],
)
def test_what_legs_cannot_follow_is_refused_in_one_line(scenario, told, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["run", scenario, "--set", "retarget.physics=steps", "--out", str(out)]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert told in error
    assert not out.exists()


def test_settings_without_effect_are_told(monkeypatch):
    overrides = ["retarget.timing=local", "balance.embedding.plan=false"]
    scenario = load_scenario("mahru_imitates_walk", overrides)
    robot = load_robot("mahru")
    inputs = plans.collect_inputs(robot, scenario, [], scenario_motion(scenario, []))
    nothing = SimpleNamespace(timeline=None, metrics={}, whole=None, notes=("planned",), doubts=())
    monkeypatch.setattr(plans, "plan_step_following", lambda *_: nothing)
    notes = plans.make_plan(robot, inputs, lambda *_: None).notes
    assert [note.partition(" ")[0] for note in notes] == [
        "retarget.timing:",
        "balance.embedding.plan:",
        "planned",
    ]
