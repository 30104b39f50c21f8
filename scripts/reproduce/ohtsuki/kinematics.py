"""Table 1 and figure 6: kinematics of the arm from noisy tips and angles.

The paper prints errors of one draw of the noise. Here their root mean square over many draws is printed as
well, and the Cramér-Rao bound, which no unbiased method can fall below.
"""

from collections.abc import Callable, Sequence

import numpy as np
from motions import SEED
from numpy.typing import NDArray
from paper_searches import KINEMATIC_GENERATIONS, genetic_search, nelder_mead, newton_raphson
from report import add_row, begin_case, begin_table, compare, never_worse, root_mean_square, show
from scipy.optimize import approx_fprime
from scipy.special import erf
from tables import KINEMATIC

from simbench.calibration.arm_recording import ArmMotion, TipMotion
from simbench.calibration.kinematic_calibration import calibrate_kinematics, tip_position
from simbench.robot.dh import BASE, DhJoint, DhTable, HayatiRow

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
DRAWS, SEARCHED, STEP = 30, 10, 1e-6
"""Number of noise draws in the cells that the paper prints; in the other cells, and of the searches."""


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
        Cells in which the error of the first draw or the root mean square is larger than the paper's, or the
        root mean square larger than another method's.
    """
    begin_table("Table 1: |error| of a1 mm, alpha2 deg, a2 mm, beta2 deg", COLUMNS, "table 1")
    clean = [TipMotion(each.rate, each.q, tip_position(planar(*LENGTHS), each.q)) for each in motions]
    found = []
    for by_angle in degrees:
        for by_tip in millimetres:
            found += _cell(clean, by_angle, by_tip, draws)
    return found


def _cell(clean: Sequence[TipMotion], by_angle: int, by_tip: int, draws: int) -> list[str]:
    paper = KINEMATIC.get((by_tip, by_angle))
    noise = np.radians(by_angle), 1e-3 * by_tip
    errors: dict[str, list[Array]] = {}
    count = 1 if not any(noise) else min(draws, SEARCHED) if paper is None else draws
    for draw in range(count):
        # The first draw is the same for any number of draws.
        rng = np.random.default_rng([SEED, by_angle, by_tip, *([draw] if draw else [])])
        seen = [
            TipMotion(
                each.rate,
                each.q + noise[0] * rng.normal(size=each.q.shape),
                each.tip + noise[1] * rng.normal(size=each.tip.shape),
            )
            for each in clean
        ]
        found = calibrate_kinematics(planar(1.0, 0.3, 0.1, -0.2), NAMES, seen).values
        others = _searches(seen, draw) if draw < SEARCHED else {}
        for name, values in {"least squares": found, **others}.items():
            errors.setdefault(name, []).append((values - LENGTHS) * UNITS)
    ours, where = errors.pop("least squares"), f"{by_tip} mm, {by_angle} deg"
    begin_case(where)
    missed = [] if paper is None else _beside_paper(clean, noise, ours, np.array(paper))
    if paper is None:
        show(f"least squares, RMS of {len(ours)}", root_mean_square(ours), 5)
    return [f"{where}: {each}" for each in missed + never_worse("least squares", ours[:SEARCHED], errors, 5)]


def _beside_paper(
    clean: Sequence[TipMotion], noise: tuple[float, float], ours: list[Array], paper: Array
) -> list[str]:
    """Print a cell with the paper's and with the bound; return what is larger than the paper's."""
    theirs = np.abs(paper - LENGTHS) * [1e3, 1.0, 1e3, 1.0]
    missed = compare("least squares, first draw", ours[0], theirs, 5)
    if not any(noise):
        return missed
    sure = least_deviations(np.concatenate([each.q for each in clean]), *noise) * UNITS
    missed += compare(f"least squares, RMS of {len(ours)}", root_mean_square(ours), theirs, 5)
    show("    no method below (Cramer-Rao)", sure, 5)
    show("    % of draws within the paper's", 100 * np.mean(np.abs(ours) <= theirs, axis=0), 0)
    show("    % that would be at the bound", 100 * erf(theirs / (np.sqrt(2) * sure)), 0)
    return missed


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


def _searches(seen: Sequence[TipMotion], seed: int) -> dict[str, Array]:
    """Apply the paper's three methods to all samples; two of them start near the true values."""
    missed = missed_by(np.concatenate([each.q for each in seen]), np.concatenate([each.tip for each in seen]))
    start = LENGTHS + np.random.default_rng(seed).uniform(-NEAR, NEAR, 4)
    return {
        "genetic": genetic_search(
            lambda unknowns: np.sum(missed(unknowns) ** 2, axis=-1), LOW, HIGH, KINEMATIC_GENERATIONS, seed
        )[0],
        "Newton-Raphson": newton_raphson(missed, lambda x: approx_fprime(x, missed, 1e-7), start),
        "Nelder-Mead": nelder_mead(lambda x: float(np.sum(missed(x) ** 2)), start),
    }


def missed_by(q: Array, tip: Array) -> Missed:
    """Make the function from a1, alpha2, a2, beta2 (..., 4) to tip residuals (..., 18), m.

    In the frame of link 1, the tip is linear in 1, cos and sin of joint 2, so that a triangular matrix of six
    rows gives the same sum of squares as all samples.
    """
    c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
    x, y = c * tip[:, 0] + s * tip[:, 1], c * tip[:, 1] - s * tip[:, 0]
    columns = [np.ones(len(q)), np.cos(q[:, 1]), np.sin(q[:, 1]), x, y, tip[:, 2]]
    corner = np.linalg.qr(np.stack(columns, axis=1), mode="r")

    def missed(values: Array) -> Array:
        a1, alpha, a2, beta = np.moveaxis(values, -1, 0)
        ca, sa, cb, sb, none = np.cos(alpha), np.sin(alpha), np.cos(beta), np.sin(beta), np.zeros_like(a1)
        axes = [[a1, a2 * cb, a2 * sb * sa], [none, none, a2 * ca], [none, -a2 * sb, a2 * cb * sa]]
        factors = np.stack([np.stack(axis, axis=-1) for axis in axes], axis=-2)
        off = factors @ corner[:, :3].T - corner[:, 3:].T
        return np.asarray(off.reshape(*off.shape[:-2], 18))

    return missed


def figure_6(motions: Sequence[ArmMotion]) -> None:
    """Print from how many good and bad starts Newton-Raphson and Nelder-Mead find the parameters."""
    q = np.concatenate([each.q for each in motions])
    missed = missed_by(q, tip_position(planar(*LENGTHS), q))
    rng = np.random.default_rng(SEED)
    title = "Figure 6: of 20 random starts, those from which a search comes within 1 mm and 0.1 deg"
    begin_table(title, ("Newton-Raphson", "Nelder-Mead"), "figure 6")
    for name, box in (("near", NEAR), ("far", FAR)):
        starts = LENGTHS + rng.uniform(-box, box, (20, 4))
        newton = [newton_raphson(missed, lambda x: approx_fprime(x, missed, 1e-7), s) for s in starts]
        simplex = [nelder_mead(lambda x: float(np.sum(missed(x) ** 2)), s) for s in starts]
        good = [
            sum(bool(np.all(np.abs((x - LENGTHS) * UNITS) < [1, 0.1, 1, 0.1])) for x in each)
            for each in (newton, simplex)
        ]
        print(f"  {name}: Newton-Raphson {good[0]}, Nelder-Mead {good[1]}")
        add_row([f"starts {name} the true values", *map(str, good)])
