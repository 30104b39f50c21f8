"""The log of a robot that steps on the spot, made by hand: who is where when is known."""

import numpy as np

from simbench.runs.log import contact_variables
from simbench.runs.log_builder import add_support_polygon, build_dataset

TIME = 0.02 * np.arange(401)
HEIGHT = 0.7
# Of both soles, m.
HEEL, TOE, INNER, OUTER = -0.1, 0.14, 0.02, 0.16
# Foot (0 left), planned lift and landing, s; and how late the foot comes down. The third is never lifted.
SWINGS = ((0, 2.0, 2.5, 0.04), (1, 3.0, 3.5, 0.0), (0, 4.0, 4.5, None), (1, 5.0, 5.5, 0.08))
ARMS_UNTIL = 5.0


def sole(foot):
    inner, outer = (INNER, OUTER) if foot == 0 else (-OUTER, -INNER)
    return np.array([[HEEL, inner], [TOE, inner], [TOE, outer], [HEEL, outer]])


def between(start, end):
    """Tell which samples are from `start` on and before `end`, s, which are samples' times."""
    return (start - 0.01 <= TIME) & (end - 0.01 > TIME)


def stepping_log(fall=None):
    """Eight seconds; the ZMP is 20 mm inside the outer edges, the COG 5 mm off where it should be.

    The one joint is an arm's, 0.01 rad behind. From `fall` on, s, the root is below half its height.
    """
    count = len(TIME)
    points = np.tile(np.stack([sole(0), sole(1)]), (count, 1, 1, 1))
    planned = np.ones((count, 2), dtype=bool)
    zmp = np.tile([0.02, 0.0], (count, 1))
    for foot, lift, land, late in SWINGS:
        planned[between(lift, land), foot] = False
        zmp[between(lift, land + (late or 0.0)), 1] = (OUTER - 0.02) * (-1.0 if foot == 0 else 1.0)
        if late is not None:
            points[between(lift + 0.02, land + late), foot] = np.nan
    pose = np.tile([0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0], (count, 1))
    if fall is not None:
        pose[between(fall, np.inf), 2] = 0.4 * HEIGHT
    reference = 0.5 * np.minimum(TIME, ARMS_UNTIL)[:, None]
    cog = np.tile([0.05, 0.03, 0.8], (count, 1))
    palms = np.tile([0.1, 0.0, 0.7], (count, 2, 1))
    palms[between(4.0, np.inf), :, 0] = 0.5
    wrench = np.zeros((count, 2, 6))
    wrench[:, :, 2] = 100.0
    joint, plane = ("time", "joint"), ("time", "xy")
    variables = {
        "joint_position": (joint, reference - 0.01, "rad"),
        "joint_reference": (joint, reference, "rad"),
        "torque_motor": (joint, 0.0 * reference, "N m"),
        "base_pose": (("time", "pose"), pose, "m"),
        "cog": (("time", "xyz"), cog, "m"),
        "cog_desired": (plane, cog[:, :2] - [0.003, 0.004], "m"),
        "zmp": (plane, zmp, "m"),
        "zmp_desired": (plane, zmp, "m"),
        "zmp_from_momentum": (plane, zmp, "m"),
        "contact_planned": (("time", "foot"), planned, ""),
        "foot_points": (("time", "foot", "point", "xy"), points, "m"),
        "foot_wrench": (("time", "foot", "axis6"), wrench, "N, N m"),
        "palm_position": (("time", "hand", "xyz"), palms, "m"),
        "hand_contact": (("time", "hand"), np.zeros((count, 2), dtype=bool), ""),
        "is_grip": (("joint",), np.array([False]), ""),
        "is_arm": (("joint",), np.array([True]), ""),
        **{
            name: (("joint",), np.array([value]), unit)
            for name, value, unit in (
                ("position_lower", -9.0, "rad"),
                ("position_upper", 9.0, "rad"),
                ("lowest_position", 0.0, "rad"),
                ("highest_position", 0.0, "rad"),
                ("speed_limit", 1.0, "rad/s"),
                ("highest_speed", 0.5, "rad/s"),
                ("torque_limit", 1.0, "N m"),
            )
        },
        **contact_variables(()),
    }
    labels = {
        "time": TIME,
        "joint": ("LElbow",),
        "foot": ("left", "right"),
        "hand": ("left", "right"),
        "xyz": ("x", "y", "z"),
        "xy": ("x", "y"),
        "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
        "axis6": ("fx", "fy", "fz", "mx", "my", "mz"),
    }
    attributes = {
        "robot": "mahru",
        "mass_kg": 20.0,
        "gravity_m_s2": 9.81,
        "settle_s": 1.0,
        "grips_lost": 0,
        "saturated_fraction": 0.0,
        "hand_links": "l_hand r_hand",
        "foot_links": "l_foot r_foot",
        "thigh_links": "",
        "seat": "",
        "steps": len(SWINGS),
        "balance_gave_up_s": np.nan,
        "balance_tick_median_s": 1e-4,
        "balance_share": 0.1,
    }
    return add_support_polygon(build_dataset(variables, labels, attributes))
