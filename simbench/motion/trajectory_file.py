"""Files of joint trajectories: the name's suffix says which format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_csv import read_csv, write_csv
from simbench.motion.trajectory_netcdf import read_netcdf, write_netcdf

SUFFIXES = (".csv", ".nc")


def write_trajectory(
    trajectory: JointTrajectory,
    path: str | Path,
    units: Sequence[str],
    attributes: Mapping[str, str | float],
) -> None:
    """Write a trajectory as CSV (nine digits) or NetCDF (bit for bit).

    Parameters
    ----------
    trajectory : JointTrajectory
    path : str or Path
        Ends in .csv or .nc.
    units : sequence of str
        `rad` or `m` for each joint.
    attributes : mapping of str to str or number
        Where the trajectory comes from; a CSV file has no place for it.

    Raises
    ------
    MotionError
        For another suffix.
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if trajectory_suffix(path) == ".csv":
        write_csv(trajectory, path, units)
    else:
        write_netcdf(trajectory, path, units, attributes)


def read_trajectory(path: str | Path) -> JointTrajectory:
    """Read a trajectory that `write_trajectory` or `simbench retarget --out` wrote.

    Parameters
    ----------
    path : str or Path
        Ends in .csv or .nc.

    Returns
    -------
    JointTrajectory

    Raises
    ------
    MotionError
        For another suffix, or a file that cannot be read or is not a trajectory.
    """
    path = Path(path)
    return read_csv(path) if trajectory_suffix(path) == ".csv" else read_netcdf(path)


def trajectory_suffix(path: Path) -> str:
    """Suffix of a trajectory's file in small letters; refuse a name that ends in another."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MotionError(f"{path}: the name of a joint trajectory must end in {' or '.join(SUFFIXES)}")
    return suffix
