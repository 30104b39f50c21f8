"""The contract of a policy: joint order, observation, action, rate, as a YAML file; and that of tracking."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, Strict, ValidationError, model_validator

from simbench.errors import PolicyError
from simbench.files.yaml_document import format_key_path, read_yaml
from simbench.options import Coefficient, Rate, ScenarioSection
from simbench.robot.robot import Robot

Number = Annotated[float, Field(ge=-1e6, le=1e6)]
# One number for all entries, or one for each.
Numbers = Number | Annotated[tuple[Number, ...], Strict(False)]
# One gain for all joints, one for each in the order of the contract, or by joint; the robot's by default.
Gains = Coefficient | Annotated[tuple[Coefficient, ...], Strict(False)] | dict[str, Coefficient] | None


class TermSection(ScenarioSection):
    """One term of the observation: (clipped value + offset) times scale."""

    term: str
    """What is observed: `sim.control.policy_observer` has the list."""
    clip: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """Magnitude to which the value is limited before it is scaled."""
    offset: Numbers = 0.0
    """What is added to the value."""
    scale: Numbers = 1.0
    """Factor of the value."""
    history: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of the latest values that are observed, the oldest first. At the start all are the first one."""


class NormalisationSection(ScenarioSection):
    """Normalisation of the whole observation: (o − mean) / std."""

    mean: Numbers = 0.0
    """Mean of each entry."""
    std: Numbers = 1.0
    """Standard deviation of each entry."""
    clip: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """Magnitude to which the result is limited."""

    @model_validator(mode="after")
    def _positive(self) -> "NormalisationSection":
        if min(self.std if isinstance(self.std, tuple) else (self.std,)) <= 0.0:
            raise ValueError("std must be positive")
        return self


class ActionSection(ScenarioSection):
    """What the numbers mean that a policy returns, one for each joint."""

    kind: Literal["position_target", "residual", "torque"]
    """`position_target`: τ = K (q* − q) − D q̇ with q* = offset + scale · a. `residual`: τ = K (q_r + scale ·
    a − q) + D (q̇_r − q̇) + τ_ff about the planned motion. `torque`: τ = scale · a."""
    scale: Numbers = 1.0
    """Factor of the actions: rad (m of a sliding joint) or N·m (N)."""
    clip: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """Magnitude to which actions are limited before they are scaled."""
    offset: Literal["default", "none"] = "default"
    """Offset of a position target: the default position, or none."""
    stiffness: Gains = None
    """K, N·m/rad (N/m): of all joints, of each, or by joint; by default the robot's."""
    damping: Gains = None
    """D, N·m·s/rad (N·s/m), likewise."""


class PolicyContract(ScenarioSection):
    """What a policy observes, what its actions mean, and how often it acts."""

    robot: str | None = None
    """Name of the robot that the policy is made for; another one is refused."""
    joints: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]
    """Joints in the order of observations and actions. Others follow the plan by the robot's gains."""
    rate_hz: Rate = 50.0
    """Rate of the policy; the action is held in between."""
    default_position_rad: Annotated[tuple[Number, ...], Strict(False)] | dict[str, Number] | None = None
    """Default position of each joint, rad (m): in their order, or by joint; by default the posture's."""
    observation: Annotated[tuple[TermSection, ...], Strict(False), Field(min_length=1)]
    """Terms of the observation, in their order."""
    history_order: Literal["by_term", "by_step"] = "by_term"
    """Order of observations of the past: all of a term together, or all terms of a step together."""
    normalisation: NormalisationSection | None = None
    """Normalisation of the observation, if the model has none inside."""
    action: ActionSection
    """What actions mean."""
    observation_size: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Number of entries of the observation, to be checked."""
    action_size: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Number of entries of the action, to be checked."""

    @model_validator(mode="after")
    def _consistent(self) -> "PolicyContract":
        twice = [name for number, name in enumerate(self.joints) if name in self.joints[:number]]
        if twice:
            raise ValueError(f"joints: {twice[0]} is there twice")
        if self.action_size is not None and self.action_size != len(self.joints):
            raise ValueError(f"action_size must be the number of joints, {len(self.joints)}")
        if self.history_order == "by_step" and len({term.history for term in self.observation}) > 1:
            raise ValueError("history_order: by_step needs the same history of all terms")
        return self


def read_contract(path: Path) -> PolicyContract:
    """Read a contract. `path`: YAML file. Returns the contract, not yet compared with a robot."""
    document = read_yaml(path, PolicyError)
    if not isinstance(document.value, dict):
        raise PolicyError(f"{path}:1: must hold 'key: value' lines")
    try:
        return PolicyContract.model_validate(document.value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = tuple(step for step in first["loc"] if isinstance(step, str | int))
        context: Mapping[str, object] = first.get("ctx", {})
        message = str(context["error"]) if first["type"] == "value_error" else first["msg"]
        if first["type"] == "unknown_key":
            key = (*key, str(context["key"]))
        known = key
        while known and known not in document.positions:
            known = known[:-1]
        line = document.positions[known][0] if known else 1
        where = f"{format_key_path(key)}: " if key else ""
        raise PolicyError(f"{path}:{line}: {where}{message}") from None


_BASE = ("projected_gravity", "base_linear_velocity", "base_angular_velocity")
_JOINTS = (
    "joint_position_relative",
    "joint_velocity",
    "reference_position",
    "reference_velocity",
    "last_action",
    "phase",
)
RESIDUAL = 0.1  # Change of a joint's planned position by an action of 1, rad (m).


def tracking_contract(robot: Robot, rate_hz: float = 50.0) -> PolicyContract:
    """Make the contract of a policy that corrects the planned motion of all joints.

    Returns residual actions in [−1, 1] times `RESIDUAL`; observations of base, joints, reference and phase.
    """
    terms = (*(_BASE if robot.floating else ()), *_JOINTS)
    return PolicyContract(
        robot=robot.name,
        joints=robot.joint_names,
        rate_hz=rate_hz,
        observation=tuple(TermSection(term=name) for name in terms),
        action=ActionSection(kind="residual", scale=RESIDUAL, clip=1.0),
    )
