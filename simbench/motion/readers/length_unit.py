"""The unit of length of a recording, as its file or its user names it."""

from simbench.errors import MotionError
from simbench.motion.read_options import UNITS, ReadOptions

SPELLINGS = {
    "m": ("m", "meter", "meters", "metre", "metres"),
    "cm": ("cm", "centimeter", "centimeters", "centimetre", "centimetres"),
    "mm": ("mm", "millimeter", "millimeters", "millimetre", "millimetres"),
    "in": ("in", "inch", "inches"),
}


def length_unit(written: str, options: ReadOptions, where: str) -> tuple[str, float]:
    """Name and size of the unit that a file's lengths are in.

    Parameters
    ----------
    written : str
        What the file says.
    options : ReadOptions
        Its `unit` overrules the file.
    where : str
        File and place, for the message.

    Returns
    -------
    str
        A key of `UNITS`.
    float
        Metres per unit.

    Raises
    ------
    MotionError
        The file names no known unit and the user none at all.
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
