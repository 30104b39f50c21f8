"""What no case may do, whatever it was given."""

import re
import signal
from typing import NamedTuple

from sandbox import EXECUTED, TRACEBACK_STATUS, Case, Outcome

MEMORY_LIMIT = 2**30
"""Greatest memory of a case, bytes."""
_HANGS = (signal.SIGXCPU, signal.SIGALRM)
_FRAME = re.compile(r'File "[^"]*/(simbench/[^"]+)", line (\d+)')
_WARNING = re.compile(r"\w*Warning: |Traceback \(most recent")
_NOT_A_NUMBER = re.compile(r"(?<![\w.\-`'\"/])-?nan(?![\w.\-`'\"/])")
_DIGITS = re.compile(r"\d+")
_POLICIES = {"policy.py", "mlp.onnx"}
_SESSION = "tmp/.ses"  # ONNX Runtime's own, which it writes when it is imported.
_GROUPS = (("motion",), ("robot",))
# What a command that takes longer than five seconds says about its progress, on a machine that is busy; and
# whose code it loads.
_PROGRESS = re.compile(
    r"^(?!error: )(plug-in: .+|.+ (\d+ s( left)?|compiling kernels \d+ \(first run only\)|done in [\d.]+ s))$"
)


class Failure(NamedTuple):
    """What a case did that it may not.

    Parameters
    ----------
    kind : str
        What, such as `traceback`.
    place : str
        Where; failures of the same kind and place are counted as one.
    """

    kind: str
    place: str


def find_failures(case: Case, outcome: Outcome, given: str) -> list[Failure]:
    """Judge how a case ended.

    Parameters
    ----------
    case : Case
        What was given.
    outcome : Outcome
        How it ended.
    given : str
        All text that was given, in small letters; `nan` in it may be repeated.

    Returns
    -------
    list of Failure
        Failures, none if all is well.
    """
    words = 2 if case.arguments[:1] in _GROUPS else 1
    command = case.call or " ".join(case.arguments[:words])
    if outcome.signal:
        kind = "hang" if outcome.signal in _HANGS else f"signal {signal.Signals(outcome.signal).name}"
        return [Failure(kind, command)]
    if outcome.status == TRACEBACK_STATUS:
        return [Failure("traceback", _raised_at(outcome.err))]
    found = []
    if outcome.status not in (0, 1, 2):
        found.append(Failure(f"status {outcome.status}", command))
    if warning := _WARNING.search(outcome.err):
        line = next(each for each in outcome.err.splitlines() if warning.group() in each)
        found.append(Failure("warning", _DIGITS.sub("N", line)[-120:]))
    if outcome.status == 2:
        lines = [line for line in outcome.err.splitlines() if not _PROGRESS.match(line)]
        if len(lines) != 1 or not lines[0].startswith("error: "):
            found.append(Failure(f"{len(lines)} lines of error", f"{command}: {_shape(outcome.err)}"))
        # A policy that fails ends a run that has begun: what is logged stays, marked as incomplete.
        begun = "work/new.incomplete" if _POLICIES & case.files.keys() else "/"
        if left := [name for name in outcome.left if not name.startswith(begun) and name != _SESSION]:
            found.append(Failure("left behind", f"{command}: {_DIGITS.sub('N', left[0])}"))
        if outcome.changed:
            found.append(Failure("changed what was given", f"{command}: {outcome.changed[0]}"))
    if outside := [name for name in (*outcome.left, *outcome.changed) if name.startswith("outside/")]:
        found.append(Failure("wrote through a link", f"{command}: {outside[0]}"))
    if executed := [name for name in outcome.left if name.endswith(EXECUTED)]:
        found.append(Failure("executed code of a file", f"{command}: {executed[0]}"))
    if "\x1b" in outcome.err or "\x1b" in outcome.out:
        found.append(Failure("control characters in the terminal", command))
    if outcome.memory > MEMORY_LIMIT:
        found.append(Failure("memory", command))
    if _NOT_A_NUMBER.search(outcome.out) and "nan" not in given:
        found.append(Failure("NaN reported", f"{command}: {_shape(_line_of_nan(outcome.out))}"))
    return found


def _raised_at(err: str) -> str:
    frames = _FRAME.findall(err)
    last = err.strip().splitlines()[-1] if err.strip() else "no message"
    place = f"{frames[-1][0]}:{frames[-1][1]}" if frames else "outside simbench"
    return f"{place} {last.split(':')[0]}"


def _line_of_nan(out: str) -> str:
    return next(line for line in out.splitlines() if _NOT_A_NUMBER.search(line))


def _shape(text: str) -> str:
    return _DIGITS.sub("N", " ".join(text.split()))[:100]
