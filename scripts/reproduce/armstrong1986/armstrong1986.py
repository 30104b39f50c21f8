"""Armstrong, Khatib & Burdick (ICRA 1986): the explicit model of PUMA 560, compared with every table.

python scripts/reproduce/armstrong1986/armstrong1986.py [--states N] [--equations]
    [--results FILE.json]

The model is derived from the paper's link table and tables 4-6 as printed, and compared with the Newton-Euler
recursion and with Pinocchio. Tables 4-7 are also the source of robots/puma560/robot.yaml, except for izz of
link 3, whose printed value no rigid body can have; here it is used as printed. --equations prints both
models. A and g are also compared with those of Corke & Armstrong-Hélouvry's parameters. Exit status 1 if a
torque or an element differs, a count is larger than the paper's, a difference from Corke's numbers is not
explained, or a measurement is off by 1 %.
"""

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
from armstrong_appendix import appendix_tables, dependent_constants
from armstrong_experiments import measurement_table, tracking_table
from armstrong_sizes import christoffel_lines, sizes
from corke_parameters import EXACT, ROUNDING, centre_with_wrist, decomposition, motors, published_differences
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from armstrong_code import Counts, count_model, equations
from armstrong_derivation import abbreviate_model, derive_explicit_model
from armstrong_recursion import (
    Operations,
    count_newton_euler,
    count_operations,
    dynamics_terms,
    explicit_terms,
    inverse_dynamics,
    link_torques,
    many_torques,
    velocity_products,
)
from results import Results, add_results_option, begin_results, write_results

from simbench.dynamics.arm import Arm, arm_model, read_arm
from simbench.dynamics.explicit_model import make_evaluator
from simbench.dynamics.puma560_explicit import Puma560Abbreviated, Puma560Full
from simbench.robot.dh import DhJoint, DhRow
from simbench.robot.dh import DhTable as LinkTable
from simbench.robot.robot import load_robot

TOLERANCE = 1e-9
MEASURED = 0.01
PRINTED_IZZ3 = 0.086
FLOPS = 100_000
CUT_OFF = 0.00101
"""Fraction of a joint's largest constant below which terms are left out; 0.001 in the paper's text."""


def printed_arm() -> Arm:
    """Build PUMA with the paper's printed inertia and its base at the shoulder."""
    arm = read_arm("puma560")
    inertia = arm.inertia.copy()
    inertia[2, 2, 2] = PRINTED_IZZ3
    first, *rest = arm.table.joints
    table = LinkTable((dataclasses.replace(first, row=DhRow()), *rest))
    return dataclasses.replace(arm, inertia=inertia, table=table)


def general_arm() -> Arm:
    """Build an arm of six joints without zero parameters or right angles."""
    arm = read_arm("puma560")
    names = ("base", *arm.table.moving)
    rows = [DhRow(alpha=0.3, a=0.1, d=0.2) for _ in range(6)]
    joints = tuple(DhJoint(names[i + 1], names[i], row) for i, row in enumerate(rows))
    return dataclasses.replace(
        arm, table=LinkTable(joints), centre=np.full((6, 3), 0.1), inertia=np.full((6, 3, 3), 0.2)
    )


def exactness(arm: Arm, count: int) -> tuple[Table, float]:
    """Compare the explicit model, the recursion and Pinocchio on the same random states."""
    rng = np.random.default_rng(1986)
    q, v, a = (rng.uniform(-span, span, (count, 6)) for span in (np.pi, 4.0, 20.0))
    model, explicit = arm_model(arm), make_evaluator(Puma560Full, arm)
    data = model.createData()
    free = dataclasses.replace(arm, viscous=np.zeros(6), coulomb=np.zeros(6))
    torques = (
        many_torques(explicit, q, v, a),
        inverse_dynamics(free, q, v, a),
        np.array([pin.rnea(model, data, *each) for each in zip(q, v, a, strict=True)]),
    )
    found = [explicit_terms(explicit, q), dynamics_terms(arm, q), pinocchio_terms(model, q)]
    rows = {"torques": torques} | dict(zip(("A", "B", "C", "g"), zip(*found, strict=True), strict=True))
    table = Table(title=f"Greatest difference over {count} random states, N·m and kg·m²")
    for heading in ("", "explicit - recursion", "explicit - Pinocchio", "recursion - Pinocchio"):
        table.add_column(heading, justify="right" if heading else "left")
    worst = 0.0
    for name, (ours, recursion, library) in rows.items():
        off = [np.abs(x - y).max() for x, y in ((ours, recursion), (ours, library), (recursion, library))]
        worst = max(worst, *off)
        table.add_row(name, *(f"{each:.1e}" for each in off))
    return table, worst


