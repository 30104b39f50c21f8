"""Tables 1 and 2 and figure 6: kinematics of the arm from noisy tips and angles.

The paper prints errors of one draw of the noise. Here their root mean square over many draws is printed as
well, and the Cramér-Rao bound, which no unbiased method can fall below.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from accelerometers import sensed_tip
from motions import MEANS, SEED, block_means
from numpy.typing import NDArray
from paper_searches import KINEMATIC_GENERATIONS, genetic_search, nelder_mead, newton_raphson
from report import add_row, begin_case, begin_table, check, compare, never_worse, root_mean_square, show
from scipy.optimize import approx_fprime
from scipy.special import erf
from tables import KINEMATIC

sys.path.insert(0, str(Path(__file__).parents[1]))
from small_pictures import save_picture

from simbench.calibration.arm_recording import ArmMotion, TipMotion
from simbench.calibration.kinematic_calibration import calibrate_kinematics, tip_position
from simbench.robot.dh import BASE, DhJoint, DhTable, HayatiRow

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Array = NDArray[np.float64]
Missed = Callable[[Array], Array]

NAMES = ("joint1.a", "joint2.alpha", "joint2.a", "joint2.beta")
COLUMNS = ("a1, mm", "alpha2, deg", "a2, mm", "beta2, deg")
LENGTHS = np.array([0.25, 0.0, 0.30, 0.0])
UNITS = np.array([1e3, 180 / np.pi, 1e3, 180 / np.pi])
LOW, HIGH = np.array([0.0, -0.5, 0.0, -0.5]), np.array([1.0, 0.5, 1.0, 0.5])
NEAR, FAR = 0.2, 3.0
"""Boxes around the true values in which searches start, rad and m."""
DEGREES, MILLIMETRES = (0, 1, 3, 10, 15), (0, 1, 10, 30)
DRAWS, SEARCHED, STEP = 30, 3, 1e-6
"""Number of noise draws in the cells that the paper prints; in the other cells, and of the searches."""
STARTS, SHOWN = 20, (1, 10, 30, 100, 300, 500)
"""Runs of each method in figure 6, and the generations or steps that are tabulated."""
COLOURS = {"no start": "tab:blue", "near": "tab:green", "far": "tab:red"}
RATIO, GENETIC_MM = 2.0, 1.0
"""Bounds: RMS error over the Cramér-Rao bound, for which few draws make some room; tip error, mm."""
SENSORS = 0.1
"""Noise of the accelerometers in table 2, m/s²."""


def planar(a1: float, alpha2: float, a2: float, beta2: float) -> DhTable:
    """Build the arm's table from the four calibrated parameters, m and rad."""
    second = HayatiRow(alpha=alpha2, beta=beta2, a=a2)
    return DhTable((DhJoint("joint1", BASE, HayatiRow(a=a1)), DhJoint("joint2", "joint1", second)))


def table_1(
    motions: Sequence[ArmMotion],
    draws: int = DRAWS,
    degrees: Sequence[int] = DEGREES,
    millimetres: Sequence[int] = MILLIMETRES,
) -> list[str]:
    """Print table 1: parameter errors over a grid of noise levels.

    Parameters
    ----------
    motions : sequence of ArmMotion
        Motions without noise.
    draws : int
        Number of noise draws in the cells that the paper prints.
    degrees : sequence of int
        Noise levels of the angles, degrees.
    millimetres : sequence of int
        Noise levels of the tip positions, mm.

    Returns
    -------
    list of str
        Cells in which the root mean square is larger than another method's.
    """
    clean = [TipMotion(each.rate, each.q, tip_position(planar(*LENGTHS), each.q)) for each in motions]
    cases, ours, corners = [], {}, []
    for by_angle in degrees:
        for by_tip in millimetres:
            cell = by_tip, by_angle
            count = 1 if not any(cell) else draws if cell in KINEMATIC else min(draws, SEARCHED)
            for draw in range(count):
                # The first draw is the same for any number of draws.
                rng = np.random.default_rng([SEED, by_angle, by_tip, *([draw] if draw else [])])
                seen = _seen(clean, np.radians(by_angle), 1e-3 * by_tip, rng) if any(cell) else clean
                errors = _error(_least_squares(seen, averaged=any(cell)))
                ours.setdefault(cell, []).append(errors)
                if draw < SEARCHED:
                    cases.append((cell, draw))
                    corners.append(corner_of(*_stacked(seen)))
    others = searches(np.array(corners), [draw for _, draw in cases])
    begin_table("Table 1: |error| of a1 mm, alpha2 deg, a2 mm, beta2 deg", COLUMNS, "table 1")
    missed, seconds, theirs = [], [], []
    for cell, errors in ours.items():
        noise, where = (np.radians(cell[1]), 1e-3 * cell[0]), f"{cell[0]} mm, {cell[1]} deg"
        begin_case(where)
        if cell in KINEMATIC:
            seconds.append(_beside_paper(clean, noise, errors, np.array(KINEMATIC[cell])))
            theirs.append(np.abs(KINEMATIC[cell] - LENGTHS) * [1e3, 1.0, 1e3, 1.0])
        else:
            show(f"least squares, RMS of {len(errors)}", root_mean_square(errors), 5)
        rows = [k for k, case in enumerate(cases) if case[0] == cell]
        found = {name: [_error(values[k]) for k in rows] for name, values in others.items()}
        missed += [f"{where}: {each}" for each in never_worse("least squares", errors[: len(rows)], found, 5)]
    if seconds:
        _check_errors(np.array(seconds), np.array(theirs))
    return missed


