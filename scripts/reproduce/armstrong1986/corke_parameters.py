"""PUMA 560 by the parameters of Corke & Armstrong-Hélouvry (1994), compared with the paper's (1986).

P. Corke & B. Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560
robot", IEEE International Conference on Robotics and Automation 1994, pp. 1608-1613, is the source of all
numbers below, as P. Corke's Robotics Toolbox publishes them (model Puma560), together with A and g in the
posture qn. They are given in the standard Denavit-Hartenberg convention, in which frame i is at the far end
of link i, after Trans_x(a_i) Rot_x(alpha_i).
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from armstrong_recursion import dynamics_terms
from rich.table import Table

from simbench.dynamics.arm import Arm, arm_model
from simbench.robot.dh import DhJoint, DhRow
from simbench.robot.dh import DhTable as LinkTable
from simbench.robot.robot import load_robot

_RIGHT = np.pi / 2
# d, a, m, m; alpha.
ROWS = (
    (0.0, 0.0, _RIGHT),
    (0.0, 0.4318, 0.0),
    (0.15005, 0.0203, -_RIGHT),
    (0.4318, 0.0, _RIGHT),
    (0.0, 0.0, -_RIGHT),
    (0.0, 0.0, 0.0),
)
MASS = np.array([0.0, 17.4, 4.8, 0.82, 0.34, 0.09])
CENTRE = np.array(
    [[0, 0, 0], [-0.3638, 0.006, 0.2275], [-0.0203, -0.0141, 0.070], [0, 0.019, 0], [0, 0, 0], [0, 0, 0.032]]
)
INERTIA = np.array(
    [
        [0, 0.35, 0],
        [0.13, 0.524, 0.539],
        [0.066, 0.086, 0.0125],
        [1.8e-3, 1.3e-3, 1.8e-3],
        [0.3e-3, 0.4e-3, 0.3e-3],
        [0.15e-3, 0.15e-3, 0.04e-3],
    ]
)
ROTOR = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
RATIO = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
"""Links' masses, kg; centres, m, and principal inertia, kg·m², in the standard frames; motors' inertia before
the gears, kg·m², and gear ratios."""

POSTURE = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
GRAVITY_TORQUE = np.array([0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0])
KINETIC = np.array(
    [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ]
)
ROUNDING = 0.5e-4
"""The posture qn, rad, with the published g, N·m, and A, kg·m², and half a unit of their last digit."""

OFFSET = np.array([np.pi, np.pi, -np.pi, 0.0, 0.0, np.pi])
"""Corke's angles minus the paper's, rad: a right-handed arm here, a left-handed one there, both elbows up.
With it the axes of all joints coincide and point the same way."""
SIGNS = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
"""Of the other mapping: the same zero posture, the axes turned round. Then links 2 and 3 are mirrored."""
EXACT = 1e-12


def corke_arm(arm: Arm) -> Arm:
    """Build the arm by Corke's parameters, named as the given one; its gravity, no friction."""
    joints, centres, tensors = [], [], []
    before = pin.SE3.Identity()
    a_before, alpha_before = 0.0, 0.0
    for joint, (d, a, alpha), centre, inertia in zip(arm.table.joints, ROWS, CENTRE, INERTIA, strict=True):
        # Craig's row has the twist and length of the link before.
        row = DhRow(alpha=alpha_before, a=a_before, d=d)
        joints.append(DhJoint(joint.name, joint.parent, row))
        before = pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))
        centres.append(before.act(centre))
        tensors.append(before.rotation @ np.diag(inertia) @ before.rotation.T)
        a_before, alpha_before = a, alpha
    return Arm(
        table=LinkTable(tuple(joints)),
        mass=MASS,
        centre=np.array(centres),
        inertia=np.array(tensors),
        motor=ROTOR * RATIO**2,
        viscous=np.zeros(6),
        coulomb=np.zeros(6),
        gravity=arm.gravity,
    )


def published_differences(arm: Arm) -> tuple[Table, float]:
    """Compare A and g of Corke's parameters in qn, by Pinocchio and our recursion, with the published ones.

    Returns the table and the greatest difference, kg·m² and N·m.
    """
    corke = corke_arm(arm)
    model = arm_model(corke)
    upper = np.triu(pin.crba(model, model.createData(), POSTURE))
    inertia, *_, gravity = dynamics_terms(corke, POSTURE)
    found = {
        "Pinocchio": (
            upper + np.triu(upper, 1).T,
            pin.computeGeneralizedGravity(model, model.createData(), POSTURE),
        ),
        "our recursion": (inertia, gravity),
    }
    table = Table(title="Corke's parameters in his posture qn: greatest difference from his A and g")
    for heading in ("", "A, kg·m²", "g, N·m"):
        table.add_column(heading, justify="right" if heading else "left")
    off = [[np.abs(a - KINETIC).max(), np.abs(g - GRAVITY_TORQUE).max()] for a, g in found.values()]
    for name, each in zip(found, off, strict=True):
        table.add_row(name, *(f"{value:.1e}" for value in each))
    return table, float(np.max(off))


