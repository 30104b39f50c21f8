"""CSV files: the joints and segments of a recording for spreadsheets, one line a sample."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HumanMotion

POSITION = ("x_m", "y_m", "z_m")
QUATERNION = ("qx", "qy", "qz", "qw")
# After the name of a segment that is a joint's too.
SEGMENT_MARK = "_segment"


def write_motion_csv(motion: HumanMotion, path: Path) -> None:
    """Write time (s), joint positions (m), and segments as position (m) and quaternion x, y, z, w.

    Columns are `time_s`, `left_shoulder_x_m`, ..., `left_hand_x_m`, ..., `left_hand_qx`, ...; a segment with
    a joint's name is marked, `pelvis_segment_x_m`. Markers, the initial pose, handles and the actor have no
    place.

    Parameters
    ----------
    motion : HumanMotion
    path : Path

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    header, columns = ["time_s"], [motion.time[:, None]]
    for name, positions in motion.joints.items():
        header += [f"{name}_{end}" for end in POSITION]
        columns.append(positions)
    for name, frames in motion.segments.items():
        label = name + SEGMENT_MARK if name in motion.joints else name
        header += [f"{label}_{end}" for end in (*POSITION, *QUATERNION)]
        quaternions = Rotation.from_matrix(frames[:, :3, :3]).as_quat()
        # Of the two quaternions of a rotation the one nearer to the last sample's: no jumps in a plot.
        turned = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0
        quaternions[1:] *= np.where(np.cumsum(turned) % 2, -1.0, 1.0)[:, None]
        columns += [frames[:, :3, 3], quaternions]
    np.savetxt(path, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.12g")
