"""Control laws of policies: an action held between the policy's ticks, turned into torques at every step."""

from __future__ import annotations

import contextlib
import importlib.util
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from simbench.errors import PolicyError, closest_name
from simbench.files.json_document import parse_json
from simbench.files.text import require_regular_file
from simbench.kinematics.arrays import Array
from simbench.plugins.declarations import call_plugin, plugin_maker
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.sim.control import policy_process
from simbench.sim.control.laws import RowsLaw
from simbench.sim.control.policy_contract import PolicyContract
from simbench.sim.control.policy_observer import Observer, Snapshot, rotation_matrix, spread
from simbench.sim.control.policy_process import TYPES
from simbench.sim.state import RobotState

Act = Callable[[Array], Array]  # Maps an observation (size,) to an action (m,).
_RATE_TOLERANCE = 1e-6


class ActionLaw(RowsLaw):
    """Turns an action into torques; the joints that the contract does not name follow the plan by PD.

    Evaluated at the end of the step as `PdLaw`: with C = D dt + K dt², τ(a) = τ(0) − C a, and τ(0) is K (q* −
    q − dt q̇) − D q̇ for a position target q*, K (q_r + s − q − dt q̇) + D (q̇_r − q̇) + τ_ff for a residual
    s, and the torque itself, with C = 0. `robot`: robot that it drives; `timestep`: physics step dt, s;
    `where`: file of the contract, for messages; `posture` (n,): positions that are the default ones where the
    contract has none, rad; 0 by default. Raises PolicyError if the contract does not suit the robot or the
    physics step.
    """

    def __init__(
        self,
        robot: Robot,
        contract: PolicyContract,
        timestep: float,
        where: str = "contract",
        posture: Array | None = None,
    ) -> None:
        count, action = len(robot.joint_names), contract.action
        self.robot, self.contract, self._where, self._timestep = robot, contract, where, timestep
        self.joints = _find_joints(robot, contract, where)
        self.default = _default_position(robot, contract, where, posture)
        ratio = 1.0 / (contract.rate_hz * timestep)
        self.every = round(ratio)
        if self.every < 1 or abs(ratio - self.every) > _RATE_TOLERANCE * ratio:
            raise PolicyError(
                f"{where}: rate_hz: {contract.rate_hz:g}; allowed: {1.0 / timestep:g} Hz of the physics "
                "divided by a whole number"
            )
        stiffness, damping = robot.motors.stiffness.copy(), robot.motors.damping.copy()
        for gains, name in ((stiffness, "stiffness"), (damping, "damping")):
            given = getattr(action, name)
            if isinstance(given, float | int):
                gains[self.joints] = float(given)
            elif given is not None:
                gains[self.joints] = _by_joint(f"{where}: action.{name}", given, contract)
        # Which joints follow the planned motion, and which get torques alone.
        follows, commanded = np.ones(count), np.zeros(count)
        if action.kind != "residual":
            follows[self.joints] = 0.0
        if action.kind == "torque":
            stiffness[self.joints] = damping[self.joints] = 0.0
            commanded[self.joints] = 1.0
        self._stiffness, self._damping, self._follows, self._commanded = (
            stiffness,
            damping,
            follows,
            commanded,
        )
        self.implicit = damping * timestep + stiffness * timestep**2
        self._rate_gain = damping + stiffness * timestep
        # The state is subtracted in `torque`, not by the controller.
        self.gain = self.rate_gain = np.zeros(count)
        self._scale = spread(f"{where}: action.scale", action.scale, len(self.joints))
        self._clip = np.inf if action.clip is None else action.clip
        self._offset = np.zeros(count)
        if action.kind == "position_target" and action.offset == "default":
            self._offset[self.joints] = self.default
        self._given = np.zeros(count)
        self.action = np.zeros(len(self.joints))
        self._step = 0

    @property
    def time(self) -> float:
        """Time of the next step, s."""
        return self._step * self._timestep

    def set_action(self, action: NDArray[Any]) -> None:
        """Hold an action from the next step on.

        `action` (m,): as the policy returns it: before clip, scale and offset.
        """
        try:
            values = np.asarray(action, dtype=float)
        except (TypeError, ValueError):
            raise PolicyError(f"{self._where}: an action that is no array; allowed: of numbers") from None
        if values.shape != self.action.shape:
            raise PolicyError(
                f"{self._where}: an action of shape {values.shape}; allowed: ({len(self.joints)},), "
                "one for each joint"
            )
        if not np.isfinite(values).all():
            joint = self.contract.joints[int(np.argmin(np.isfinite(values)))]
            raise PolicyError(f"{self._where}: action of {joint} is no finite number at {self.time:.4g} s")
        self.action[:] = values
        self._given[self.joints] = self._scale * np.clip(values, -self._clip, self._clip)

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute the torques of the held action.

        `state`: state at the start of the step; `demand` (4 n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        rows = demand.reshape(4, -1)
        self._step += 1
        q, v = state.q[-len(out) :], state.v[-len(out) :]
        target = self._follows * rows[0] + self._offset + (1.0 - self._commanded) * self._given
        out[:] = self._stiffness * (target - q) - self._rate_gain * v + self._commanded * self._given
        out += self._follows * (self._damping * rows[1] + rows[3])


class PolicyLaw(ActionLaw):
    """Asks a policy for an action at its own rate.

    `robot`: robot that it drives; `timestep`: physics step, s; `where`: file of the contract, for messages;
    `posture` (n,).
    """

    def __init__(
        self,
        robot: Robot,
        contract: PolicyContract,
        timestep: float,
        where: str = "contract",
        posture: Array | None = None,
    ) -> None:
        super().__init__(robot, contract, timestep, where, posture)
        self.observer = Observer(contract, robot, where)
        self._act: Act | None = None
        self._base_path, self._duration = np.empty((0, 7)), 1.0
        self._base_now: Callable[[], Array] | None = None

    def use(self, act: Act) -> None:
        """Set what chooses the actions.

        `act` callable (size,) array -> (m,) array: the policy; without one, actions come from `set_action`.
        """
        self._act = act

    def follow(self, timeline: Timeline, base: Callable[[], Array] | None = None) -> None:
        """Tell the plan: the base's path and the duration, which some terms need.

        `timeline`: planned motion at every physics step; `base`: gives the pose (7,) that the balance
        controller plans for the base now, in place of the timeline's path: a robot that steps goes where its
        feet go.
        """
        self._base_path, self._base_now = timeline.base_path, base
        self._duration = len(timeline.reference.position) * self._timestep

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Ask the policy where it is due, and compute the torques of its action.

        `state`: state at the start of the step; `demand` (4 n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        if self._act is not None and self._step % self.every == 0:
            self.set_action(self._act(self.observe(state, demand)))
        super().torque(state, demand, out)

    def observe(self, state: RobotState, demand: Array) -> Array:
        """Compute the observation of this step; once for each tick of the policy.

        `state`: state at the start of the step; `demand` (4 n,): row of `demand` for this step. Returns
        (size,).
        """
        base = state.q[:7] if self.robot.floating else _UPRIGHT
        planned = self._planned_base(base)
        return self.observer.observe(
            Snapshot(
                self.time,
                self._duration,
                state,
                demand,
                self.joints,
                base,
                planned,
                self.default,
                self.action,
            )
        )

    def base_errors(self, state: RobotState) -> tuple[float, float]:
        """Compare the base with its plan.

        `state`: state at the start of the next step. Returns `tilt`: angle between the planned and the
        measured orientation, rad; 0 of a fixed base; `height`: planned minus measured height, m; 0 of a fixed
        base.
        """
        if not self.robot.floating:
            return 0.0, 0.0
        base = state.q[:7]
        planned = self._planned_base(base)
        cosine = 0.5 * (np.trace(rotation_matrix(planned[3:]).T @ rotation_matrix(base[3:])) - 1.0)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0))), float(planned[2] - base[2])

    def _planned_base(self, measured: Array) -> Array:
        """Pose (7,) that is planned for the base now; the measured one where nothing is."""
        if self._base_now is not None:
            return self._base_now()
        path = self._base_path
        return np.asarray(path[min(self._step, len(path) - 1)]) if len(path) else measured


