"""Speed of PUMA's explicit models, with one state per call or many, and of Pinocchio called from Python."""

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from rich.table import Table

from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.explicit_model import compile_parts, make_evaluator
from simbench.dynamics.puma560_explicit import Puma560Abbreviated, Puma560Full
from simbench.robot.robot import load_robot

STATES = 20_000
AT_ONCE = 500
"""States per call of plain NumPy: more of them exceed the cache."""


def draw_states() -> list[np.ndarray]:
    """Draw positions, velocities and accelerations within PUMA's limits, (STATES, 6) each."""
    robot = load_robot("puma560")
    rng = np.random.default_rng(560)
    speed = robot.model.velocityLimit
    return [
        rng.uniform(robot.model.lowerPositionLimit, robot.model.upperPositionLimit, (STATES, 6)),
        rng.uniform(-speed, speed, (STATES, 6)),
        rng.uniform(-5 * speed, 5 * speed, (STATES, 6)),
    ]


def torque_methods(states: list[np.ndarray]) -> dict[tuple[str, str], Callable[[], None]]:
    """Prepare functions that compute all torques, by method and `one` or `many` states per call."""
    arm = read_arm("puma560")
    model = arm_model(arm)
    data = model.createData()
    singles = list(zip(*states, strict=True))
    columns = [np.ascontiguousarray(each.T) for each in states]
    out = np.empty(6)
    codes = {"explicit, full": Puma560Full, "explicit, abbreviated": Puma560Abbreviated}
    models = {name: make_evaluator(code, arm) for name, code in codes.items()}

    def recursion() -> None:
        for q, v, a in singles:
            pin.rnea(model, data, q, v, a)

    def one_by_one(name: str) -> None:
        numbers, elements = models[name].constants, np.empty(len(codes[name].ELEMENTS))
        compute, combine = compile_parts(codes[name])
        for q, v, a in singles:
            compute(numbers, q, elements)
            combine(elements, v, a, out)

    def many(name: str) -> None:
        code, numbers = codes[name], models[name].constants
        for start in range(0, STATES, AT_ONCE):
            q, v, a = (each[:, start : start + AT_ONCE] for each in columns)
            code.torque(code.configuration(numbers, code.trigonometry(q)), v, a)

    found = {("Pinocchio RNEA", "one"): recursion}
    for name in models:
        found[name, "one"] = lambda name=name: one_by_one(name)
        found[f"{name}, NumPy alone", "many"] = lambda name=name: many(name)
    return found


def dynamics_table(repeat: int) -> Table:
    """Tabulate evaluations per second: the best of `repeat` measurements of each method, taken in turn."""
    methods = torque_methods(draw_states())
    best = dict.fromkeys(methods, np.inf)
    for compute in methods.values():
        compute()
    for _ in range(repeat):
        for key, compute in methods.items():
            started = time.perf_counter()
            compute()
            best[key] = min(best[key], time.perf_counter() - started)
    unit = best["Pinocchio RNEA", "one"]
    table = Table(
        "torques of PUMA 560", "states/s, one per call", "ratio", "states/s, many per call", "ratio"
    )
    for name in dict.fromkeys(name for name, _ in methods):
        row = [name]
        for kind in ("one", "many"):
            seconds = best.get((name, kind))
            row += [f"{STATES / seconds:,.0f}", f"{unit / seconds:.1f}"] if seconds else ["", ""]
        table.add_row(*row)
    return table