def pinocchio_terms(model: pin.Model, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute A by composite rigid bodies, and B, C and g by Pinocchio's recursion with unit speeds."""
    data, unit, pairs = model.createData(), np.eye(6), velocity_products(6)
    inertia, coriolis = np.empty((len(q), 6, 6)), np.empty((len(q), 6, len(pairs)))
    centrifugal, gravity = np.empty((len(q), 6, 6)), np.empty((len(q), 6))
    for row, each in enumerate(q):
        upper = np.triu(pin.crba(model, data, each))
        inertia[row] = upper + np.triu(upper, 1).T
        gravity[row] = pin.computeGeneralizedGravity(model, data, each)
        squares = np.array([pin.nonLinearEffects(model, data, each, v) for v in unit]) - gravity[row]
        centrifugal[row] = squares.T
        for column, (i, j) in enumerate(pairs):
            both = pin.nonLinearEffects(model, data, each, unit[i] + unit[j])
            coriolis[row, :, column] = both - gravity[row] - squares[i] - squares[j]
    return inertia, coriolis, centrifugal, gravity


def columns_by_recursion(arm: Arm) -> Operations:
    """Count the operations of A by six recursions with one unit acceleration each, at rest, no gravity."""
    still = dataclasses.replace(arm, gravity=np.zeros(3))
    passes = []
    for column in range(6):
        change = [int(i == column) for i in range(6)]
        passes.append(count_operations(lambda q, change=change: link_torques(still, q, [0] * 6, change), 6))
    return Operations(*(sum(each) for each in zip(*passes, strict=True)))


def calculations(arm: Arm, full: Counts, short: Counts, shorter: Counts) -> tuple[Table, Table, Table]:
    """Tabulate the operation counts of the paper's tables 1-3."""
    first = Table(title="Table 1: calculations for the torques (sines and cosines not counted)")
    for heading in ("method", "paper", "ours", "multiplications", "additions"):
        first.add_column(heading, justify="right" if heading != "method" else "left")

    def add(table: Table, name: str, paper: str, ours: Operations) -> None:
        table.add_row(name, paper, str(ours.total), *map(str, ours))

    add(first, "recursion, an arm without zeros", "1560", count_newton_euler(general_arm()))
    add(first, "recursion, what is zero in PUMA left out", "", count_newton_euler(arm))
    third = Table(title="Table 3: calculations for the kinetic energy matrix")
    for heading in ("method", "paper", "ours", "multiplications", "additions"):
        third.add_column(heading, justify="right" if heading != "method" else "left")
    add(
        third,
        "recursion, six columns (the paper's: Walker & Orin)",
        "2737",
        columns_by_recursion(general_arm()),
    )
    add(third, "recursion, what is zero in PUMA left out", "", columns_by_recursion(arm))
    third.add_row("Izaguirre & Paul, simplified", "58")
    for name, paper, matrix, counts in (
        ("full", "1165 (739 + 426)", "278", full),
        ("abbreviated", "305", "25", short),
    ):
        add(first, f"{name}, each element by itself", paper, counts.total(counts.expanded))
        add(first, f"{name}, common factors taken out", "", counts.total(counts.factored))
        add(first, f"{name}, what elements share computed once", "", counts.total(counts.shared))
        add(third, f"{name}, each element by itself", matrix, counts.expanded["A"])
        add(third, f"{name}, common factors taken out", "", counts.factored["A"])
        add(third, f"{name}, what elements share computed once", "", counts.shared["A"])
    add(first, f"abbreviated, joints' bound {100 * CUT_OFF:.3g} %", "", shorter.total(shorter.expanded))
    second = Table(title=f"Table 2: rates at {FLOPS} operations a second, Hz")
    for heading in ("", "configuration", "torques", "paper"):
        second.add_column(heading, justify="right" if heading else "left")
    for name, counts, paper in (("full", full, ("78 / 78", "50 / 200")), ("abbreviated", short, ("", ""))):
        rest = counts.torque.total
        for every, theirs in zip((1, 4), paper, strict=True):
            rate = FLOPS / ((counts.total(counts.expanded).total - rest) / every + rest)
            label = f"{name}, elements once in {every}"
            second.add_row(label, f"{rate / every:.0f}", f"{rate:.0f}", theirs)
    return first, second, third


def operations_by_part(full: Counts, short: Counts) -> Table:
    """Tabulate where the operations of both models are, by the paper's rule and with common factors out."""
    table = Table(title="Operations by part, multiplications + additions")
    for heading in ("part", "full, paper's rule", "factors out", "abbreviated, paper's rule", "factors out"):
        table.add_column(heading, justify="right" if heading != "part" else "left")
    columns = ((full, full.expanded), (full, full.factored), (short, short.expanded), (short, short.factored))
    for part in full.expanded:
        table.add_row(part, *(_written(elements[part]) for _, elements in columns))
    table.add_row("torques from them", *(_written(counts.torque) for counts, _ in columns))
    table.add_row("together", *(_written(counts.total(elements)) for counts, elements in columns))
    return table


def _written(each: Operations) -> str:
    return f"{each.total} ({each.multiplications} + {each.additions})"


def abbreviation_table(arm: Arm, count: int) -> Table:
    """Tabulate the error of the abbreviated model over the joints' ranges, at rest and moving."""
    robot = load_robot("puma560")
    rng, limit = np.random.default_rng(1), robot.motors.torque_limit
    q = rng.uniform(robot.model.lowerPositionLimit, robot.model.upperPositionLimit, (count, 6))
    speed = rng.uniform(-1, 1, (count, 6)) * robot.model.velocityLimit
    # The accelerations that the motors can produce in the zero position.
    change = rng.uniform(-1, 1, (count, 6)) * limit / np.diagonal(dynamics_terms(arm, np.zeros(6))[0])
    models = [make_evaluator(module, arm) for module in (Puma560Abbreviated, Puma560Full)]
    table = Table(title=f"Abbreviated - full, {count} states; % of the joint's maximum torque")
    for heading in ("", *(f"joint {i}" for i in range(1, 7))):
        table.add_column(heading, justify="right" if heading else "left")
    for name, v, a in (
        ("at rest", 0 * speed, 0 * change),
        ("moving, no acceleration", speed, 0 * change),
        ("moving and accelerating", speed, change),
    ):
        short, full = (many_torques(model, q, v, a) for model in models)
        off = short - full
        for kind, value in (("RMS", np.sqrt(np.mean(off**2, axis=0))), ("maximum", np.abs(off).max(axis=0))):
            cells = (f"{each:.4f} ({100 * each / top:.2f} %)" for each, top in zip(value, limit, strict=True))
            table.add_row(f"{name}, {kind}, N·m", *cells)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--states", type=int, default=10_000, metavar="N")
    parser.add_argument("--equations", action="store_true")
    add_results_option(parser)
    given = parser.parse_args()
    results = begin_results(__file__, scope=f"{given.states} random states")
    arm, console = printed_arm(), Console(width=150)
    full = derive_explicit_model(arm)
    short = abbreviate_model(full)
    if given.equations:
        for model in (full, short):
            console.print("\n".join(equations(model)), highlight=False)
    counts = tuple(map(count_model, (full, short, abbreviate_model(full, CUT_OFF))))
    differences, worst = exactness(arm, given.states)
    console.print(results.add(differences))
    paper_tables = (
        *calculations(arm, *counts),
        operations_by_part(*counts[:2]),
        sizes(full, short),
        *appendix_tables(full, arm),
    )
    for table, source in zip(paper_tables, SOURCES, strict=True):
        console.print(results.add(table, source))
    dependent = " ".join(["Of the appendix's constants are sums of others:", *dependent_constants(full)])
    console.print(results.remark(dependent))
    console.print(*map(results.remark, christoffel_lines(full)), sep="\n")
    console.print(results.add(abbreviation_table(arm, given.states)))
    published, rounding = published_differences(arm)
    exchanged, unexplained = decomposition(arm, given.states)
    console.print(results.add(published))
    console.print(results.add(motors(arm)))
    console.print(results.add(exchanged, note=centre_with_wrist(arm)))
    measured, off = measurement_table()
    console.print(results.add(measured))
    console.print(results.add(tracking_table()))
    results.check(
        f"greatest difference from Newton-Euler and Pinocchio at most {TOLERANCE:g}", worst <= TOLERANCE
    )
    results.check(f"Corke's published A and g to their last digit, ±{ROUNDING:g}", rounding <= ROUNDING)
    results.check(
        f"difference from Corke's A and g left by the named parameters: {unexplained:.0e}, at most {EXACT:g}",
        unexplained <= EXACT,
    )
    check_counts(results, counts[0], counts[1])
    results.check(f"inertia measured in simulation within {100 * MEASURED:g} %", off <= MEASURED)
    console.print(NOTES)
    for paragraph in NOTES.split("\n\n"):
        results.remark(paragraph)
    write_results(given.results, results)
    return int(not all(check.holds for check in results.checks))


def check_counts(results: Results, full: Counts, short: Counts) -> None:
    """Hold operation counts to those of the paper's tables 1 and 3."""
    for what, ours, paper in (
        ("full model, torques, each element by itself", full.total(full.expanded), 1165),
        ("abbreviated model, torques, common factors taken out", short.total(short.factored), 305),
        ("full model, A, each element by itself", full.expanded["A"], 278),
        ("abbreviated model, A, each element by itself", short.expanded["A"], 25),
    ):
        results.check(f"{what}: {ours.total} operations, at most {paper}", ours.total <= paper)


SOURCES = ("table 1", "table 2", "table 3", "table 1", "text", "appendix", "appendix")
"""Where the paper has the numbers of the tables that are printed in this order."""
NOTES = """\
Each element by itself is the paper's way: constants times sums of products, nothing shared, products of one
angle (SS23, CC4, SC5) given as sines and cosines are; so counted, the abbreviated A has the paper's 25. The
text's rules leave more of B and C than the paper's 305 has room for, unless common factors are taken out; 7
of the 19 are terms of I20 in joint 4's rows, 0.2 % over its bound.

Constants: the appendix's 34 are 33, for I19 = -I20 - I21. Two of them, I1 and I3, do not follow from table
6 as printed; the others do. Christoffel symbols: eq. 7 and 8 leave two for each pair of joints and two for
each triple, 70, and with eq. 9 there are 50; 65 and 51 come out if five of eq. 9's pass for general and one
is missed. The paper's 12 of eq. 10 are the pairs above; the three that are zero once differentiated it
keeps: 51 - 12 = 39, 50 - 12 - 3 = 35.

A recursion that leaves out what is zero in PUMA takes fewer calculations than any form of the full model.

Tolerances: masses ±(0.01 kg + 1 %), centres ±3 mm, links 4-6 ±25 %, their inertia ±50 %, as printed; the
inertia of links 2 and 3 ±4 %, assumed. The paper's are of no one set: I5 is g2 a2 / g, and has 8 % where g2
has 2 %; I12, I13 and g4 are one sum of masses times lengths, with 10, 24, 10 %; I15, I16, I18, I22 and g5
all m6 z6, with 24, 24, 30, 26, 20 %, where two factors of ±25 % make 35 %. g1's 0.5 is that of link 2's
centre alone."""


if __name__ == "__main__":
    sys.exit(main())