_UPRIGHT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def _find_joints(robot: Robot, contract: PolicyContract, where: str) -> Array:
    """Columns (m,) of the contract's joints among the robot's."""
    if contract.robot is not None and contract.robot != robot.name:
        raise PolicyError(f"{where}: robot: made for {contract.robot}, not for {robot.name}")
    for name in contract.joints:
        if name not in robot.joint_names:
            hint = closest_name(name, robot.joint_names)
            raise PolicyError(f"{where}: joints: {robot.name} has no joint {name}{hint}")
    return np.array([robot.joint_names.index(name) for name in contract.joints])


def _default_position(robot: Robot, contract: PolicyContract, where: str, posture: Array | None) -> Array:
    """Default positions (m,) of the contract's joints, inside the robot's limits."""
    columns, given = _find_joints(robot, contract, where), contract.default_position_rad
    usual = np.zeros(len(columns)) if posture is None else posture[columns]
    if given is None:
        return usual
    values = np.array(_by_joint(f"{where}: default_position_rad", given, contract), dtype=float)
    model, at = robot.model, robot.root_q + columns
    low, high = model.lowerPositionLimit[at], model.upperPositionLimit[at]
    outside = np.flatnonzero((values < low - 1e-6) | (values > high + 1e-6))
    if len(outside):
        k = int(outside[0])
        raise PolicyError(
            f"{where}: default_position_rad: {contract.joints[k]} at {values[k]:g}; "
            f"allowed: {low[k]:.4g} to {high[k]:.4g}"
        )
    return values


