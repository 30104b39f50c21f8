"""What a marker-based motion-capture system reports: named points over time, in the laboratory's own axes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.motion.human_motion import Actor


@dataclass(frozen=True)
class MarkerRecording:
    """Points over time, before anything is known of the body they are fixed to.

    Parameters
    ----------
    time : (T,) array
        s, strictly increasing, at the recording's own rate; its first sample is at 0.
    names : tuple of str
        Of the M labelled markers, all different.
    positions : (T, M, 3) array
        m, in the laboratory's axes; NaN where a marker was not seen.
    source : str
        Where the recording is from, for messages.
    up : str or None
        The laboratory's vertical axis, `x`, `y` or `z`, where the file or the user declares it.
    unit : str
        Unit of length of the file, as declared by it or by the user; the positions are in metres already.
    events : tuple of (str, float)
        Labelled times, s, on the clock of `time`.
    details : mapping of str to str
        What else the file says that a reader of the same format may want back (for example the actor).
    notes : tuple of str
        What was left out or assumed, for people ("3 unlabelled points ignored").
    """

    time: NDArray[np.float64]
    names: tuple[str, ...]
    positions: NDArray[np.float64]
    source: str
    up: str | None = None
    unit: str = "m"
    events: tuple[tuple[str, float], ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkeletonRecording:
    """Poses of a skeleton's joints, before anything is known of which joint is what.

    Parameters
    ----------
    time : (T,) array
        s, strictly increasing, at the recording's own rate; its first sample is at 0.
    names : tuple of str
        Of the J joints and end sites, parents before children, all different.
    parents : (J,) int array
        Index of each joint's parent, -1 for the root.
    offsets : (J, 3) array
        Each joint's place in its parent's axes in the rest pose, `unit`.
    positions : (T, J, 3) array
        `unit`, in the file's world axes.
    rotations : (T, J, 3, 3) array
        From each joint's axes to the file's world axes; in the rest pose all are identity.
    source : str
        Where the recording is from, for messages.
    unit : str or None
        Unit of length where the format, the file or the user declares one; None where nobody does (BVH).
    up : str or None
        The file's vertical axis, `x`, `y` or `z`, where it is declared.
    actor : Actor or None
        Whose body it is, where the format knows.
    notes : tuple of str
        What was left out or assumed, for people.
    """

    time: NDArray[np.float64]
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    offsets: NDArray[np.float64]
    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    source: str
    unit: str | None = None
    up: str | None = None
    actor: Actor | None = None
    notes: tuple[str, ...] = ()
