"""Options for reading a recording that declare what its file does not say, and units of length."""

from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.system.limits import RATES

# Metres per unit. `cmu` is the unit of the CMU database's skeletons: inches divided by 0.45.
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "cmu": 0.0254 / 0.45}
# How files write the units.
SPELLINGS = {
    "m": ("m", "meter", "meters", "metre", "metres"),
    "cm": ("cm", "centimeter", "centimeters", "centimetre", "centimetres"),
    "mm": ("mm", "millimeter", "millimeters", "millimetre", "millimetres"),
    "in": ("in", "inch", "inches"),
}
AXES = ("x", "y", "z")
UP_AXES = (*AXES, *(f"-{axis}" for axis in AXES))


@dataclass(frozen=True)
class ReadOptions:
    """What the user declares about a recording; None leaves a property to the file and to detection.

    Parameters
    ----------
    unit : str or None
        Unit of length of the file, a key of `UNITS`; overrules what the file says.
    up : str or None
        Vertical axis of the file's world, one of `UP_AXES`; overrules what the file says.
    marker_map : str or None
        Name of a marker map that ships with simbench, or the path of a YAML file; None chooses the map that
        fits the names of the points.
    longest_gap : float
        Longest gap in a marker's track that is filled by interpolation, s.
    strict : bool
        Whether to refuse what would have to be assumed about the file.
    estimate : bool
        Whether to estimate an elbow or a wrist that was not recorded.
    scale : float or None
        Factor by which the recorded body is scaled after its unit is known.
    stature : float or None
        The person's stature, m, to which the recorded body is scaled; not together with `scale`.
    skeleton : str or None
        Names of the joints of an array that has none: a name such as `smpl`, or the path of a file that lists
        them.
    body_model : str or None
        Path of the user's SMPL, SMPL-H, SMPL-X or OpenSim model file.
    fps : float or None
        Sampling rate of a file that does not say it, Hz; overrules what the file says.
    reader : str or None
        Plug-in that reads the file, as `MODULE:NAME`, `./FILE.py:NAME` or its name; None for the one of the
        file's suffix.

    Raises
    ------
    MotionError
        An unknown unit or axis, a negative or infinite gap, a scale, stature or rate that is not positive.
    """

    unit: str | None = None
    up: str | None = None
    marker_map: str | None = None
    longest_gap: float = 0.2
    strict: bool = False
    estimate: bool = False
    scale: float | None = None
    stature: float | None = None
    skeleton: str | None = None
    body_model: str | None = None
    fps: float | None = None
    reader: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise MotionError(f"unit {self.unit!r}: unknown; allowed: {', '.join(UNITS)}")
        if self.up is not None and self.up not in UP_AXES:
            raise MotionError(f"up axis {self.up!r}: unknown; allowed: {', '.join(UP_AXES)}")
        if not 0.0 <= self.longest_gap < float("inf"):
            raise MotionError(f"longest gap {self.longest_gap} s: it must be zero or a positive time")
        if self.scale is not None and not 1e-4 <= self.scale <= 1e4:
            raise MotionError(f"scale {self.scale:g}: allowed: 0.0001 to 10000")
        if self.stature is not None and not 0.3 <= self.stature <= 3.0:
            raise MotionError(f"height {self.stature:g} m: allowed: 0.3 to 3 m")
        if self.scale is not None and self.stature is not None:
            raise MotionError("scale and height both say how large the body is; declare one of them")
        if self.fps is not None and not RATES[0] <= self.fps <= RATES[1]:
            raise MotionError(f"fps {self.fps:g}: allowed: {RATES[0]:g} to {RATES[1]:g}")


def resolve_length_unit(written: str, options: ReadOptions, where: str) -> tuple[str, float]:
    """Determine the unit of length of a file from what the file and the user say.

    `written`: unit as the file writes it; `options`: what the user declares; its `unit` overrules the file;
    `where`: file and position in it, for the message. Returns `unit`: name of the unit, a key of `UNITS`;
    `scale`: metres per unit.
    """
    unit = options.unit
    if unit is None:
        word = written.strip().lower()
        unit = next((unit for unit, words in SPELLINGS.items() if word in words), None)
    if unit is None:
        raise MotionError(
            f"{where}: unit of length {written.strip()!r} unknown; allowed: {', '.join(SPELLINGS)}, "
            "or declare the unit"
        )
    return unit, UNITS[unit]
