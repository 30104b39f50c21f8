"""The script that puts ROMEO's motion by weights beside its motion by single criteria."""

import numpy as np
import pinocchio as pin
import pytest
from script_modules import loaded_script

from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.retargeting.imitation.imitation import imitate
from simbench.robot.sides import SIDES

ACTOR = 12
"""Whose drawer ROMEO's wrists allow."""


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/transfer_weights.py") as module:
        yield module


def test_palms_go_as_far_as_the_persons_from_where_romeos_are(script, drawer_actor, drawer_motion):
    robot, model = script.romeo()
    q = imitate(drawer_actor, drawer_motion).q[300:500:20]
    limits = np.array([model.lowerPositionLimit[7:], model.upperPositionLimit[7:]])
    path = script.robot_path(robot, model, drawer_actor.model, q, limits)
    data, scaled = model.createData(), drawer_actor.model.createData()
    start = np.concatenate([q[0, :7], q[0, 7:].clip(*limits)])
    assert not np.array_equal(start, q[0])
    pin.framesForwardKinematics(model, data, start)
    for h, side in enumerate(SIDES):
        frame = model.getFrameId(robot.frames[f"{side}_hand"])
        theirs = []
        for row in q[[0, -1]]:
            pin.framesForwardKinematics(drawer_actor.model, scaled, row)
            theirs.append(scaled.oMf[frame].copy())
        np.testing.assert_allclose(path.hand_position[0, h], data.oMf[frame].translation, atol=1e-12)
        moved = theirs[1].translation - theirs[0].translation
        assert np.linalg.norm(moved) > 0.05
        np.testing.assert_allclose(path.hand_position[-1, h] - path.hand_position[0, h], moved, atol=1e-12)
        turned = path.hand_rotation[-1, h] @ path.hand_rotation[0, h].T
        np.testing.assert_allclose(turned, theirs[1].rotation @ theirs[0].rotation.T, atol=1e-12)


def test_romeos_drawer_is_more_like_the_persons_by_the_thesis_weights_than_by_energy(script):
    general = script.paper_weights()["drawer"]
    assert sum(general) == pytest.approx(1.0)
    both = script.similarities(general, ("drawer", ACTOR, 2018))
    found = both[script.LIMITED]
    value, people = script.ratio([found, dict.fromkeys(found, np.nan)], "energy")
    assert people == 1
    assert value == found["energy"] / found[script.GENERAL] > script.FACTOR
    # The wrists' roll ends where their palms would be level.
    assert both[script.UNLIMITED][script.GENERAL] != found[script.GENERAL]
    # Rotors make light wrists costly to turn.
    assert found[script.ROTORLESS] > 2.0 * found["energy"]


def test_what_cannot_be_is_told(script, tmp_path, capsys):
    assert script.main(["--table", str(tmp_path / "none.parquet")]) == 2
    assert "none.parquet" in capsys.readouterr().err
    assert script.main(["--tasks", "hand_drill"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "hand_drill: no weights" in said


def test_scenarios_have_the_thesis_weights(script):
    for task, paper in script.TABLE_42.items():
        weights = script.load_scenario(f"{task}_by_weights").retarget.weights
        assert [getattr(weights, name) for name in CRITERIA] == list(paper)
