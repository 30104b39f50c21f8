"""§8.2: animation of the calibrated arm under the same control law, compared with the real arm.

The paper's "wrong" gains or laws can be understood in two ways. Driven: both the real and the virtual arm are
driven by them, as the nearly correct parameters of tables 4 and 5 suggest; the result of the paper's own
parameters is also printed. Taken: the arm is driven by the gains 9.5, -9.5, and only calibration and
animation assume the other law. A k_a that does not exist must then be explained by the inertia of the drives,
which the paper's eight parameters do not include: the best that they can achieve is found by a search.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from dynamics import FEW
from forward_dynamics import Scheme, runge_kutta, runge_kutta_then_euler, simulate_law
from motions import EVALUATION, LAW, LEARNING, LENGTH, fewer, record
from numpy.typing import NDArray
from report import begin_table, compare, show
from scipy.optimize import least_squares, minimize
from tables import ANIMATION, GAINS, LAWS, ORDER, TRUE

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.calibration.dynamic_calibration import (
    BaseParameters,
    calibrate_dynamics,
    make_calibrated_arm,
    with_motors,
)
from simbench.dynamics.arm import Arm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Array = NDArray[np.float64]

COLUMNS = ("learning mean", "learning maximum", "evaluation mean", "evaluation maximum")
SCHEMES: dict[str, Scheme] = {"full state": runge_kutta, "the paper's": runge_kutta_then_euler}
STEP, COARSE = 0.001, 0.008
"""Time step of an animation, and of animations within a search, s."""
OTHERS = {(11.5, -11.5): "gains", (9.5, -9.5, -3.5): "law", (5.5, -5.5, -5.5): "law", (5.5, 0.0): "law"}
DIVERGED = 1e3
"""Angle error assigned to a virtual arm that diverges, degrees."""


def right_law(arm: Arm, motions: Sequence[ArmMotion], found: dict[str, Array], out: Path) -> list[str]:
    """Print angle errors of virtual arms under the right law, by name of their parameters; draw the last one.

    Returns
    -------
    list of str
        Cases in which the parameters by least squares have a larger error than the paper's.
    """
    title = "Animation: |real - virtual|, degrees: learning mean, maximum, evaluation mean, maximum"
    begin_table(title, COLUMNS, "§8.2")
    missed = []
    for name, values in found.items():
        for kind, scheme in SCHEMES.items():
            virtual = _moved(_arm(arm, values), LAW, motions, scheme)
            if "least squares" in name:
                missed += compare(f"{name}, {kind}", _numbers(motions, virtual), ANIMATION["right"], 3)
            else:
                show(f"{name}, {kind}", _numbers(motions, virtual), 3)
            if "least squares" in name and scheme is runge_kutta:
                _draw(motions, virtual, out / "animation.png")
    return missed


def driven_by_others(
    arm: Arm, laws: Sequence[tuple[float, ...]] = tuple(OTHERS), length: int = LENGTH
) -> list[str]:
    """Print errors of arms that are driven and calibrated under other laws; returns as `right_law`."""
    begin_table("Animation, real and virtual arm driven by another law", COLUMNS, "§8.2")
    missed = []
    for gains in laws:
        law = Feedback(*gains)
        motions = record(law, LEARNING + EVALUATION, length)
        values = calibrate_dynamics(with_motors(arm), fewer(motions[:LEARNING], FEW), law).values
        for kind, scheme in SCHEMES.items():
            numbers = _numbers(motions, _moved(_arm(arm, values), law, motions, scheme))
            missed += compare(f"{gains}, {kind}", numbers, ANIMATION[OTHERS[gains]], 3)
        show(
            "    the paper's parameters here",
            _numbers(motions, _moved(_printed(arm, gains), law, motions)),
            3,
        )
    return [f"driven by {each}" for each in missed]


def taken_for_others(
    arm: Arm,
    motions: Sequence[ArmMotion],
    taken: dict[tuple[float, ...], Array],
    laws: Sequence[tuple[float, ...]] = tuple(OTHERS),
) -> list[str]:
    """Print errors of arms whose calibration assumed other laws than the arm's; returns as `right_law`.

    Parameters
    ----------
    arm : Arm
        The paper's arm.
    motions : sequence of ArmMotion
        Motions under the paper's law.
    taken : dict
        Parameters by assumed law, including drives.
    laws : sequence of tuple of float
        Gains of the assumed laws.
    """
    title = "Animation, the arm driven by 9.5, -9.5 but calibrated and animated by another law"
    begin_table(title, COLUMNS, "§8.2")
    missed = []
    learning = fewer(motions[:LEARNING], FEW)
    for gains in laws:
        law, paper = Feedback(*gains), ANIMATION[OTHERS[gains]]
        for kind, scheme in SCHEMES.items():
            numbers = _numbers(motions, _moved(_arm(arm, taken[gains]), law, motions, scheme))
            missed += compare(f"{gains}, {kind}", numbers, paper, 3)
        eight = calibrate_dynamics(arm, learning, law).values
        _show("without drives", _arm(arm, eight), law, motions)
        if law.acceleration:
            closest = closest_animation(arm, motions[:LEARNING], law, eight)
            show(
                "    without drives, closest", _numbers(motions, _moved(_arm(arm, closest), law, motions)), 3
            )
        show(
            "    the paper's parameters here",
            _numbers(motions, _moved(_printed(arm, gains), law, motions)),
            3,
        )
    return [f"taken for {each}" for each in missed]


def closest_animation(arm: Arm, motions: Sequence[ArmMotion], law: Feedback, start: Array) -> Array:
    """Search for base parameters with the smallest largest animation error: least squares, then Nelder-Mead.

    The search starts from `start`, and from the true values scaled with the gains and k_a added to the first
    inertia.
    """
    real = _real(motions, COARSE)

    def error(values: Array) -> Array:
        with np.errstate(all="ignore"):
            virtual = _moved(_arm(arm, values), law, motions, step=COARSE)
        degrees = np.degrees(virtual - real)
        return np.asarray(np.where(np.abs(degrees) < DIVERGED, degrees, DIVERGED).ravel())

    found = []
    other = TRUE * law.position / LAW.position
    other[0] += law.acceleration
    for values in (start, other):
        scale = np.maximum(np.abs(values), 0.1)
        near = least_squares(error, values, x_scale=scale, diff_step=1e-4, max_nfev=25).x
        # Eight unknowns need more evaluations than the default.
        found.append(
            minimize(
                lambda x: np.abs(error(x)).max(),
                near,
                method="Nelder-Mead",
                options={"maxfev": 400, "adaptive": True},
            )
        )
    return np.asarray(min(found, key=lambda each: each.fun).x)


def _show(what: str, arm: Arm, law: Feedback, motions: Sequence[ArmMotion]) -> None:
    show(f"    {what}", _numbers(motions, _moved(arm, law, motions)), 3)


def _arm(arm: Arm, values: Array) -> Arm:
    form = arm if len(values) == len(TRUE) else with_motors(arm)
    return make_calibrated_arm(form, BaseParameters(form), values)


def _printed(arm: Arm, gains: tuple[float, ...]) -> Arm:
    return _arm(arm, np.array((GAINS | LAWS)[gains])[np.argsort(ORDER)])


def _moved(
    arm: Arm,
    law: Feedback,
    motions: Sequence[ArmMotion],
    scheme: Scheme = runge_kutta,
    step: float = STEP,
) -> Array:
    starts, targets = (np.array(each) for each in zip(*((m.q[0], m.target[0]) for m in motions), strict=True))
    every = _every(motions, step)
    steps = len(motions[0].q[::every]) - 1
    return simulate_law(arm, law, starts, targets, every / motions[0].rate, steps, scheme)[0]


def _every(motions: Sequence[ArmMotion], step: float) -> int:
    return max(1, round(step * motions[0].rate))


def _real(motions: Sequence[ArmMotion], step: float = STEP) -> Array:
    return np.stack([each.q[:: _every(motions, step)] for each in motions], axis=1)


def _numbers(motions: Sequence[ArmMotion], virtual: Array) -> Array:
    """Compute mean and maximum of |real - virtual| over learning and over evaluation motions, degrees."""
    error = np.degrees(np.abs(virtual - _real(motions)))
    error = np.where(np.isfinite(error), error, np.inf)
    parts = error[:, :LEARNING], error[:, LEARNING:]
    return np.array([f(part) for part in parts for f in (np.mean, np.max)])


def _draw(motions: Sequence[ArmMotion], virtual: Array, path: Path) -> None:
    real = _real(motions)
    figure, axes = plt.subplots(2, 1, figsize=(12, 6), sharex=True)
    clock = np.arange(real.shape[0] * real.shape[1]) * _every(motions, STEP) / motions[0].rate
    for joint, axis in enumerate(axes):
        for q, style, label in ((real, "-", "real"), (virtual, "--", "virtual")):
            axis.plot(clock, np.degrees(q[..., joint].T.ravel()), style, lw=0.8, label=label)
        axis.axvline(LEARNING * real.shape[0] * _every(motions, STEP) / motions[0].rate, color="grey")
        axis.set_ylabel(f"joint {joint + 1}, degrees")
    axes[0].legend(loc="upper right")
    axes[1].set_xlabel("s; left of the line the learning motions")
    figure.savefig(path, dpi=120)
    plt.close(figure)
