"""Environments of all scenarios: does `check_env` accept them, and what does a step cost?

    python scripts/benchmarks/environments.py [SCENARIO ...]

Prints a line for each scenario: what check_env said, the physics steps per second of an episode of zero
actions and of the same simulation without an environment, and their ratio. Then, for the first scenario, the
ratio of two environments in two processes to one, in steps per second. All are measured in one run.
"""

import sys
import time
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import simbench.environments  # noqa: F401
from simbench.environments.environment import ScenarioEnv
from simbench.runs.preparation import place_in_world, restart
from simbench.runs.scenario.scenario_files import list_scenarios
from simbench.sim.control.laws import PdLaw
from simbench.sim.engine import open_engine
from simbench.sim.loop import LoopOptions, simulate
from simbench.sim.recorder import Recorder

EPISODE_S = 3.0
"""Longest time that is simulated to measure speed, s."""


def episode_rate(env: gymnasium.Env) -> float:
    """Physics steps per second of an episode of zero actions."""
    env.reset(seed=0)
    action = np.zeros(env.action_space.shape, np.float32)
    started, over = time.perf_counter(), False
    while not over:
        _, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    return env.unwrapped.recorder.steps / (time.perf_counter() - started)


def bare_rate(env: ScenarioEnv) -> float:
    """Physics steps per second of the loop of a run, with the PD law."""
    prepared = restart(env._prepared)
    settings = prepared.scenario.simulation
    with open_engine(settings.engine).open_world(
        settings.timestep_s, floor_friction=settings.floor_friction, gui=False
    ) as world:
        law = PdLaw(prepared.robot, settings.timestep_s)
        simulation = place_in_world(world, prepared, prepared.robot, law)
        every = round(1.0 / (settings.timestep_s * settings.log_rate_hz))
        steps = len(prepared.timeline.reference.position)
        recorder = Recorder(-(-steps // every), prepared.robot, prepared.mechanisms)
        most = round(EPISODE_S / settings.timestep_s)
        options = LoopOptions(
            every, fallen_height=prepared.fallen_height, stop=lambda: recorder.steps >= most
        )
        simulate(simulation, recorder, options)
    return recorder.steps / recorder.wall_time


def vector_rate(name: str, count: int) -> float:
    """Policy steps per second of several environments, each in a process of its own."""
    envs = gymnasium.make_vec(f"simbench/{name}-v0", num_envs=count, vectorization_mode="async")
    envs.reset(seed=0)
    actions = np.zeros(envs.action_space.shape, np.float32)
    steps = 100
    started = time.perf_counter()
    for _ in range(steps):
        envs.step(actions)
    rate = count * steps / (time.perf_counter() - started)
    envs.close()
    return rate


def main(names: list[str]) -> int:
    """Measure the scenarios; return how many check_env refuses."""
    refused = 0
    print(f"{'scenario':34} {'check_env':10} {'environment 1/s':>15} {'bare loop 1/s':>14} {'ratio':>6}")
    for name in names:
        env = gymnasium.make(f"simbench/{name}-v0", max_time_s=EPISODE_S)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                check_env(env.unwrapped)
                verdict = "green" if not said else f"{len(said)} warnings: {said[0].message}"
            except Exception as error:
                verdict, refused = f"refused: {error}", refused + 1
        # Once more than is measured: what is compiled at its first call does not count.
        episode_rate(env)
        rates = episode_rate(env), bare_rate(env.unwrapped)
        print(
            f"{name:34} {verdict:10} {rates[0]:15.0f} {rates[1]:14.0f} {rates[0] / rates[1]:6.2f}", flush=True
        )
        env.close()
    one, two = vector_rate(names[0], 1), vector_rate(names[0], 2)
    print(f"{names[0]}: two processes make {two / one:.2f} times the steps per second of one ({one:.0f} 1/s)")
    return refused


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list_scenarios()))
