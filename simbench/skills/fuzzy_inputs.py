"""How the joints of a recording move, as the eight numbers from 0 to 1 that the fuzzy rules look at."""

import numpy as np
from numpy.typing import NDArray

from simbench.errors import SkillError
from simbench.retarget.scaling import SIDES
from simbench.robot.romeo_table import ARM_JOINTS, BASE_JOINTS
from simbench.skills.fuzzy_rules import INPUTS
from simbench.skills.task_motion import TaskMotion

Array = NDArray[np.float64]

# The thesis's names of table 5.1 in ROMEO's: the roll of the shoulder is the turn about the upper arm.
ARM_SPEEDS = {
    "vShoulderPitch": "ShoulderPitch",
    "vShoulderYaw": "ShoulderYaw",
    "vElbowYaw": "ElbowYaw",
    "vShoulderRoll": "ElbowRoll",
}
ARM_DISTANCES = {
    "ergonomyShoulderPitch": "ShoulderPitch",
    "ergonomyShoulderYaw": "ShoulderYaw",
    "ergonomyElbowYaw": "ElbowYaw",
}
SLIDING = BASE_JOINTS[:3]


def fuzzy_inputs(task: TaskMotion) -> Array:
    """Compute the inputs of the fuzzy rules (Tomić 2018, §5.2.1) from a motion that was imitated.

    Speeds are means of |q̇| over time; 0 is the slowest and 1 the fastest of the person's joints, which are
    all that turn but neck and head, of both arms. A distance is that of a point carried by the joint from
    where it would be with the joint at its ergonomic angle, all else alike: the chord 2r sin(|q − q_erg|/2),
    as part of the longest, 2r, mean over time.

    The thesis is silent on which arm is meant; here it is the one whose joints move more, for in tasks with
    one working hand it speaks of that hand's arm alone. It is silent on what the Cartesian place of a joint
    is, too: both joints of a shoulder have one origin, yet its example gives them different distances.

    Parameters
    ----------
    task : TaskMotion

    Returns
    -------
    (8,) array
        In the order of `INPUTS`.

    Raises
    ------
    SkillError
        Nothing turns.
    """
    place = {name: k for k, name in enumerate(task.names)}
    speed = np.abs(np.diff(task.imitated, axis=0)).mean(axis=0)
    turning = [k for name, k in place.items() if name not in SLIDING]
    slowest, fastest = speed[turning].min(), speed[turning].max()
    if not fastest > slowest:
        raise SkillError(f"{task.source}: no joint moves more than another: nothing says how it is done")
    side = max(
        (side[0].upper() for side in SIDES),
        key=lambda letter: sum(speed[place[letter + joint]] for joint in ARM_JOINTS),
    )
    named = {name: place[side + joint] for name, joint in (ARM_SPEEDS | ARM_DISTANCES).items()}
    named["vTrunkPitch"] = place["BasePitch"]
    away = np.abs(np.sin(0.5 * (task.imitated - task.body.ergonomic))).mean(axis=0)
    share = (speed - slowest) / (fastest - slowest)
    return np.array([(away if name in ARM_DISTANCES else share)[named[name]] for name in INPUTS])
