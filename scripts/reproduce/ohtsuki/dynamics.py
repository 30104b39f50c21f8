"""Tables 3 to 6: dynamics of the arm from noisy angles, other gains, other laws and fewer samples."""

from collections.abc import Callable, Sequence

import numpy as np
from motions import LAW, LEARNING, SEED, averaged, fewer, integrated, noisy
from numpy.typing import NDArray
from paper_searches import DYNAMIC_GENERATIONS, genetic_search, nelder_mead, newton_raphson
from report import add_note, begin_case, begin_table, check, compare, never_worse, root_mean_square, show
from tables import DRIVE, DYNAMIC, GAINS, LAWS, ORDER, SAMPLES, TABLE3, TRUE

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.calibration.dynamic_calibration import (
    BaseParameters,
    StackedEquations,
    calibrate_dynamics,
    with_motors,
)
from simbench.dynamics.arm import Arm

Array = NDArray[np.float64]

LOW, HIGH = np.array([0, -1, -1, 0, 0, -1, -1, -1.0]), np.array([4, 1, 1, 2, 4, 1, 1, 1.0])
DRAWS, FEW, SHORT = 10, 300_000, 60_000
"""Number of noise draws; number of samples of tables 4 and 5, in total and per motion."""
PRINTED = GAINS | LAWS
LEVELS = (0, 3, 5, 10)


