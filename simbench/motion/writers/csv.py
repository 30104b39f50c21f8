"""Writer of CSV files: the joints and segments of a recording for spreadsheets, one line for each sample."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HumanMotion

POSITION = ("x_m", "y_m", "z_m")
QUATERNION = ("qx", "qy", "qz", "qw")
# Suffix of the name of a segment if a joint has the same name.
SEGMENT_MARK = "_segment"


def write_motion_csv(motion: HumanMotion, path: Path) -> None:
    """Write time (s), joint positions (m), and segments as position (m) and quaternion x, y, z, w as CSV.

    Columns are `time_s`, `left_shoulder_x_m`, ..., `left_hand_x_m`, ..., `left_hand_qx`, ...; a segment with
    the name of a joint gets a suffix, `pelvis_segment_x_m`. Markers, the initial pose, handles and the actor
    are not written. `path`: file to write. Raises OSError if the file cannot be written.
    """
    header, columns = ["time_s"], [motion.time[:, None]]
    for name, positions in motion.joints.items():
        header += [f"{name}_{end}" for end in POSITION]
        columns.append(positions)
    for name, frames in motion.segments.items():
        label = name + SEGMENT_MARK if name in motion.joints else name
        header += [f"{label}_{end}" for end in (*POSITION, *QUATERNION)]
        quaternions = Rotation.from_matrix(frames[:, :3, :3]).as_quat()
        # Of the two quaternions of a rotation the one nearer to the last sample's is written: plots have no
        # jumps.
        flipped = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0
        quaternions[1:] *= np.where(np.cumsum(flipped) % 2, -1.0, 1.0)[:, None]
        columns += [frames[:, :3, 3], quaternions]
    np.savetxt(path, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.12g")