def decomposition(arm: Arm, count: int) -> tuple[Table, float]:
    """Exchange Corke's parameters for the paper's, one after the other, until A and g are equal.

    The differences are the greatest over random states in the joints' ranges. Returns the table and what is
    left in the end, kg·m² and N·m.
    """
    robot = load_robot("puma560")
    lower, upper = robot.model.lowerPositionLimit, robot.model.upperPositionLimit
    q = np.random.default_rng(1994).uniform(lower, upper, (count, 6))
    ours, corke = dynamics_terms(arm, q), corke_arm(arm)
    table = Table(title=f"A and g by Corke's parameters and by the paper's, greatest of {count} states")
    for heading in ("Corke's numbers, and what of them is exchanged", "A, kg·m²", "in", "g, N·m", "of joint"):
        table.add_column(heading, justify="left" if heading[0] == "C" else "right")

    def add(what: str, other: Arm, offset: np.ndarray, signs: np.ndarray) -> float:
        theirs = dynamics_terms(other, signs * q + offset)
        inertia = np.abs(signs[:, None] * signs * theirs[0] - ours[0]).max(axis=0)
        gravity = np.abs(signs * theirs[3] - ours[3]).max(axis=0)
        i, j = np.unravel_index(inertia.argmax(), inertia.shape)
        exact = max(inertia.max(), gravity.max()) < EXACT
        table.add_row(
            what,
            f"{inertia.max():.1e}" if exact else f"{inertia.max():.4f}",
            "" if exact else f"a{min(i, j) + 1}{max(i, j) + 1}",
            f"{gravity.max():.1e}" if exact else f"{gravity.max():.4f}",
            "" if exact else str(gravity.argmax() + 1),
        )
        return float(max(inertia.max(), gravity.max()))

    add("as published, equal zero posture, axes turned", corke, np.zeros(6), SIGNS)
    left = add("as published, arms laid over each other", corke, OFFSET, np.ones(6))
    for what, exchange in EXCHANGES.items():
        corke = exchange(corke, arm)
        left = add(what, corke, OFFSET, np.ones(6))
    return table, left


def motors(arm: Arm) -> Table:
    """Tabulate the motors' inertia at the joints."""
    table = Table(title="Motor and drive at the joint, kg·m²")
    for heading in ("joint", "paper, table 6", "Corke, Jm G²", "difference"):
        table.add_column(heading, justify="right")
    for i, (paper, corke) in enumerate(zip(arm.motor, ROTOR * RATIO**2, strict=True), 1):
        table.add_row(str(i), f"{paper:.4g}", f"{corke:.4f}", f"{paper - corke:+.4f}")
    return table


def centre_with_wrist(arm: Arm) -> str:
    """Say which sign of link 4's centre agrees with the measured centre of link 3 and wrist (table 5)."""
    others = arm.mass[2] * arm.centre[2, 1] - arm.mass[4:] @ (arm.rows[3].d + arm.centre[4:, 2])
    found = [
        (others - arm.mass[3] * (arm.rows[3].d + sign * arm.centre[3, 2])) / arm.mass[2:].sum()
        for sign in (1.0, -1.0)
    ]
    return (
        "The paper measured the centre of link 3 with the wrist at y = -0.143 ± 0.003 m (table 5); its "
        f"links 3 to 6 give {found[0]:.4f} m, with Corke's sign of link 4's centre {found[1]:.4f} m."
    )


def _motor(*joints: int) -> Callable[[Arm, Arm], Arm]:
    def exchange(corke: Arm, arm: Arm) -> Arm:
        motor = corke.motor.copy()
        motor[list(joints)] = arm.motor[list(joints)]
        return dataclasses.replace(corke, motor=motor)

    return exchange


def _wrist_centre(corke: Arm, arm: Arm) -> Arm:
    """The centre of link 4 lies on its axis, 19 mm before the wrist in the paper, beyond it in Corke's."""
    centre = corke.centre.copy()
    centre[3] = -centre[3]
    return dataclasses.replace(corke, centre=centre)


def _forearm(corke: Arm, arm: Arm) -> Arm:
    """Exchange d4."""
    rows = [joint.row for joint in corke.table.joints]
    rows[3] = dataclasses.replace(rows[3], d=arm.rows[3].d)
    return _with_rows(corke, rows)


def _across(corke: Arm, arm: Arm) -> Arm:
    """Exchange d3 (the paper's d2 + d3) and the offset of link 3's centre along the same axis."""
    rows = [joint.row for joint in corke.table.joints]
    rows[2] = dataclasses.replace(rows[2], d=arm.rows[1].d + arm.rows[2].d)
    centre = corke.centre.copy()
    centre[2, 2] = arm.centre[2, 2]
    return dataclasses.replace(_with_rows(corke, rows), centre=centre)


def _with_rows(arm: Arm, rows: list[DhRow]) -> Arm:
    joints = (dataclasses.replace(j, row=row) for j, row in zip(arm.table.joints, rows, strict=True))
    return dataclasses.replace(arm, table=LinkTable(tuple(joints)))


EXCHANGES = {
    "+ motor 2": _motor(1),
    "+ the other motors": _motor(0, 2, 3, 4, 5),
    "+ sign of link 4's centre": _wrist_centre,
    "+ d4, 0.4318 m for 0.4331 m": _forearm,
    "+ offset across the arm, 0.15005 m for 0.1501 m": _across,
}
