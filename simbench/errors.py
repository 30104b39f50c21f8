"""Errors that a user can act on: each message says what is wrong, where, and what is allowed."""

import difflib
from collections.abc import Iterable


def closest_name(name: str, known: Iterable[str]) -> str:
    """Suggest a known name in place of one that is not. Returns ` (did you mean '…'?)`, or nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


class SimbenchError(Exception):
    """Base of all errors caused by input; the command line prints it as one line and exits with status 2."""


class ScenarioError(SimbenchError):
    """A scenario file or override is missing, malformed or out of range."""


class RobotError(SimbenchError):
    """A robot description is missing, inconsistent, or lacks what a task needs."""


class MotionError(SimbenchError):
    """A recording cannot be read, has gaps or NaN, or lacks what retargeting needs."""


class RetargetError(SimbenchError):
    """A motion cannot be transferred to the robot, for example because a target is out of reach."""


class LegReachError(RetargetError):
    """The legs cannot keep balance at this height of the pelvis; with more bend they might."""


class SkillError(SimbenchError):
    """A skill cannot be analysed: invalid weights or criteria, or a path that the law cannot follow."""


class DynamicsError(SimbenchError):
    """An arm's dynamics cannot be derived or evaluated."""


class RunError(SimbenchError):
    """A run directory cannot be written, or lacks the requested data."""


class StorageError(RunError):
    """A disk is full, read-only or failing, or a directory has vanished; another attempt may succeed."""


class BalanceError(SimbenchError):
    """Balance cannot be kept with the given gains, supports or steps."""


class StepReachError(BalanceError):
    """A step is out of the legs' reach; a smaller or slower one might not be."""


class BaselineError(SimbenchError):
    """A scenario's baseline is missing, malformed, or cannot be written."""


class CalibrationError(SimbenchError):
    """An arm cannot be calibrated from a recording: its columns, units, samples or motion do not suffice."""


class StudyError(SimbenchError):
    """A study of many runs cannot begin or continue: its directory, its cluster, or the varied keys."""


class PluginError(SimbenchError, ValueError):
    """Code that a scenario names cannot be loaded, or is not what it has to be.

    Also a ValueError, so that a scenario's validation adds file and line of the key that names it.
    """


class PolicyError(SimbenchError):
    """A policy or its contract cannot be read, does not suit the robot, or returns what is no action."""


class Interrupted(Exception):
    """Ctrl-C or a signal ended a command; the message says what was kept.

    The command line prints it, and exits with 130 after Ctrl-C, else with 128 plus the signal's number.
    """
