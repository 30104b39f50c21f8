"""Errors a user can act on: each message says what is wrong, where, and what is allowed."""


class SimbenchError(Exception):
    """Base of all errors caused by input; the command line prints it as one line, exit status 2."""


class ScenarioError(SimbenchError):
    """A scenario file or override is missing, malformed or out of range."""


class RobotError(SimbenchError):
    """A robot description is missing, inconsistent, or lacks what a task needs."""


class MotionError(SimbenchError):
    """A recording cannot be read, has gaps or NaN, or lacks what retargeting needs."""


class RetargetError(SimbenchError):
    """A motion cannot be transferred to the robot, for example because a target is out of reach."""


class SkillError(SimbenchError):
    """A skill cannot be analysed or used as asked: weights, criteria, or a path its law cannot follow."""


class DynamicsError(SimbenchError):
    """An arm's dynamics cannot be derived or evaluated as asked."""


class RunError(SimbenchError):
    """A run directory cannot be written, or does not hold what was asked for."""


class BalanceError(SimbenchError):
    """Balance cannot be kept as asked: gains, supports or steps that the robot cannot stand by."""


class BaselineError(SimbenchError):
    """A scenario's baseline is missing, malformed, or cannot be written."""


class CalibrationError(SimbenchError):
    """An arm cannot be calibrated from what was recorded of it: columns, units, samples, or its motion."""


class StudyError(SimbenchError):
    """A study over many runs cannot begin or go on: its directory, its cluster, what it is to vary."""


class Interrupted(Exception):
    """Ctrl-C, with what was kept; the command line says it, exit status 130."""
