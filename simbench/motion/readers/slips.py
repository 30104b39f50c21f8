"""Slips of a file that a reader can put right: noted, doubted, or refused when nothing may be assumed."""

from dataclasses import dataclass, field

from simbench.errors import MotionError
from simbench.motion.read_options import UNITS, ReadOptions, resolve_length_unit

# What the programs that write these formats write unless told otherwise.
USUAL_UNIT = "mm"


@dataclass
class Slips:
    """What is wrong with a file, and what was done about it."""

    source: str  # Name of the file, for messages.
    strict: bool  # Whether every slip is an error.
    # `notes`, `doubts`: what was put right, and that which may well be wrong, as lines for the user.
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def note(self, what: str, done: str) -> None:
        """Say what is wrong and what is done, which cannot be wrong.

        `what`: the slip; the whole message if it is refused; `done`: what is done about it. Raises
        MotionError the user wants no assumption.
        """
        self._refuse(what)
        self.notes.append(f"{what}: {done}")

    def doubt(self, what: str, done: str) -> None:
        """Say what is wrong and what is assumed, which may be wrong.

        `what`: the slip; the whole message if it is refused. Raises MotionError the user wants no assumption.
        """
        self._refuse(what)
        self.doubts.append(f"{what}: {done}")

    def _refuse(self, what: str) -> None:
        """Raise the slip as an error if nothing may be assumed."""
        if self.strict:
            raise MotionError(f"{self.source}: {what}")


def find_length_unit(written: str, options: ReadOptions, where: str, slips: Slips) -> tuple[str, float]:
    """Determine the unit of length of a file of markers; millimetres where file and user do not say it.

    `written`: unit as the file writes it; `options`: what the user declares; its `unit` overrules the file;
    `where`: position in the file, for the message; `slips`: takes the doubt. Returns `unit`: name of the
    unit, a key of `UNITS`; `scale`: metres per unit. Raises MotionError the file names no known unit, the
    user declares none, and nothing may be assumed.
    """
    try:
        return resolve_length_unit(written, options, f"{slips.source}: {where}")
    except MotionError:
        if slips.strict:
            raise
    slips.doubt(f"{where}: unit of length {written.strip()[:40]!r} unknown", f"{USUAL_UNIT} assumed")
    return USUAL_UNIT, UNITS[USUAL_UNIT]
