"""Environments: what Gymnasium asks of them, seeds, rewards, and the same physics as a run."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import simbench.environments  # noqa: E402
from simbench.environments import register_environments  # noqa: E402
from simbench.environments.environment import RewardWeights, ScenarioEnv, add_up, compute_terms  # noqa: E402
from simbench.errors import PolicyError, ScenarioError, SimbenchError  # noqa: E402
from simbench.runs.log import open_run  # noqa: E402
from simbench.runs.pipeline import run_scenario  # noqa: E402
from simbench.runs.scenario.loading import load_scenario, override_scenario  # noqa: E402
from simbench.runs.scenario.scenario_files import list_scenarios  # noqa: E402
from simbench.sim.control.policy_contract import PolicyContract  # noqa: E402

SHORT = {"motion.task": {"amplitude_rad": 0.1}, "control.law": "pd"}
STILL = {
    "name": "still",
    "motion": {"source": "joints:still"},
    "simulation": {"hold_s": 0.3},
    "variation": {"mass_fraction": 0.1, "friction_fraction": 0.2},
}


def episode(env, seed, actions):
    """Observations and rewards of an episode."""
    seen, _ = env.reset(seed=seed)
    found = [seen]
    for action in actions:
        seen, reward, terminated, truncated, _ = env.step(action)
        found.append(np.append(seen, reward))
        if terminated or truncated:
            break
    return found


@pytest.fixture
def still(tmp_path):
    """ROMEO that stands, with masses that vary."""
    import yaml

    (tmp_path / "still.yaml").write_text(yaml.safe_dump(STILL), encoding="utf-8")
    env = ScenarioEnv(tmp_path / "still.yaml")
    yield env
    env.close()


def test_every_scenario_has_an_environment():
    register_environments()
    names = {name for name in gymnasium.registry if name.startswith("simbench/")}
    assert names == {f"simbench/{name}-v0" for name in list_scenarios()} | {"simbench/Scenario-v0"}


@pytest.mark.filterwarnings("error")
def test_check_env_is_green(still):
    from gymnasium.utils.env_checker import check_env

    check_env(still, skip_render_check=True)
    env = gymnasium.make("simbench/puma560_sweep-v0", overrides=SHORT)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_the_same_seed_gives_the_same_episode_and_another_one_another(still):
    rng = np.random.default_rng(0)
    actions = rng.uniform(-0.2, 0.2, (8, *still.action_space.shape)).astype(np.float32)
    first, again, other = (episode(still, seed, actions) for seed in (3, 3, 4))
    assert len(first) == len(again) == 9
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    # Other masses, other motion.
    assert not np.array_equal(first[-1], other[-1])


def test_without_actions_it_is_the_run(tmp_path):
    scenario = load_scenario("puma560_sweep", SHORT)
    run = run_scenario(scenario, tmp_path / "run")
    env = ScenarioEnv(scenario)
    env.reset(seed=0)
    truncated = False
    while not truncated:
        _, reward, terminated, truncated, info = env.step(np.zeros(6, np.float32))
        assert not terminated
        assert 0.0 <= reward <= 1.0
    log, usual = env.log(), open_run(run.directory)
    assert info["time_s"] == pytest.approx(len(usual["time"]) / 200.0, abs=0.01)
    for name in ("joint_position", "torque_joint"):
        np.testing.assert_allclose(log[name].values, usual[name].values, atol=1e-9)


def test_time_ends_the_episode():
    env = ScenarioEnv(load_scenario("puma560_sweep", SHORT), max_time_s=0.1)
    env.reset()
    ends = [env.step(np.zeros(6, np.float32))[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    with pytest.raises(SimbenchError, match="no episode is going on; call reset first"):
        env.step(np.zeros(6, np.float32))


def test_calls_without_an_episode_and_odd_actions_are_refused():
    env = ScenarioEnv(load_scenario("puma560_sweep", SHORT), render_mode="rgb_array")
    nothing = np.zeros(6, np.float32)
    needs_reset = "no episode is going on; call reset first"
    for name, call in (("step", lambda: env.step(nothing)), ("render", env.render), ("log", env.log)):
        with pytest.raises(SimbenchError, match=f"{name}: {needs_reset}"):
            call()
    first, _ = env.reset(seed=0)
    for action in (np.zeros(5), nothing * np.nan, None, "abc", [[1.0], [2.0, 3.0]], 0.0):
        with pytest.raises(PolicyError, match=r"contract: (an )?action"):
            env.step(action)
    after = env.step(nothing)[0]
    env.close()
    with pytest.raises(SimbenchError, match=f"step: {needs_reset}"):
        env.step(nothing)
    with pytest.raises(SimbenchError, match=f"render: {needs_reset}"):
        env.render()
    assert env.log().sizes["time"] > 0
    # What was refused has changed nothing.
    np.testing.assert_array_equal(env.reset(seed=0)[0], first)
    np.testing.assert_array_equal(env.step(nothing)[0], after)
    env.close()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, "a"])
def test_weights_and_time_are_numbers(value):
    with pytest.raises(SimbenchError, match=r"weights: tilt: .*; allowed: a finite number from 0"):
        RewardWeights(tilt=value)
    with pytest.raises(SimbenchError, match=r"max_time_s: .*; allowed: a finite number from 0"):
        ScenarioEnv("puma560_sweep", max_time_s=value)


@pytest.mark.parametrize("engine", ["bullet", "mujoco"])
def test_threads_give_what_one_gives(engine, capfd):
    """And the standard output is still there."""
    pytest.importorskip({"bullet": "pybullet"}.get(engine, engine))
    actions = np.random.default_rng(0).uniform(-0.2, 0.2, (10, 6)).astype(np.float32)

    def run(seed):
        env = ScenarioEnv("puma560_sweep", {**SHORT, "simulation.engine": engine})
        found = episode(env, seed, actions)
        env.close()
        return np.array(found[1:])

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, (0, 1)))
    np.testing.assert_array_equal(together, [run(0), run(1)])
    os.write(1, b"still\n")
    os.write(2, b"there\n")
    assert capfd.readouterr() == ("still\n", "there\n")


def test_a_fall_ends_the_episode(still):
    """Ankles that push the soles down tip the robot over."""
    ankles = PolicyContract.model_validate(
        {
            "joints": ["LAnklePitch", "RAnklePitch"],
            "observation": [{"term": "base_height"}],
            "action": {"kind": "torque", "scale": -15.0, "clip": 1.0},
        }
    )
    scenario = override_scenario(
        still._prepared.scenario, {"simulation.hold_s": 2.0, "variation.mass_fraction": 0.0}
    )
    env = ScenarioEnv(scenario, contract=ankles)
    first, _ = env.reset(seed=0)
    for _ in range(100):
        seen, _, terminated, truncated, info = env.step(np.ones(2, np.float32))
        if terminated or truncated:
            break
    assert (terminated, info["fell"], info["diverged"]) == (True, True, False)
    assert seen[0] < 0.7 * first[0]
    env.close()


def test_rewards_are_one_without_errors_and_fall_with_them():
    zero = np.zeros(3)
    terms = compute_terms(zero, zero, np.zeros(1), zero, (0.0, 0.0))
    assert set(terms) == {"position", "velocity", "smoothness", "tilt", "height", "equipment"}
    assert add_up(terms, RewardWeights()) == 1.0
    terms = compute_terms(np.full(3, 0.1), zero, np.zeros(1), zero, None)
    assert terms["position"] == pytest.approx(np.exp(-1.0))
    assert "tilt" not in terms
    only = RewardWeights(position=2.0, velocity=0.0, equipment=0.0, smoothness=0.0)
    assert add_up(terms, only) == pytest.approx(np.exp(-1.0))


def test_pictures_are_drawn(tmp_path):
    env = gymnasium.make("simbench/puma560_sweep-v0", overrides=SHORT, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    for _ in range(30):
        env.step(np.zeros(6, np.float32))
    second = env.render()
    assert first.shape == second.shape
    assert first.dtype == np.uint8
    assert (first != second).any()
    env.close()


def test_two_processes_step_together():
    envs = gymnasium.make_vec(
        "simbench/puma560_sweep-v0", num_envs=2, vectorization_mode="async", overrides=SHORT
    )
    seen, _ = envs.reset(seed=[1, 1])
    np.testing.assert_array_equal(seen[0], seen[1])
    seen, reward, *_ = envs.step(np.zeros((2, 6), np.float32))
    np.testing.assert_array_equal(seen[0], seen[1])
    assert reward.shape == (2,)
    envs.close()


def test_mistakes_are_told_in_one_line(tmp_path):
    with pytest.raises(ScenarioError):
        ScenarioEnv("nothing_at_all")
    with pytest.raises(SimbenchError, match="render_mode: human; allowed"):
        ScenarioEnv("puma560_sweep", render_mode="human")
    (tmp_path / "c.yaml").write_text("joints: [knob]\nobservation: [{term: time}]\naction: {kind: torque}\n")
    with pytest.raises(PolicyError, match=r"c\.yaml: joints: puma560 has no joint knob"):
        ScenarioEnv("puma560_sweep", SHORT, contract=tmp_path / "c.yaml")


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium.envs.registration", None)
    with pytest.raises(SimbenchError):
        register_environments()
    assert simbench.environments.register_environments is register_environments
