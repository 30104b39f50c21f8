"""The inputs of the fuzzy rules: nine numbers from 0 to 1 that say how the joints of a recording move."""

import numpy as np

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, SPINE_JOINTS
from simbench.robot.human_skeleton import ARM_JOINTS, BASE_JOINTS
from simbench.robot.sides import SIDES
from simbench.skills.fuzzy.rules import DISTANCES, SPEEDS
from simbench.skills.person.task_motion import TaskMotion

# The thesis's names of table 5.1 in ROMEO's: the roll of the shoulder is the rotation about the upper arm.
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
TRUNK_SPEED = "vTrunkPitch"
TRUNK_ANGLES = ("BaseRoll", "BasePitch", "TrunkYaw")
"""Joints of ROMEO that bend the trunk; a person's own are those of the spine."""
FAR_TRUNK = np.radians(30.0)
"""Sum of the trunk's angles at which its distance from the ergonomic posture is 1: about as far as people
lean to reach something."""
# The same joints of a person's own skeleton.
ANATOMICAL_NAMES = {
    "ShoulderPitch": "shoulder_flexion",
    "ShoulderYaw": "shoulder_abduction",
    "ElbowYaw": "elbow_flexion",
    "ElbowRoll": "shoulder_internal_rotation",
}


def compute_fuzzy_inputs(task: TaskMotion) -> Array:
    """Compute the inputs of the fuzzy rules (Tomić 2018, §5.2.1) from a recording's joints.

    Speeds are means of |q̇| over time; 0 is the slowest and 1 the fastest of the person's joints, which are
    all that turn but neck and head, of both arms. A distance is that of a point moved by the joint from its
    position with the joint at its ergonomic angle, all else alike: the chord 2r sin(|q − q_erg|/2), as a
    fraction of the longest, 2r, mean over time. That of the trunk, which is ours, is the sum of |q − q_erg|
    of its joints as a fraction of `FAR_TRUNK`, at most 1, mean over time: ergonomics pulls hardest at what is
    heavy.

    The thesis is silent on which arm is meant; here it is the one whose joints move more, for in tasks with
    one working hand it speaks of that hand's arm alone. It is also silent on what the Cartesian position of a
    joint is: both joints of a shoulder have one origin, yet its example gives them different distances.
    `task`: the recording on the person's own joints, or on the thesis's model. Returns (9,): values of
    `INPUTS`.
    """
    index = {name: k for k, name in enumerate(task.names)}
    anatomical = SPINE_JOINTS[0] in index
    speed = np.abs(np.diff(task.imitated, axis=0)).mean(axis=0)
    # A person's pelvis moves as recorded, and clavicles follow the arms.
    sliding = BASE_JOINTS[:3]
    turning = task.body.resolved if anatomical else [k for name, k in index.items() if name not in sliding]
    slowest, fastest = speed[turning].min(), speed[turning].max()
    if not fastest > slowest:
        raise SkillError(f"{task.source}: no joint moves more than another: nothing says how it is done")
    arms = [_arm_joints(side, anatomical) for side in SIDES]
    mover = max(arms, key=lambda arm: sum(speed[index[joint]] for joint in arm))
    named = {}
    for name, joint in (ARM_SPEEDS | ARM_DISTANCES).items():
        ending = ANATOMICAL_NAMES[joint] if anatomical else joint
        named[name] = next(index[each] for each in mover if each.endswith(ending))
    named[TRUNK_SPEED] = index[SPINE_JOINTS[0] if anatomical else "BasePitch"]
    away = np.abs(np.sin(0.5 * (task.imitated - task.body.ergonomic))).mean(axis=0)
    relative = np.maximum(speed - slowest, 0.0) / (fastest - slowest)
    trunk = [index[joint] for joint in (SPINE_JOINTS if anatomical else TRUNK_ANGLES)]
    bent = np.abs(task.imitated - task.body.ergonomic)[:, trunk].sum(axis=1)
    return np.array(
        [
            *(relative[named[name]] for name in SPEEDS),
            *(away[named[name]] for name in DISTANCES),
            np.minimum(bent / FAR_TRUNK, 1.0).mean(),
        ]
    )


def _arm_joints(side: str, anatomical: bool) -> list[str]:
    """Names of an arm's joints on the person's own skeleton or on ROMEO's."""
    if anatomical:
        return [f"{side}_{joint}" for joint in ARM_JOINT_NAMES]
    return [side[0].upper() + joint for joint in ARM_JOINTS]
