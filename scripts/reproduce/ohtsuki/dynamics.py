"""Tables 3 to 6: dynamics of the arm from noisy angles, other gains, other laws and fewer samples."""

from collections.abc import Callable, Sequence

import numpy as np
from motions import LAW, LEARNING, SEED, fewer, noisy, record
from numpy.typing import NDArray
from paper_searches import DYNAMIC_GENERATIONS, genetic_search, nelder_mead, newton_raphson
from report import add_note, begin_case, begin_table, compare, never_worse, root_mean_square, show
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


def searches(arm: Arm, motions: Sequence[ArmMotion], law: Feedback, seed: int) -> dict[str, Array]:
    """Calibrate with the paper's method and those it compares: minimise the squared torque error of the
    motions.

    Returns the paper's eight parameters by name of the method; Newton-Raphson and Nelder-Mead start at random
    in the box of the genetic algorithm.
    """
    rows = StackedEquations(arm, BaseParameters(arm), motions, law)
    corner = np.linalg.qr(np.column_stack([rows.matrix, rows.torque]), mode="r")
    missed: Callable[[Array], Array] = lambda x: x @ corner[:, :-1].T - corner[:, -1]  # noqa: E731
    start = np.random.default_rng(seed).uniform(LOW, HIGH)
    return {
        "genetic": genetic_search(
            lambda x: np.sum(missed(x) ** 2, axis=-1), LOW, HIGH, DYNAMIC_GENERATIONS, seed
        )[0],
        "Newton-Raphson": newton_raphson(missed, lambda _: corner[:, :-1], start),
        "Nelder-Mead": nelder_mead(lambda x: float(np.sum(missed(x) ** 2)), start),
    }


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
        Cells in which the error of the first draw is larger than the paper's, or the root mean square larger
        than another method's (without noise, larger than a tenth of it).
    found : dict
        Parameters of the first draws by method.
    """
    begin_table(f"Table 3: noise of angles; |error| of {', '.join(DYNAMIC)}", DYNAMIC, "table 3")
    missed, kept = [], {}
    span = np.ptp(np.concatenate([each.q for each in motions]), axis=0)
    for level in levels:
        for unit, sigma in (("deg", np.radians(level)), ("% of range", level / 100 * span)):
            errors: dict[str, list[Array]] = {}
            for draw in range(draws if level else 1):
                rng = np.random.default_rng([SEED, level, *([draw] if draw else [])])
                seen = noisy(motions, sigma, rng)
                found = {"least squares": least_squares(arm, seen, LAW), **searches(arm, seen, LAW, draw)}
                for name, values in found.items():
                    errors.setdefault(name, []).append(cells(values))
                if draw == 0:
                    kept |= {f"{level} {unit}, {name}": values for name, values in found.items()}
            ours = errors.pop("least squares")
            begin_case(f"{level} {unit}")
            lines = compare("least squares, first draw", ours[0], _theirs(TABLE3[level]))
            if level:
                show(f"least squares, RMS of {len(ours)}", root_mean_square(ours))
            lines += never_worse("least squares", ours, errors)
            missed += [f"table 3, {level} {unit}: {each}" for each in lines]
            if level == 0:
                missed += _ten_times(ours[0], errors)
                break
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
    begin_table("Table 6: number of samples", DYNAMIC, "table 6")
    missed = []
    for count in counts:
        begin_case(f"{count} samples")
        lines = _clean_row(arm, fewer(motions, count), LAW, SAMPLES[count])
        missed += [f"table 6, {count}: {each}" for each in lines]
    return missed


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
    for title, chosen in (("Table 4: gains", gains), ("Table 5: laws", laws)):
        source = title.partition(":")[0].lower()
        begin_table(f"{title}, driven by them", DYNAMIC, source)
        for numbers in chosen:
            law = Feedback(*numbers)
            begin_case(f"{numbers}")
            lines = _clean_row(arm, record(law, LEARNING, length), law, PRINTED[numbers])
            missed += [f"{title}, {numbers}: {each}" for each in lines]
        begin_table(f"{title}, driven by 9.5, -9.5 but taken for them", DYNAMIC, source)
        for numbers in chosen:
            taken[numbers] = least_squares(arm, fewer(motions, FEW), Feedback(*numbers))
            compare(f"{numbers}", cells(taken[numbers]), _theirs(PRINTED[numbers]))
    return missed, taken


def _clean_row(arm: Arm, seen: Sequence[ArmMotion], law: Feedback, paper: Sequence[float]) -> list[str]:
    ours = cells(least_squares(arm, seen, law))
    others = {name: [cells(values)] for name, values in searches(arm, seen, law, SEED).items()}
    return compare("least squares", ours, _theirs(paper)) + never_worse("least squares", [ours], others)


def cells(values: Array) -> Array:
    """Put errors of base parameters in the paper's order, the drive of joint 2 last if there is one."""
    if len(values) == len(TRUE):
        return np.append((values - TRUE)[ORDER], np.nan)
    return np.append((np.delete(values, DRIVE) - TRUE)[ORDER], values[DRIVE])


def _theirs(paper: Sequence[float]) -> Array:
    return np.append(np.array(paper) - TRUE[ORDER], np.nan)