def _by_joint(
    where: str, given: tuple[float, ...] | dict[str, float], contract: PolicyContract
) -> list[float]:
    """Values in the order of the contract's joints."""
    if isinstance(given, tuple):
        if len(given) != len(contract.joints):
            allowed = f"{len(contract.joints)}, one for each joint"
            raise PolicyError(f"{where}: {len(given)} numbers; allowed: {allowed}")
        return list(given)
    unknown = [name for name in given if name not in contract.joints]
    if unknown:
        raise PolicyError(f"{where}: {unknown[0]} is none of the contract's joints")
    missing = [name for name in contract.joints if name not in given]
    if missing:
        raise PolicyError(f"{where}: {missing[0]} is missing")
    return [given[name] for name in contract.joints]


# Time that an ONNX graph may take for one action, and to load, s.
STEP_LIMIT, LOAD_LIMIT = 2.0, 30.0
MISSING = "control.policy: ONNX files need onnxruntime: install simbench's extra `onnx`"


def load_onnx(path: Path, law: PolicyLaw, limit: float = STEP_LIMIT, load_limit: float = LOAD_LIMIT) -> Act:
    """Load an ONNX graph with one input and one output, and compare its sizes with a contract.

    `path`: ONNX file; `limit`, `load_limit`: time that it may take for an action, and to load, s. Returns
    maps an observation to an action, on one thread of a process of its own, which ends with the function.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        raise PolicyError(MISSING)
    if not require_regular_file(path, PolicyError).exists():
        raise PolicyError(f"{path}: no such file")
    size, count = law.observer.size, len(law.joints)
    process = subprocess.Popen(
        [sys.executable, policy_process.__file__, path, *map(str, (size, count, limit, load_limit))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Only this process reacts to Ctrl-C.
        start_new_session=True,
    )
    feed, answers, errors = cast(list[IO[bytes]], [process.stdin, process.stdout, process.stderr])

    def reason(seconds: float, work: str) -> str:
        if process.wait() == -signal.SIGALRM:
            return f"the policy took more than {seconds:g} s {work}; allowed: a graph that ends sooner"
        return (errors.read().decode(errors="replace") or f"exit status {process.returncode}").strip()

    def act(observation: Array) -> Array:
        # Why the process has ended is told below.
        with contextlib.suppress(BrokenPipeError):
            feed.write(observation.tobytes())
            feed.flush()
        answer = answers.read(8 * count)
        if len(answer) < 8 * count:
            raise PolicyError(f"{path}: {reason(limit, 'for one step')} (at {law.time:.4g} s)")
        return np.frombuffer(answer)

    # The last one goes first.
    weakref.finalize(act, process.communicate)
    weakref.finalize(act, process.kill)
    if not (line := answers.readline()):
        raise PolicyError(f"{path}: no ONNX graph: {reason(load_limit, 'to load')[:120]}")
    described = parse_json(line.decode(), str(path), PolicyError)
    wanted = {
        "input": (size, law.observer.describe_size()),
        "output": (count, f"{count}, one for each joint"),
    }
    for what, found in zip(wanted, described, strict=True):
        if len(found) != 1:
            names = ", ".join(name for name, *_ in found)
            raise PolicyError(f"{path}: has {len(found)} {what}s ({names}); allowed: one")
        name, kind, shape = found[0]
        if kind not in TYPES:
            raise PolicyError(f"{path}: {what} {name} is {kind}; allowed: {', '.join(TYPES)}")
        _require_size(path, f"{what} {name}", shape, *wanted[what])
    return partial(call_plugin, str(path), act)


def load_callable(reference: str, robot: Robot) -> Act:
    """Load a policy of Python code: a function of the robot that returns the function of observations.

    `reference`: `MODULE:NAME`, `FILE.py:NAME`, or the name of a plug-in of group `simbench.policies`. Returns
    maps an observation to an action. Raises PluginError if it cannot be loaded, or fails.
    """
    made: Any = plugin_maker("policies", reference, None)(robot)
    if not callable(made):
        raise PolicyError(f"{reference}: makes a value of type {type(made).__name__}; allowed: a function")
    return partial(call_plugin, reference, made)


def _require_size(path: Path, what: str, shape: list[Any], size: int, described: str) -> None:
    """Refuse another number of entries; a name in a shape stands for any number."""
    batch, entries = (shape[0], shape[-1]) if len(shape) == 2 else (1, shape[-1] if shape else None)
    fits = not isinstance(entries, int) or entries == size
    if len(shape) not in (1, 2) or (isinstance(batch, int) and batch != 1) or not fits:
        raise PolicyError(f"{path}: {what} has the shape {shape}; the contract's is {described}")
