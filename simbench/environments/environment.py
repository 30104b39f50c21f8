"""A scenario as a Gymnasium environment: a policy corrects the robot's tracking of the planned motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from simbench.errors import SimbenchError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import draw_variation, load_robot
from simbench.runs.log_builder import build_log
from simbench.runs.preparation import (
    Planning,
    Preparation,
    complete_scenario,
    place_in_world,
    prepare,
    restart,
)
from simbench.runs.scenario.loading import load_scenario, override_scenario
from simbench.runs.scenario.scenario_files import Overrides
from simbench.runs.scenario.schema import Scenario
from simbench.sim.control.policy_contract import PolicyContract, read_contract, tracking_contract
from simbench.sim.control.policy_law import PolicyLaw
from simbench.sim.engine import open_engine
from simbench.sim.loop import NUMERICAL_ERRORS, LoopOptions, Simulation, Stepper
from simbench.sim.push import plan_pushes
from simbench.sim.recorder import Recorder
from simbench.sim.state import RobotState

if TYPE_CHECKING:
    import xarray as xr

    from simbench.sim.rendering.scene_renderer import Scene

# Magnitude of observations, and of actions that the contract does not limit; what diverges is clipped.
_LIMIT = 1e6
_SEED_LIMIT = 2**63

POSITION_SCALE, VELOCITY_SCALE = 0.1, 1.0  # Root mean square errors at which a term is 1/e, rad and rad/s.
# The same of the base's angle (rad) and height (m), equipment (m or rad), and actions.
TILT_SCALE, HEIGHT_SCALE, EQUIPMENT_SCALE, CHANGE_SCALE = 0.2, 0.05, 0.05, 1.0


@dataclass(frozen=True)
class RewardWeights:
    """Weight w_i of each term; the reward is Σ w_i r_i / Σ w_i over the terms that a scenario has."""

    position: float = 1.0  # `position`, `velocity`: of the joints' positions and velocities.
    velocity: float = 0.25
    tilt: float = 0.5  # `tilt`, `height`: of the base's orientation and height.
    height: float = 0.25
    equipment: float = 0.5  # of the equipment's joints.
    smoothness: float = 0.1  # of actions that change little.

    def __post_init__(self) -> None:
        """Refuse what is no weight."""
        for name, weight in vars(self).items():
            _require_number(f"weights: {name}", weight)


def _require_number(what: str, value: object) -> None:
    """Refuse what is no finite number from 0."""
    if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
        raise SimbenchError(f"{what}: {value!r}; allowed: a finite number from 0")


def near(error: Array | float, scale: float) -> float:
    """Compute exp(−mean(e²) / σ²): 1 without error.

    `error`: errors e; `scale`: σ, in the same unit. Returns between 0 and 1.
    """
    return float(np.exp(-np.mean(np.square(error)) / scale**2))


def compute_terms(
    position_error: Array,
    velocity_error: Array,
    equipment_error: Array,
    action_change: Array,
    base_errors: tuple[float, float] | None,
) -> dict[str, float]:
    """Compute the terms of the reward after an action, of n joints and J joints of equipment.

    `position_error`, `velocity_error` (n,): planned minus measured joint positions and velocities, rad and
    rad/s; `equipment_error` (J,): where the person moved the equipment minus where it is, m or rad, empty
    without; `action_change` (m,): action minus the one before; `base_errors`: angle between the planned and
    the measured orientation of the base, rad, and planned minus measured height of the base, m; None of a
    fixed base. Returns value of each term of `RewardWeights` that there is.
    """
    terms = {
        "position": near(position_error, POSITION_SCALE),
        "velocity": near(velocity_error, VELOCITY_SCALE),
        "smoothness": near(action_change, CHANGE_SCALE),
    }
    if base_errors is not None:
        tilt, height = base_errors
        terms |= {"tilt": near(tilt, TILT_SCALE), "height": near(height, HEIGHT_SCALE)}
    if equipment_error.size:
        terms["equipment"] = near(equipment_error, EQUIPMENT_SCALE)
    return terms


def add_up(terms: Mapping[str, float], weights: RewardWeights) -> float:
    """Compute Σ w_i r_i / Σ w_i. Returns reward, between 0 and 1."""
    given = {name: float(getattr(weights, name)) for name in terms}
    total = sum(given.values())
    return sum(given[name] * value for name, value in terms.items()) / total if total else 0.0


class ScenarioEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """Tracking of a scenario's planned motion.

    The plan is made once, as for a run. An episode is one simulation of it; the robot's masses and the floor
    are drawn anew for each by the scenario's section `variation`. `scenario`: name or path of a scenario;
    `overrides`: values to set in it, as after `--set`; `contract`: what is observed and what actions mean; by
    default `tracking_contract`; `weights`: weights of the reward's terms; `render_mode`: whether `render`
    draws; `max_time_s`: time after which an episode is truncated; by default the scenario's; `cache`: whether
    the plan may come from the cache of plans. Raises SimbenchError if the scenario or the contract is wrong,
    in one line.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        scenario: str | Path | Scenario,
        overrides: Overrides = (),
        contract: str | Path | PolicyContract | None = None,
        weights: RewardWeights = RewardWeights(),
        render_mode: str | None = None,
        max_time_s: float | None = None,
        *,
        cache: bool = True,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SimbenchError(f"render_mode: {render_mode}; allowed: None, rgb_array")
        if max_time_s is not None:
            _require_number("max_time_s", max_time_s)
        asked = (
            override_scenario(scenario, overrides)
            if isinstance(scenario, Scenario)
            else load_scenario(scenario, overrides)
        )
        robot = load_robot(asked.robot.name)
        open_engine(asked.simulation.engine).require_robot(robot)
        completed, self.notes = complete_scenario(robot, asked)
        self._prepared = prepare(robot, completed, Planning(cache), lambda stage, done, total: None)
        self.render_mode, self._weights = render_mode, weights
        if contract is None:
            self.contract, self._where = tracking_contract(robot), "contract"
        elif isinstance(contract, PolicyContract):
            self.contract, self._where = contract, "contract"
        else:
            self.contract, self._where = read_contract(Path(contract)), str(contract)
        law = self._make_law(self._prepared)
        self.observation_names = law.observer.names  # Name of each entry of an observation.
        self.metadata = {**self.metadata, "render_fps": round(self.contract.rate_hz)}
        limit = self.contract.action.clip or _LIMIT
        self.action_space = gymnasium.spaces.Box(-limit, limit, (len(law.joints),), np.float32)
        self.observation_space = gymnasium.spaces.Box(-_LIMIT, _LIMIT, (law.observer.size,), np.float32)
        self._max_steps = np.inf if max_time_s is None else max_time_s / asked.simulation.timestep_s
        self._episode = ExitStack()
        self._pauses: Iterator[tuple[RobotState, Array]] = iter(())
        self._drawing = ExitStack()
        self._scene: Scene | None = None
        # Whether `step` may be called, and whether there is a world.
        self._going_on = self._open = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode: the robot stands at the start of the planned motion.

        `seed`: seed of the environment's random numbers, from which the masses and the floor of this and the
        next episodes are drawn. The same seed gives the same episodes, bit for bit. `options`: not used.
        Returns `observation` (size,): first observation; `info`: as of `step`.
        """
        super().reset(seed=seed, options=options)
        self._end()
        prepared = self.prepared = restart(self._prepared)
        scenario = prepared.scenario
        variation, settings = scenario.variation, scenario.simulation
        varied, friction = draw_variation(
            int(self.np_random.integers(_SEED_LIMIT)),
            prepared.robot,
            variation.mass_fraction,
            variation.friction_fraction,
        )
        world = self._episode.enter_context(
            open_engine(settings.engine).open_world(
                settings.timestep_s, floor_friction=friction * settings.floor_friction, gui=False
            )
        )
        self._law = self._make_law(prepared)
        pushes = plan_pushes(scenario.push, settings) if scenario.push else ()
        self._simulation: Simulation = place_in_world(world, prepared, varied, self._law, pushes)
        log_every = round(1.0 / (settings.timestep_s * settings.log_rate_hz))
        steps = len(prepared.timeline.reference.position)
        self.recorder = Recorder(-(-steps // log_every), prepared.robot, prepared.mechanisms, energies=False)
        self._stepper = Stepper(
            self._simulation, self.recorder, LoopOptions(log_every, fallen_height=prepared.fallen_height)
        )
        self._pauses = self._stepper.pauses(self._law.every)
        self._before = self._law.action.copy()
        first = self._advance()
        if first is None:
            raise SimbenchError("reset: the simulation ended before its first step")
        self._going_on = self._open = True
        self._state, self._row = first
        return self._observe(), self._info({})

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Hold an action for one period of the policy.

        `action` (m,): one number for each joint of the contract. Returns `observation` (size,): next
        observation; `reward`: between 0 and 1; `terminated`: whether the robot fell, or the physics diverged;
        `truncated`: whether the planned motion, or `max_time_s`, is over; `info`: `time_s`; `reward_terms` by
        name; `fell` and `diverged`.
        """
        self._require("step", self._going_on)
        self._before = self._law.action.copy()
        self._law.set_action(action)
        going_on = self._advance()
        if going_on is None:
            self._simulation.body.read_state(self._state)
        else:
            self._state, self._row = going_on
        terms = {} if self.recorder.divergence else self._compute_terms()
        fell, diverged = self._stepper.fallen, self.recorder.divergence is not None
        over = going_on is None or self.recorder.steps >= self._max_steps
        observation, info = self._observe(), self._info(terms)
        self._going_on = not (fell or diverged or over)
        return observation, add_up(terms, self._weights), fell or diverged, over and not diverged, info

    def render(self) -> NDArray[np.uint8] | None:
        """Draw the scene as the scenario's camera sees it.

        Returns (height, width, 3) of uint8, or None: the picture; None where `render_mode` asks for none.
        """
        if self.render_mode is None:
            return None
        self._require("render", self._open)
        from simbench.runs.video import make_camera
        from simbench.sim.rendering.portrait import fit_camera
        from simbench.sim.rendering.scene_renderer import open_scene, take_picture

        if self._scene is None:
            scenario, robot = self.prepared.scenario, self.prepared.robot
            posture = robot.postures.get(scenario.robot.posture)
            camera = make_camera(fit_camera(robot, posture, scenario.camera, self.prepared.way), fast=True)
            self._scene = self._drawing.enter_context(open_scene(robot, self.prepared.mechanisms, camera))
        body = self._simulation.body
        self._scene.robot.place(body.root_pose(), self._state.q[body.robot.root_q :])
        for fixture in self._simulation.fixtures:
            now = fixture.read_state()
            self._scene.fixtures[fixture.mechanism.name].place(now.position, now.stand)
        return take_picture(self._scene).rgb

    def close(self) -> None:
        """Remove the world, and what draws it; `reset` makes another one."""
        self._end()
        self._drawing.close()
        self._scene = None

    def log(self) -> xr.Dataset:
        """Make the log of the episode so far, with the variables of a run's log.nc.

        Returns log, from which `simbench.runs.metrics.run_metrics` computes metrics.
        """
        self._require("log", hasattr(self, "_simulation"))
        self._stepper.take_extremes()
        return build_log(self.prepared, self._simulation.body.robot, self.recorder, derive=True)

    def _end(self) -> None:
        """Remove the world."""
        self._going_on = self._open = False
        self._episode.close()
        self._episode = ExitStack()

    def _require(self, call: str, possible: bool) -> None:
        """Refuse a call that needs an episode."""
        if not possible:
            raise SimbenchError(f"{call}: no episode is going on; call reset first")

    def _make_law(self, prepared: Preparation) -> PolicyLaw:
        """Make the law of an episode, which holds the actions."""
        robot, scenario = prepared.robot, prepared.scenario
        posture = robot.postures.get(scenario.robot.posture)
        law = PolicyLaw(robot, self.contract, scenario.simulation.timestep_s, self._where, posture)
        law.follow(prepared.timeline, prepared.planned_base())
        return law

    def _advance(self) -> tuple[RobotState, Array] | None:
        """Simulate until the next action is due; None where the simulation has ended."""
        try:
            # What diverges overflows before it is noticed.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return next(self._pauses, None)
        except NUMERICAL_ERRORS:
            self._stepper.take_extremes(interrupted=True)
            if self.recorder.divergence is None:
                raise
            return None

    def _observe(self) -> NDArray[np.float32]:
        """Compute the observation of the present state."""
        observation = self._law.observe(self._state, self._row)
        return np.clip(np.nan_to_num(observation), -_LIMIT, _LIMIT).astype(np.float32)

    def _info(self, terms: dict[str, float]) -> dict[str, Any]:
        """Say what happened."""
        timestep = self.prepared.scenario.simulation.timestep_s
        return {
            "time_s": self.recorder.steps * timestep,
            "reward_terms": terms,
            "fell": self._stepper.fallen,
            "diverged": self.recorder.divergence is not None,
        }

    def _compute_terms(self) -> dict[str, float]:
        """Compare the present state with the plan, and the equipment with where the person moved it."""
        asked, timeline = self.prepared.course.asked, self.prepared.timeline
        now = self.recorder.steps * self.prepared.scenario.simulation.timestep_s - timeline.start
        equipment: list[Array] = [np.empty(0)]
        for fixture in self._simulation.fixtures:
            name = fixture.mechanism.name
            if name in asked and len(timeline.time):
                wanted = [np.interp(now, timeline.time, column) for column in asked[name].T]
                equipment.append(np.array(wanted) - fixture.read_state().position)
        rows = self._row.reshape(4, -1)
        count = rows.shape[1]
        return compute_terms(
            rows[0] - self._state.q[-count:],
            rows[1] - self._state.v[-count:],
            np.concatenate(equipment),
            self._law.action - self._before,
            self._law.base_errors(self._state) if self.prepared.robot.floating else None,
        )
