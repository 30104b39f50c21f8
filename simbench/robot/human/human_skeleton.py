"""The lengths of ROMEO's skeleton at the size of a person."""

from simbench.robot.dh.romeo_table import UpperBodyLengths
from simbench.robot.human.anthropometry import Measures

# Fractions of stature for what table B.1 does not measure. Shoulder width: Drillis & Contini (1966), in
# Winter (2009), figure 4.1. Estimates: the joint of the head on the neck above the base of the neck, and that
# above the shoulders.
SHOULDER_WIDTH = 2 * 0.129
NECK_BASE, NECK = 0.032, 0.060
# The hand frame from the wrist, m: that of ROMEO's hand (Tomić 2018, table D.1), as in the recordings.
PALM_FORWARD, PALM_BELOW = 0.09, 0.02


def skeleton_lengths(measures: Measures, stature: float) -> UpperBodyLengths:
    """Take the lengths of the skeleton from a person's measures.

    A recording gives better ones for the arms (Tomić 2018, §3.3.2): put them in with `dataclasses.replace`.

    Parameters
    ----------
    measures : Measures
    stature : float
        m.

    Returns
    -------
    UpperBodyLengths
        On a root midway between the hips; the shoulders lie over it, at the height of the acromion.
    """
    return UpperBodyLengths(
        shoulder_height=measures.lower_trunk_length
        + measures.middle_trunk_length
        + measures.xiphion_to_acromion_length,
        neck_base=NECK_BASE * stature,
        neck=NECK * stature,
        shoulder_width=SHOULDER_WIDTH * stature,
        shoulder_offset=0.0,
        upper_arm=measures.upper_arm_length,
        forearm=measures.forearm_length,
        palm_forward=PALM_FORWARD,
        palm_below=PALM_BELOW,
    )
