"""What is said first of a failed check."""

from simbench.runs.regression import CaseResult, describe_check, describe_drift
from simbench.runs.traces.comparison import describe_divergence


def headline(result: CaseResult) -> str:
    """Say in one line how a check failed: by the first divergence, if a signal diverged.

    `result`: outcome of a check that failed. Returns the line, which begins with the scenario's name.
    """
    name = result.case.scenario.name
    if result.comparison is not None and result.comparison.first is not None:
        return f"{name}: first divergence: {describe_divergence(result.comparison.first)}"
    for check in result.failed_checks:
        return describe_check(name, check)
    for verdict in result.verdicts:
        if verdict.failed:
            return describe_drift(name, verdict)
    return f"{name}: {result.error}"