def _check_errors(ours: Array, paper: Array) -> None:
    """Hold RMS errors (k, 2, 4), ours and those at the bound, to the bound and to the paper's (k, 4)."""
    for column, name in ((0, "a1"), (2, "a2")):
        noisy = ours[:, 1, column] > 0.0
        ratio = (ours[noisy, 0, column] / ours[noisy, 1, column]).max(initial=0.0)
        check(f"table 1: RMS error of {name} over the Cramér-Rao bound, worst cell", ratio, RATIO, "set")
        check(
            f"table 1: RMS error of {name}, mm, worst cell",
            ours[:, 0, column].max(),
            np.abs(paper[:, column]).min(),
            "the paper's smallest",
        )


def _stacked(seen: Sequence[TipMotion]) -> tuple[Array, Array]:
    return np.concatenate([each.q for each in seen]), np.concatenate([each.tip for each in seen])


def _seen(
    clean: Sequence[TipMotion], angle_noise: float, tip_noise: float, rng: np.random.Generator
) -> list[TipMotion]:
    """Add noise to angles, rad, and tips, m."""
    return [
        TipMotion(
            each.rate,
            each.q + angle_noise * rng.normal(size=each.q.shape),
            each.tip + tip_noise * rng.normal(size=each.tip.shape),
        )
        for each in clean
    ]


def _least_squares(seen: Sequence[TipMotion], averaged: bool) -> Array:
    """Calibrate by least squares, from means of neighbouring samples where there is noise."""
    if averaged:
        seen = [
            TipMotion(each.rate / MEANS, block_means(each.q, MEANS), block_means(each.tip, MEANS))
            for each in seen
        ]
    return calibrate_kinematics(planar(1.0, 0.3, 0.1, -0.2), NAMES, seen).values


def _error(values: Array) -> Array:
    return np.asarray((values - LENGTHS) * UNITS)


def _beside_paper(
    clean: Sequence[TipMotion], noise: tuple[float, float], ours: list[Array], paper: Array
) -> Array:
    """Print a cell with the paper's and with the bound; return our RMS and the bound (2, 4)."""
    theirs = np.abs(paper - LENGTHS) * [1e3, 1.0, 1e3, 1.0]
    compare("least squares, first draw", ours[0], theirs, 5)
    rms = root_mean_square(ours)
    if not any(noise):
        return np.array([rms, np.zeros(4)])
    sure = least_deviations(np.concatenate([each.q for each in clean]), *noise) * UNITS
    show(f"least squares, RMS of {len(ours)}", rms, 5)
    show("    no method below (Cramer-Rao)", sure, 5)
    show("    % of draws within the paper's", 100 * np.mean(np.abs(ours) <= theirs, axis=0), 0)
    show("    % that would be at the bound", 100 * erf(theirs / (np.sqrt(2) * sure)), 0)
    return np.array([rms, sure])