def least_squares(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> Array:
    """Calibrate with drives of unknown inertia; return the base parameters (9,), SI units."""
    return calibrate_dynamics(with_motors(arm), motions, law).values


def equations(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> Array:
    """Reduce the torque errors of the motions to a triangular matrix (9, 9) with the same sum of squares."""
    rows = StackedEquations(arm, BaseParameters(arm), motions, law)
    return np.linalg.qr(np.column_stack([rows.matrix, rows.torque]), mode="r")


def searches(corners: Array, seeds: Sequence[int]) -> dict[str, Array]:
    """Calibrate with the paper's method and those it compares: minimise the squared torque errors.

    Takes `equations` of many cases (k, 9, 9). Returns the paper's eight parameters (k, 8) by name of the
    method; Newton-Raphson and Nelder-Mead start at random in the box of the genetic algorithm.
    """

    def squared(candidates: Array) -> Array:
        missed = candidates @ corners[:, :, :-1].swapaxes(1, 2) - corners[:, None, :, -1]
        return np.einsum("kpi,kpi->kp", missed, missed)

    found: dict[str, list[Array]] = {"Newton-Raphson": [], "Nelder-Mead": []}
    for corner, seed in zip(corners, seeds, strict=True):
        matrix, torque = corner[:, :-1], corner[:, -1]
        start = np.random.default_rng(seed).uniform(LOW, HIGH)
        found["Newton-Raphson"].append(newton_raphson(_missed(matrix, torque), lambda _, m=matrix: m, start))
        missed = _missed(matrix, torque)
        found["Nelder-Mead"].append(nelder_mead(lambda x, f=missed: float(f(x) @ f(x)), start))
    genetic = genetic_search(squared, LOW, HIGH, DYNAMIC_GENERATIONS, seeds[0], (len(corners),))[0]
    return {"genetic": genetic, **{name: np.array(values) for name, values in found.items()}}


def _missed(matrix: Array, torque: Array) -> Callable[[Array], Array]:
    return lambda x: matrix @ x - torque


def table_3(
    arm: Arm, motions: Sequence[ArmMotion], draws: int = DRAWS, levels: Sequence[int] = LEVELS
) -> tuple[list[str], dict[str, Array]]:
    """Print table 3: noise of the angles, in degrees (as in its caption) or % of their range (as in its
    head).

    Parameters
    ----------
    arm : Arm
        The paper's arm.
    motions : sequence of ArmMotion
        Motions without noise.
    draws : int
        Number of noise draws.
    levels : sequence of int
        Noise levels, a subset of the paper's.

    Returns
    -------
    missed : list of str
        Cells in which the root mean square is larger than another method's (without noise, larger than a
        tenth of it).
    found : dict
        Parameters of the first draws by method.
    """
    span = np.ptp(np.concatenate([each.q for each in motions]), axis=0)
    cases = [
        (level, unit, sigma, draw)
        for level in levels
        for unit, sigma in (("deg", np.radians(level)), ("% of range", level / 100 * span))[
            : 2 if level else 1
        ]
        for draw in range(draws if level else 1)
    ]
    ours: dict[tuple[int, str], list[Array]] = {}
    kept, corners = {}, []
    for level, unit, sigma, draw in cases:
        rng = np.random.default_rng([SEED, level, *([draw] if draw else [])])
        seen = noisy(motions, sigma, rng) if level else motions
        values = least_squares(arm, averaged(seen) if level else fewer(seen, FEW), LAW)
        ours.setdefault((level, unit), []).append(cells(values))
        corners.append(equations(arm, seen, LAW))
        if draw == 0:
            kept[f"{level} {unit}, least squares"] = values
    others = searches(np.array(corners), [draw for *_, draw in cases])
    for name, found in others.items():
        kept |= {
            f"{level} {unit}, {name}": values
            for (level, unit, _, draw), values in zip(cases, found, strict=True)
            if draw == 0
        }
    begin_table(f"Table 3: noise of angles; |error| of {', '.join(DYNAMIC)}", DYNAMIC, "table 3")
    missed = []
    for (level, unit), found in ours.items():
        rows = [i for i, case in enumerate(cases) if case[:2] == (level, unit)]
        errors = {name: [cells(values[i]) for i in rows] for name, values in others.items()}
        begin_case(f"{level} {unit}")
        compare("least squares, first draw", found[0], _theirs(TABLE3[level]))
        if level:
            show(f"least squares, RMS of {len(found)}", root_mean_square(found))
        lines = never_worse("least squares", found, errors)
        missed += [f"table 3, {level} {unit}: {each}" for each in lines]
        if level == 0:
            missed += _ten_times(found[0], errors)
    noisy_ones = [found for (level, _), found in ours.items() if level]
    worst = np.max([root_mean_square(found) for found in noisy_ones], axis=0)[: len(ORDER)]
    paper = np.max([np.abs(_theirs(TABLE3[level])) for level in levels if level], axis=0)[: len(ORDER)]
    for columns, name in ((slice(0, 4), "inertia"), (slice(4, 8), "friction")):
        check(
            f"table 3: largest RMS error of the four parameters of {name} under noise",
            worst[columns].max(),
            paper[columns].max(),
            "the paper's largest error",
        )
    return missed, kept


def _ten_times(ours: Array, others: dict[str, list[Array]]) -> list[str]:
    """Print how much more accurate least squares are without noise; Newton-Raphson solves the same."""
    missed = []
    for name, (errors,) in others.items():
        factor = float(np.min(np.abs(errors[: len(ORDER)]) / np.abs(ours[: len(ORDER)])))
        add_note(f"least squares: at least {factor:.3g} times as accurate as {name}")
        if name != "Newton-Raphson" and factor < 10.0:
            missed.append(f"table 3, without noise: not ten times as accurate as {name}")
    return missed


def table_6(arm: Arm, motions: Sequence[ArmMotion], counts: Sequence[int] = tuple(SAMPLES)) -> list[str]:
    """Print table 6, numbers of samples; return cells in which the paper or another method is better."""
    rows = [(f"{count} samples", fewer(motions, count), LAW, SAMPLES[count]) for count in counts]
    return _clean_table("Table 6: number of samples", arm, rows)


def tables_4_and_5(
    arm: Arm,
    motions: Sequence[ArmMotion],
    length: int = SHORT,
    gains: Sequence[tuple[float, ...]] = tuple(GAINS),
    laws: Sequence[tuple[float, ...]] = tuple(LAWS),
) -> tuple[list[str], dict[tuple[float, ...], Array]]:
    """Print tables 4 and 5 in both interpretations.

    Parameters
    ----------
    arm : Arm
        The paper's arm.
    motions : sequence of ArmMotion
        Motions under the paper's law.
    length : int
        Number of samples of a motion under another law.
    gains : sequence of tuple of float
        Gains, a subset of the paper's.
    laws : sequence of tuple of float
        Gains of other laws, a subset of the paper's.

    Returns
    -------
    missed : list of str
        Cells whose error is larger than the paper's or another method's if the arm is driven by the law.
    taken : dict
        Apparent parameters for each assumed law that is not the arm's.
    """
    missed, taken = [], {}
    few = fewer(motions, FEW)
    for title, chosen in (("Table 4: gains", gains), ("Table 5: laws", laws)):
        source = title.partition(":")[0].lower()
        rows = []
        for numbers in chosen:
            law = Feedback(*numbers)
            rows.append((f"{numbers}", integrated(law, LEARNING, length, every=1), law, PRINTED[numbers]))
        missed += _clean_table(f"{title}, driven by them", arm, rows)
        begin_table(f"{title}, driven by 9.5, -9.5 but taken for them", DYNAMIC, source)
        for numbers in chosen:
            taken[numbers] = least_squares(arm, few, Feedback(*numbers))
            compare(f"{numbers}", cells(taken[numbers]), _theirs(PRINTED[numbers]))
    return missed, taken


def _clean_table(
    title: str, arm: Arm, rows: Sequence[tuple[str, Sequence[ArmMotion], Feedback, Sequence[float]]]
) -> list[str]:
    """Print a table of motions without noise: case, motions, law, and the paper's parameters of each row."""
    ours = [cells(least_squares(arm, seen, law)) for _, seen, law, _ in rows]
    others = searches(np.array([equations(arm, seen, law) for _, seen, law, _ in rows]), [SEED] * len(rows))
    source = title.partition(":")[0].lower()
    begin_table(title, DYNAMIC, source)
    missed = []
    for i, (case, _, _, paper) in enumerate(rows):
        begin_case(case)
        errors = {name: [cells(values[i])] for name, values in others.items()}
        lines = compare("least squares", ours[i], _theirs(paper))
        lines += never_worse("least squares", [ours[i]], errors)
        missed += [f"{title}, {case}: {each}" for each in lines]
    shown = np.array(ours)[:, : len(ORDER)]
    theirs = np.array([_theirs(paper) for *_, paper in rows])[:, : len(ORDER)]
    check(f"{title}: largest error", np.abs(shown).max(), np.abs(theirs).min(), "the paper's smallest")
    return missed


def cells(values: Array) -> Array:
    """Put errors of base parameters in the paper's order, the drive of joint 2 last if there is one."""
    if len(values) == len(TRUE):
        return np.append((values - TRUE)[ORDER], np.nan)
    return np.append((np.delete(values, DRIVE) - TRUE)[ORDER], values[DRIVE])


def _theirs(paper: Sequence[float]) -> Array:
    return np.append(np.array(paper) - TRUE[ORDER], np.nan)
