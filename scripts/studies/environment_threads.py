#!/usr/bin/env python3
"""Environments in threads of one process: each episode is compared, bit for bit, with the same one alone."""

import argparse
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from simbench.environments.environment import ScenarioEnv


def run_episodes(scenario: str, engine: str, seed: int, steps: int) -> NDArray[np.float64]:
    """Make an environment and step it with random actions; begin a new episode where one ends.

    Returns (steps, size + 2): observation, reward, and whether the episode ended.
    """
    env = ScenarioEnv(scenario, {"simulation.engine": engine, "variation.mass_fraction": 0.1})
    rng, rows = np.random.default_rng(seed), []
    env.reset(seed=seed)
    for _ in range(steps):
        action = rng.uniform(-0.3, 0.3, env.action_space.shape).astype(np.float32)
        seen, reward, terminated, truncated, _ = env.step(action)
        rows.append(np.append(seen, (reward, terminated or truncated)))
        if terminated or truncated:
            env.reset()
    env.close()
    return np.array(rows)


def compare_threads(scenario: str, engine: str, threads: int, steps: int) -> int:
    """Run environments all at once and then one after another; print and count those that differ."""
    together = threading.Barrier(threads)

    def work(seed: int) -> NDArray[np.float64]:
        together.wait()
        return run_episodes(scenario, engine, seed, steps)

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(work, range(threads)))
    differing = 0
    for seed, rows in enumerate(found):
        same = np.array_equal(rows, run_episodes(scenario, engine, seed, steps))
        differing += not same
        outcome = "the same alone" if same else "DIFFERENT alone"
        print(f"{scenario} {engine} seed {seed}: {steps} steps, {int(rows[:, -1].sum())} ends, {outcome}")
    return differing


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; return 1 where an environment differs. Threads come first, when nothing is compiled yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", default=["puma560_sweep", "push"])
    parser.add_argument("--engines", nargs="+", default=["bullet", "mujoco"])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=1000, help="steps of each environment")
    given = parser.parse_args(arguments)
    differing = sum(
        compare_threads(scenario, engine, given.threads, given.steps)
        for scenario in given.scenarios
        for engine in given.engines
    )
    print(f"{differing} differ from those alone", file=sys.stderr)
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
