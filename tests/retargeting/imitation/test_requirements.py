"""Robots that cannot follow a person are refused in one line that says what they lack."""

import dataclasses
import subprocess
import sys

import pytest

from simbench.errors import RetargetError
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.imitation.requirements import require_human_form
from simbench.retargeting.whole_body.plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.runs.scenario.loading import load_scenario


def without(mapping, *names):
    return {name: value for name, value in mapping.items() if name not in names}


@pytest.mark.parametrize("name", ["romeo", "mahru"])
def test_humanoids_may_follow(name):
    require_human_form(load_robot(name))


def test_a_single_fixed_arm_is_refused_before_anything_is_computed(dance_motion):
    scenario = load_scenario("dance")
    with pytest.raises(RetargetError) as refused:
        plan_motion(
            load_robot("puma560"),
            dance_motion,
            scenario.robot,
            scenario.retarget,
            Equipment(),
            lambda *_: pytest.fail("it began"),
        )
    assert str(refused.value) == (
        "puma560: a human motion needs a robot that stands on two feet and has two arms; it lacks: "
        "a free base; frames left_shoulder, left_elbow, left_wrist, left_hand, left_foot, right_foot; "
        "groups left_arm, left_leg, right_leg; soles left_foot, right_foot"
    )


def test_the_command_line_says_so(tmp_path):
    command = [sys.executable, "-m", "simbench", "run", "dance", "--set", "robot.name=direct_drive_arm"]
    command += ["--set", "motion.end_s=0.3"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: direct_drive_arm: its hand cannot follow the")
    assert list(tmp_path.rglob("*.nc")) == []


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        (lambda robot: {"floating": False}, "a free base"),
        (lambda robot: {"postures": without(robot.postures, "basic")}, "postures basic"),
        (lambda robot: {"soles": without(robot.soles, "left_foot")}, "soles left_foot"),
        (lambda robot: {"groups": without(robot.groups, "right_arm")}, "groups right_arm"),
        (lambda robot: {"frames": without(robot.frames, "trunk", "right_hand")}, "frames trunk, right_hand"),
        (
            lambda robot: {"groups": {**robot.groups, "left_leg": robot.groups["left_leg"][1:]}},
            "6 joints in groups.left_leg (it has 5)",
        ),
        # A wrist above the elbow: nothing bends between them.
        (
            lambda robot: {"frames": {**robot.frames, "left_wrist": robot.frames["left_shoulder"]}},
            "a joint of groups.left_arm from frame left_elbow to frame left_wrist",
        ),
        # The right arm's elbow is not on the way from the left shoulder to the left wrist.
        (
            lambda robot: {"frames": {**robot.frames, "left_elbow": robot.frames["right_elbow"]}},
            "a joint of groups.left_arm from frame left_shoulder to frame left_elbow; "
            "a joint of groups.left_arm from frame left_elbow to frame left_wrist",
        ),
    ],
)
def test_what_is_lacking_is_named(romeo, change, lacking):
    with pytest.raises(RetargetError) as refused:
        require_human_form(dataclasses.replace(romeo, **change(romeo)))
    assert str(refused.value).endswith(f"; it lacks: {lacking}")
    assert "\n" not in str(refused.value)