def least_deviations(q: Array, angle_noise: float, tip_noise: float) -> Array:
    """Compute the Cramér-Rao bound (4,) on the deviations of a1, alpha2, a2, beta2, m and rad.

    The true angles of every sample are unknown as well, without any prior. The information is Σ Dᵀ (σ_t² E +
    σ_q² J Jᵀ)⁻¹ D, with the tip's derivatives D by the parameters and J by the angles (Fuller 1987, §3.1).

    Parameters
    ----------
    q : (T, 2) array
        Joint angles, rad.
    angle_noise : float
        Standard deviation of the angles, rad.
    tip_noise : float
        Standard deviation of the tip positions, m.
    """
    few = q[::10]
    by_numbers = _slopes(lambda change: tip_position(planar(*(LENGTHS + change)), few), 4)
    by_angles = _slopes(lambda change: tip_position(planar(*LENGTHS), few + change), 2)
    spread = tip_noise**2 * np.eye(3) + angle_noise**2 * by_angles @ by_angles.swapaxes(1, 2)
    weighed = np.einsum("tia,tij,tjb->ab", by_numbers, np.linalg.inv(spread), by_numbers)
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(weighed)) * len(few) / len(q)))


def _slopes(of: Callable[[Array], Array], count: int) -> Array:
    return np.stack([(of(STEP * way) - of(-STEP * way)) / (2 * STEP) for way in np.eye(count)], axis=-1)


def searches(corners: Array, seeds: Sequence[int]) -> dict[str, Array]:
    """Apply the paper's three methods to many cases (k, 6, 6); two of them start near the true values."""
    missed = missed_by(corners)
    genetic = genetic_search(
        lambda x: np.sum(missed(x) ** 2, axis=-1), LOW, HIGH, KINEMATIC_GENERATIONS, seeds[0], (len(corners),)
    )[0]
    newton, simplex = [], []
    for corner, seed in zip(corners, seeds, strict=True):
        start = LENGTHS + np.random.default_rng(seed).uniform(-NEAR, NEAR, 4)
        of, squared = _of_one(corner)
        newton.append(newton_raphson(of, lambda x, f=of: approx_fprime(x, f, 1e-7), start))
        simplex.append(nelder_mead(squared, start))
    return {"genetic": genetic, "Newton-Raphson": np.array(newton), "Nelder-Mead": np.array(simplex)}


def _of_one(corner: Array) -> tuple[Missed, Callable[[Array], float]]:
    missed = missed_by(corner)
    return missed, lambda x: float(np.sum(missed(x) ** 2))


def corner_of(q: Array, tip: Array) -> Array:
    """Reduce angles and tips to a triangular matrix (6, 6) with the same sum of squares of tip residuals.

    In the frame of link 1, the tip is linear in 1, cos and sin of joint 2.
    """
    c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
    x, y = c * tip[:, 0] + s * tip[:, 1], c * tip[:, 1] - s * tip[:, 0]
    columns = [np.ones(len(q)), np.cos(q[:, 1]), np.sin(q[:, 1]), x, y, tip[:, 2]]
    return np.linalg.qr(np.stack(columns, axis=1), mode="r")


def missed_by(corners: Array) -> Missed:
    """Make the function from a1, alpha2, a2, beta2 (..., m, 4) to tip residuals (..., m, 18), m.

    `corners`: (..., 6, 6), or (6, 6) for unknowns (4,) or (m, 4).
    """
    by_angle, by_tip = corners[..., :3].swapaxes(-1, -2), corners[..., 3:].swapaxes(-1, -2)
    if corners.ndim > 2:
        by_angle, by_tip = by_angle[..., None, :, :], by_tip[..., None, :, :]

    def missed(values: Array) -> Array:
        a1, alpha, a2, beta = np.moveaxis(values, -1, 0)
        ca, sa, cb, sb, none = np.cos(alpha), np.sin(alpha), np.cos(beta), np.sin(beta), np.zeros_like(a1)
        axes = [[a1, a2 * cb, a2 * sb * sa], [none, none, a2 * ca], [none, -a2 * sb, a2 * cb * sa]]
        factors = np.stack([np.stack(axis, axis=-1) for axis in axes], axis=-2)
        off = factors @ by_angle - by_tip
        return np.asarray(off.reshape(*off.shape[:-2], 18))

    return missed


