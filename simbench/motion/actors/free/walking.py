"""Walking straight ahead for four strides, the arms swinging against the legs."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors.free.keyframes import (
    INITIAL,
    MOVE_SPREAD,
    RATE,
    REST,
    SETTLING,
    TRANSITION,
    record_free_motion,
)
from simbench.motion.actors.human_model import SPINE_JOINTS, HumanModel, build_human_model
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.posture import check_ranges, couple_clavicles
from simbench.motion.actors.stance import draw_body_sway, find_arms_forward_posture
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.robot.sides import SIDES

# A stride is two steps. Its length as a fraction of stature and its duration, s: 1.41 m in 1.08 s (1.31 m/s)
# for a person of 1.70 m, natural walking (Winter 1991).
STRIDE_LENGTH, STRIDE_TIME = 0.83, 1.08
STRIDES = 4
# Half the excursions of the pelvis, m, of a person of 1.70 m: 46 mm up and down, twice a stride, and 44 mm
# sideways, once a stride. The pelvis rotates 4 degrees to either side about the vertical and drops 5 degrees
# on the side of the swinging leg (Saunders, Inman & Eberhart 1953).
RISE, SHIFT, STATURE = 0.023, 0.022, 1.70
PELVIS_YAW, PELVIS_LIST = np.radians([4.0, 5.0])
# The thorax rotates against the pelvis and stays nearly level. Amplitudes in the world, rad: estimates.
THORAX_YAW, THORAX_LIST = np.radians([3.5, 1.0])
# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`: hanging, the middle of the swing, and half
# its excursion. The shoulder moves between 24 degrees of extension and 8 of flexion (Murray, Sepic & Barnard
# 1967); the numbers of the other joints are estimates.
HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
SWING = np.array([-8.0, 7.0, 5.0, 24.0, 20.0, 0.0, 0.0])
HALF_SWING = np.array([16.0, 1.0, 3.0, 11.0, 4.0, 2.0, 0.0])
# Standard deviation of a stride's length and time between people's walks, relative.
SPREAD = 0.02


def walk_straight(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person walk four strides straight ahead, after standing with arms forward.

    The forward speed rises to that of natural walking over the duration of one stride and falls likewise. The
    phase of gait is the distance in strides; all excursions are in proportion to the speed. The person model
    has no joints in the legs and the 25 markers are on the upper body, so the legs are not recorded.
    `person`: who performs: body, tempo, and `amplitude`, by which the arms swing; `rng`: all variation comes
    from it; `errors`: errors of the motion capture; `source`: name of the recording. Returns about 9 s at 60
    Hz, recorded with 25 markers; the repetitions are strides, from one contact of the left heel to the next.
    """
    human = build_human_model(person.actor, person.proportions, person.lift)
    length, duration, transition = (
        mean * (1.0 + spread * float(np.clip(rng.normal(), -2.0, 2.0)))
        for mean, spread in (
            (STRIDE_LENGTH * person.actor.height, SPREAD),
            (STRIDE_TIME * person.tempo, SPREAD),
            (TRANSITION * person.tempo, MOVE_SPREAD),
        )
    )
    start = INITIAL + transition + SETTLING
    # Speeding up and slowing down take one stride's time each, and half its length.
    end = start + (STRIDES + 1) * duration
    time = np.arange(round((end + REST) * RATE) + 1) / RATE
    speed = minimum_jerk(time, start, duration) - minimum_jerk(time, end - duration, duration)
    strides = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))]) / (RATE * duration)
    q = find_arms_forward_posture(human) + draw_body_sway(human, time, rng)
    q[:, :2] -= q[0, :2]
    q[:, 0] += length * strides
    phase = 2.0 * np.pi * strides
    _move_trunk(human, q, phase, speed)
    _move_arms(human, q, minimum_jerk(time, INITIAL, transition), phase, person.amplitude * speed)
    q = np.stack([couple_clavicles(human, configuration) for configuration in q])
    check_ranges(human, q)
    # The end of the last stride is where the person stands still again.
    contacts = np.append(np.interp(np.arange(STRIDES), strides, time), end)
    contacts[0] = start
    return record_free_motion(human, q, (contacts[:-1], contacts[1:]), errors, rng, source)


def _move_trunk(human: HumanModel, q: Array, phase: Array, amount: Array) -> None:
    """Add bob, sway and rotation of the pelvis, and the spine's counter-rotation, to configurations.

    The left heel touches the ground at phase 0, the right one at π.
    """
    size = human.actor.height / STATURE
    q[:, 2] -= size * RISE * amount * (1.0 + np.cos(2.0 * phase))
    q[:, 1] += size * SHIFT * amount * np.sin(phase)
    # The left side is in front as the left heel touches the ground; the right side drops while the left leg
    # stands.
    yaw, roll = -PELVIS_YAW * amount * np.cos(phase), PELVIS_LIST * amount * np.sin(phase)
    q[:, 3:7] = Rotation.from_euler("ZX", np.stack([yaw, roll], axis=1)).as_quat()
    _, bend, twist = (human.model.joints[human.model.getJointId(name)].idx_q for name in SPINE_JOINTS)
    q[:, bend] += (THORAX_LIST - PELVIS_LIST) * amount * np.sin(phase)
    q[:, twist] += (THORAX_YAW + PELVIS_YAW) * amount * np.cos(phase)


def _move_arms(human: HumanModel, q: Array, lowered: Array, phase: Array, amount: Array) -> None:
    """Lower the arms from the initial configuration, and swing them against the legs."""
    hanging, middle, half = np.radians([HANGING, SWING, HALF_SWING])
    for side, forward in zip(SIDES, (-np.cos(phase), np.cos(phase)), strict=True):
        arm = human.arms[side]
        q[:, arm] += lowered[:, None] * (hanging - q[0, arm])
        q[:, arm] += amount[:, None] * (middle - hanging + forward[:, None] * half)
