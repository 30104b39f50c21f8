"""Names of the metrics of fidelity."""

from simbench.retargeting.fidelity.fidelity import Fidelity, summarise_fidelity
from simbench.retargeting.fidelity.footsteps import step_metrics

PREFIX = "fidelity."
"""Beginning of the names of all metrics of fidelity."""
_UNITS = {"": "fraction", "m": "m", "rad": "rad"}
"""Ending of a metric's name by the unit of a summary."""


def fidelity_metrics(fidelity: Fidelity) -> dict[str, float | None]:
    """Compute the metrics of fidelity.

    Parameters
    ----------
    fidelity : Fidelity
        What a robot's motion leaves of the person's.

    Returns
    -------
    dict of str to float or None
        `fidelity.<quantity>_mean_<unit>`, `_p95_` and `_max_` of each error that was measured, and when it is
        largest, `fidelity.<quantity>_max_at_s` in the recording's time and `_max_at_robot_s` in the robot's;
        `fidelity.duration_ratio`, `fidelity.stretch_max_ratio` and `fidelity.stretch_max_at_s`: tempo;
        `fidelity.lag_s`; `fidelity.position_limit_fraction` and `fidelity.speed_limit_fraction`: shares of
        the samples at a limit; `fidelity.executed_fraction`; and those of footsteps. What was not measured
        is absent.
    """
    metrics: dict[str, float | None] = {}
    for summary in summarise_fidelity(fidelity):
        name, unit = f"{PREFIX}{summary.quantity.replace(' ', '_')}", _UNITS[summary.unit]
        metrics |= {
            f"{name}_mean_{unit}": summary.mean,
            f"{name}_p95_{unit}": summary.percentile_95,
            f"{name}_max_{unit}": summary.maximum,
            f"{name}_max_at_s": float(fidelity.recording_time[summary.sample]),
            f"{name}_max_at_robot_s": float(fidelity.robot_time[summary.sample]),
        }
    tempo, limits = fidelity.tempo, fidelity.limits
    metrics |= {
        f"{PREFIX}duration_ratio": tempo.duration_ratio,
        f"{PREFIX}stretch_max_ratio": tempo.stretch_max,
        f"{PREFIX}stretch_max_at_s": float(fidelity.recording_time[tempo.sample]),
        f"{PREFIX}position_limit_fraction": limits.position,
        f"{PREFIX}speed_limit_fraction": limits.speed,
        f"{PREFIX}executed_fraction": fidelity.executed,
    }
    if fidelity.lag is not None:
        metrics[f"{PREFIX}lag_s"] = fidelity.lag
    return metrics if fidelity.steps is None else {**metrics, **step_metrics(fidelity.steps)}