def table_2(motions: Sequence[ArmMotion]) -> None:
    """Print table 2, the calibration of a real arm: here of one whose accelerometers are simulated."""
    rng = np.random.default_rng(SEED)
    seen = [sensed_tip(each, SENSORS, 0.0, rng) for each in motions]
    found = {
        "least squares": _least_squares(seen, averaged=True),
        "genetic": searches(corner_of(*_stacked(seen))[None], [SEED])["genetic"][0],
    }
    title = "Table 2: recorded by accelerometers; |error| of a1 mm, alpha2 deg, a2 mm, beta2 deg"
    begin_table(title, COLUMNS, "table 2")
    begin_case(f"noise {SENSORS} m/s2")
    paper = np.array([0.245785 - 0.25, -0.000024, 0.303113 - 0.30, -0.003617]) * [1e3, 1.0, 1e3, 1.0]
    for name, values in found.items():
        show(name, np.abs(_error(values)), 5)
    show("    paper, of the real arm", np.abs(paper), 5)
    for column, name in ((0, "a1"), (2, "a2")):
        error = np.abs(_error(found["least squares"])[column])
        check(f"table 2: error of {name}, mm", error, np.abs(paper[column]), "the paper's")


def figure_6(motions: Sequence[ArmMotion], out: Path) -> None:
    """Tabulate and draw the convergence of the three methods from random starts, good and bad.

    The genetic algorithm needs no start: its runs differ by their seeds.
    """
    q = np.concatenate([each.q for each in motions])
    tip = tip_position(planar(*LENGTHS), q)
    corner, count = corner_of(q, tip), len(q)
    missed, squared = _of_one(corner)
    rng = np.random.default_rng(SEED)
    best, history = genetic_search(
        lambda x: np.sum(missed_by(np.tile(corner, (STARTS, 1, 1)))(x) ** 2, axis=-1),
        LOW,
        HIGH,
        KINEMATIC_GENERATIONS,
        SEED,
        (STARTS,),
    )
    curves = {"genetic, no start": [1e3 * np.sqrt(each / count) for each in history.T]}
    found = {"genetic, no start": [_error(each) for each in best]}
    for name, box in (("near", NEAR), ("far", FAR)):
        starts = LENGTHS + rng.uniform(-box, box, (STARTS, 4))
        for method in ("Nelder-Mead", "Newton-Raphson"):
            for start in starts:
                steps = [start]
                if method == "Nelder-Mead":
                    end = nelder_mead(squared, start, steps.append)
                else:
                    end = newton_raphson(
                        missed, lambda x: approx_fprime(x, missed, 1e-7), start, on_step=steps.append
                    )
                curve = [1e3 * np.sqrt(squared(np.asarray(x)) / count) for x in steps]
                curves.setdefault(f"{method}, {name}", []).append(np.array(curve))
                found.setdefault(f"{method}, {name}", []).append(_error(end))
    title = f"Figure 6: RMS tip error, mm, median of {STARTS} runs, after so many generations or steps"
    begin_table(title, (*map(str, SHOWN), "within 1 mm and 0.1 deg"), "figure 6")
    for name, runs in curves.items():
        at = [np.median([run[min(step, len(run)) - 1] for run in runs]) for step in SHOWN]
        good = [bool(np.all(np.abs(each) < [1, 0.1, 1, 0.1])) for each in found[name]]
        reached = f"{sum(good)} of {len(good)}"
        line = [f"{each:.3g}" for each in at]
        print(f"  {name:<36}" + " ".join(f"{each:>10}" for each in (*line, reached)))
        add_row([name, *line, reached])
    last = np.array([run[-1] for run in curves["genetic, no start"]])
    check("figure 6: genetic algorithm, worst of all runs, mm", last.max(), GENETIC_MM, "set")
    _draw(curves, out / "ohtsuki_figure6.png")


def _draw(curves: dict[str, list[Array]], path: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for name, runs in curves.items():
        axis = axes[int(name.startswith("Newton"))]
        colour = COLOURS[name.split(", ")[1]]
        for k, run in enumerate(runs):
            label = name if k == 0 else None
            axis.loglog(np.arange(1, len(run) + 1), run, color=colour, lw=0.7, alpha=0.6, label=label)
    for axis, title in zip(axes, ("(a) genetic and Nelder-Mead", "(b) Newton-Raphson"), strict=True):
        axis.set(title=title, xlabel="generation or step", ylim=(1e-3, 1e5))
        axis.legend(loc="upper right", fontsize=8)
    axes[0].set_ylabel("RMS error of the tip, mm")
    save_picture(figure, path)
    plt.close(figure)
