"""Requirements on a robot that follows a person: two feet to stand on, two arms, and their roles."""

from itertools import pairwise

from simbench.errors import RetargetError
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_ARM = ("shoulder", "elbow", "wrist", "hand")
_LEG_JOINTS = 6
"""Each foot and the pelvis keep their pose: six coordinates for six joints."""


def require_human_form(robot: Robot) -> None:
    """Refuse a robot that cannot follow a person.

    Parameters
    ----------
    robot : Robot
        Robot of any form.

    Raises
    ------
    RetargetError
        If it lacks human form; the message names everything that it lacks.
    """
    arms = [f"{side}_{part}" for side in SIDES for part in _ARM]
    feet = [f"{side}_foot" for side in SIDES]
    needed = {
        "frames": (["trunk", *arms, *feet], robot.frames),
        "groups": ([f"{side}_{limb}" for side in SIDES for limb in ("arm", "leg")], robot.groups),
        "soles": (feet, robot.soles),
        "postures": (["basic"], robot.postures),
    }
    lacks = [] if robot.floating else ["a free base"]
    for what, (required, given) in needed.items():
        missing = [name for name in required if name not in given]
        if missing:
            lacks.append(f"{what} {', '.join(missing)}")
    for side in SIDES:
        legs = robot.groups.get(f"{side}_leg")
        if legs is not None and len(legs) != _LEG_JOINTS:
            lacks.append(f"{_LEG_JOINTS} joints in groups.{side}_leg (it has {len(legs)})")
    if not lacks:
        lacks = [error for side in SIDES for error in _find_arm_errors(robot, side)]
    if lacks:
        raise RetargetError(
            f"{robot.name}: a human motion needs a robot that stands on two feet and has two arms; "
            f"it lacks: {'; '.join(lacks)}"
        )


def require_two_arms(robot: Robot) -> None:
    """Refuse a robot that cannot follow a person with its arms.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.

    Raises
    ------
    RetargetError
        If it lacks a part of two arms; the message names everything that it lacks.
    """
    needed = {
        "frames": (["trunk", *(f"{side}_{part}" for side in SIDES for part in _ARM)], robot.frames),
        "groups": ([f"{side}_arm" for side in SIDES], robot.groups),
        "postures": (["basic"], robot.postures),
    }
    lacks = [
        f"{what} {', '.join(missing)}"
        for what, (required, given) in needed.items()
        if (missing := [name for name in required if name not in given])
    ] or [error for side in SIDES for error in _find_arm_errors(robot, side)]
    if lacks:
        raise RetargetError(
            f"{robot.name}: to imitate a person with both arms, a robot with a fixed base lacks: "
            f"{'; '.join(lacks)}"
        )


def _find_arm_errors(robot: Robot, side: str) -> list[str]:
    """Name the neighbours among shoulder, elbow and wrist with no joint of the arm's group between them."""
    model = robot.model
    ids = {name: model.getJointId(name) for name in robot.groups[f"{side}_arm"]}
    roles = [f"{side}_{part}" for part in _ARM]
    carriers = [int(model.frames[model.getFrameId(robot.frames[role])].parentJoint) for role in roles]
    errors = []
    for (upper, above), (lower, below) in pairwise(zip(roles, carriers, strict=True)):
        between = set(model.supports[below]) - set(model.supports[above])
        apart = lower.endswith("_hand") or not between.isdisjoint(ids.values())
        if above not in model.supports[below] or not apart:
            errors.append(f"a joint of groups.{side}_arm from frame {upper} to frame {lower}")
    return errors
