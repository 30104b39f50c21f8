"""Speed of PUMA's explicit models, with one state per call or many, and of Pinocchio called from Python."""

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from rich.table import Table

from simbench.dynamics.arm import arm_model, read_arm
from simbench.dynamics.evaluation import compile_torques, explicit_torques, make_evaluator
from simbench.dynamics.generated import puma560_abbreviated, puma560_full
from simbench.dynamics.newton_euler import inverse_dynamics
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
    modules = {"explicit, full": puma560_full, "explicit, abbreviated": puma560_abbreviated}
    models = {name: make_evaluator(module, arm) for name, module in modules.items()}

    def recursion() -> None:
        for q, v, a in singles:
            pin.rnea(model, data, q, v, a)

    def one_by_one(name: str) -> None:
        numbers, one = models[name].constants, compile_torques(modules[name])[0]
        for q, v, a in singles:
            one(numbers, q, v, a, out)

    def plain(name: str) -> None:
        code, numbers = modules[name], models[name].constants
        for start in range(0, STATES, AT_ONCE):
            q, v, a = (each[:, start : start + AT_ONCE] for each in columns)
            code.torque(code.configuration(numbers, code.trigonometry(q)), v, a)

    found = {("Pinocchio RNEA", "one"): recursion}
    for name in models:
        found[name, "one"] = lambda name=name: one_by_one(name)
        found[name, "many"] = lambda name=name: explicit_torques(models[name], *states)
        found[f"{name}, NumPy alone", "many"] = lambda name=name: plain(name)
    found["recursion, NumPy alone", "many"] = lambda: inverse_dynamics(arm, *states)
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
