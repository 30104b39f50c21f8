"""What every section of a scenario has in common."""

import difflib
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    Strict,
    model_validator,
)
from pydantic_core import PydanticCustomError

SWEEP = "joints:sweep"
STILL = "joints:still"
"""The motion sources of a robot that moves by itself, and of one whose arms keep their posture."""


# Strict sections would refuse YAML's lists for tuples.
Point2 = Annotated[tuple[float, float], Strict(False)]
Point3 = Annotated[tuple[float, float, float], Strict(False)]
Fraction = Annotated[float, Field(gt=0.0, le=1.0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]


class ScenarioSection(BaseModel):
    """A part of a scenario: no unknown keys, no conversions between types, finite numbers only."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        allowed = ", ".join(cls.model_fields)
        if not isinstance(data, dict | cls):
            raise PydanticCustomError(
                "not_a_section", "must be a section with the keys: {allowed}", {"allowed": allowed}
            )
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                close = difflib.get_close_matches(str(key), cls.model_fields, n=1)
                hint = f" (did you mean '{close[0]}'?)" if close else ""
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key{hint}; allowed: {allowed}",
                    {"key": key, "hint": hint, "allowed": allowed},
                )
        return data


class BalanceSection(ScenarioSection):
    """How a robot on its feet keeps its balance while its arms move (Kim, Choi, Oh & You 2005)."""

    control: bool = True
    """Whether the measured COG and ZMP are fed back. Off, the legs follow their plan."""
    embedding: bool = True
    """Whether balance knows of the arms' motion. Off, it takes them to be where they were at the start."""
    gain_cog: PositiveFloat = 6.0
    """k_c of the COG-ZMP control, 1/s; above ω, the pendulum's natural frequency."""
    gain_zmp: PositiveFloat = 2.0
    """k_p of the COG-ZMP control, 1/s; below ω."""
    recovery: Literal["none", "step"] = "none"
    """What a standing robot does against a fall: with `step` it bows, and steps to where it can stop."""
    rate_hz: PositiveFloat = 500.0
    """At which balance senses, solves and commands; 1 / simulation.timestep_s is a whole multiple of it."""


class StepCommand(ScenarioSection):
    """One of: so many steps on the spot, or so far forward, to the left, or round to the left."""

    march: Annotated[int, Field(ge=1)] | None = None
    forward_m: float | None = None
    sideways_m: float | None = None
    turn_rad: float | None = None

    @model_validator(mode="after")
    def _one(self) -> "StepCommand":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError(f"must have one of the keys {', '.join(type(self).model_fields)}")
        return self


class SteppingSection(ScenarioSection):
    """Steps, one command after another."""

    commands: Annotated[tuple[StepCommand, ...], Strict(False), Field(min_length=1)]
    single_support_s: PositiveFloat = 0.7
    """On one foot, in every step."""
    double_support_s: PositiveFloat = 0.3
    """On both feet, before every step."""
    lift_m: PositiveFloat = 0.03
    """Height of a swinging foot midway."""
    settle_s: PositiveFloat = 1.5
    """Standing before the first step and after the last."""
    step_length_m: PositiveFloat = 0.2
    """Longest step forward, from foot to foot."""
    step_width_m: PositiveFloat = 0.1
    """Longest step sideways."""
    step_turn_rad: PositiveFloat = 0.3
    """Largest turn of a step."""
    zmp_inset_m: float = 0.0
    """How far inward of the sole's middle the ZMP is on one foot."""


class PushSection(ScenarioSection):
    """Horizontal pushes on the pelvis, one after another, each stronger than the one before."""

    first_ns: PositiveFloat
    """Impulse of the first push."""
    increment_ns: NonNegativeFloat = 0.0
    """How much stronger each is than the one before."""
    count: PositiveInt = 1
    start_s: NonNegativeFloat = 1.0
    interval_s: PositiveFloat = 4.0
    duration_s: PositiveFloat = 0.1
    """Half a sine of force."""
    direction_rad: float = 0.0
    """Where to, from world x, about z."""

    @model_validator(mode="after")
    def _apart(self) -> "PushSection":
        if self.interval_s < self.duration_s:
            raise ValueError(f"interval_s must be at least duration_s, {self.duration_s:g}")
        return self


class VariationSection(ScenarioSection):
    """How the simulated robot and floor differ, at random by `seed`, from those that the plan knows."""

    mass_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """Each link's mass and inertia are drawn uniformly from 1 ± this part of the description's."""
    friction_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """`simulation.floor_friction` is drawn uniformly from 1 ± this part of itself."""


class RobotSection(ScenarioSection):
    """Which robot, and where it stands."""

    name: str = "romeo"
    """A robot's name, or the path of a robot.yaml."""
    posture: str = "standing"
    """Named posture of the robot whose legs and head are used, or in which an arm on a fixed base rests.
    `seated` needs a stool among the fixtures."""
    position_m: Point2 = (0.0, 0.0)
    """Middle between the feet, or of a fixed base, world x and y."""
    heading_rad: float = 0.0
    """Turn about the world's z axis."""
    height_m: float = 0.0
    """How much higher the pelvis of a robot with legs is than in the posture."""
    place: Literal["given", "auto"] = "given"
    """Whether it stands there, or where its hands reach all of the equipment with the largest margin."""


class MotionSection(ScenarioSection):
    """The human motion to follow."""

    source: str
    """`actor:<task>`, `deepmimic:<clip>`, a file, `joints:sweep` for a robot that moves by itself, or
    `joints:still` for one whose arms keep their posture."""
    unit: Literal["m", "cm", "mm", "in", "cmu"] | None = None
    """Unit of length of a file, where it says none or is wrong."""
    up: Literal["x", "y", "z"] | None = None
    """Vertical axis of a file, where it says none or is wrong."""
    marker_map: str | None = None
    """Name or path of the marker map of a file, by default the one whose names fit."""
    longest_gap_s: NonNegativeFloat = 0.2
    """Longest gap in a marker's track that is filled."""
    rate_hz: PositiveFloat = 100.0
    """Rate the motion is resampled to."""
    speed: PositiveFloat = 1.0
    """How many times as fast as it was recorded."""
    start_s: NonNegativeFloat | None = None
    """Start of the part that is used, in the time of the faster motion."""
    end_s: PositiveFloat | None = None
    """End of the part that is used."""
    task: dict[str, int | float] = Field(default_factory=dict)
    """How a virtual actor performs: `stroke_m`, `repetitions`, `variation`, ... The equipment's place is
    the fixture's."""

    @model_validator(mode="after")
    def _ordered(self) -> "MotionSection":
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise ValueError(f"end_s must be after start_s, {self.start_s or 0.0:g}")
        return self


class WeightsSection(ScenarioSection):
    """How much each criterion of human motion counts against the others (Tomić 2018, table 4.2)."""

    energy: NonNegativeFloat = 0.0
    """Little kinetic energy."""
    velocity: NonNegativeFloat = 0.0
    """Little joint speed."""
    ergonomy: NonNegativeFloat = 0.0
    """Near the ergonomic posture. It enters the law with the square of the sampling period: it shows where it
    has nearly all the weight."""
    manipulability: NonNegativeFloat = 0.0
    """Away from singular postures."""

    @model_validator(mode="after")
    def _some(self) -> "WeightsSection":
        if not 0.0 < self.total < float("inf"):
            raise ValueError("one of energy, velocity, ergonomy, manipulability must be greater than 0")
        return self

    @property
    def total(self) -> float:
        """Their sum, which the law divides them by."""
        return self.energy + self.velocity + self.ergonomy + self.manipulability

    @property
    def shares(self) -> tuple[float, float, float, float]:
        """Energy, velocity, ergonomy, manipulability: sum 1."""
        weights = (self.energy, self.velocity, self.ergonomy, self.manipulability)
        energy, velocity, ergonomy, manipulability = (weight / self.total for weight in weights)
        return energy, velocity, ergonomy, manipulability


class RetargetSection(ScenarioSection):
    """How the motion becomes joint positions."""

    method: Literal["analytical", "numerical", "ude", "arm_adaptation"] = "analytical"
    """How the recording is followed. By the scaled model: one Gauss-Newton step a frame, the least error in
    every frame, or that of the markers alone (Tomić 2018); by the robot's own stretched arms inside position,
    speed and acceleration limits (Kim & Kim 2005)."""
    posture: Literal["limited", "rescaled"] = "limited"
    """How the scaled model's posture comes inside the robot's limits: followed once more with the limits, all
    frames at once, or its joint curves rescaled around excursions (Safonova et al. 2003)."""
    transfer: Literal["path", "frame"] = "path"
    """How the hands' task reaches the joints: the whole motion at once, or frame by frame (Tomić 2018)."""
    weights: WeightsSection | None = None
    """Criteria by which trunk and arms move while hands hold something, instead of as the person did."""
    smoothing_window: Annotated[int, Field(ge=3)] = 31
    """Savitzky-Golay window in samples, odd."""
    smoothing_order: PositiveInt = 5
    """Savitzky-Golay polynomial order."""
    joint_limit_margin_rad: NonNegativeFloat = 0.03
    """Distance kept from the joint limits: about what a loaded joint gives way under its own stiffness."""
    speed_limit_fraction: Fraction = 0.95
    """Part of the joint speed limits that may be used."""
    contact_distance_m: NonNegativeFloat = 0.015
    """Palm to handle distance below which the actor is in contact."""
    transition_distance_m: PositiveFloat = 0.1
    """Palm to handle distance over which the hand's target blends into contact."""
    transition_time_s: PositiveFloat = 1.5
    """Shortest time, of the recording, for that."""
    pelvis_follow: Annotated[float, Field(ge=0.0, le=1.0)] = 0.4
    """Part of the hands' horizontal motion in contact that the COG goes with."""
    pelvis_advance: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    """How far the COG goes forward, m, for each metre that the hands in contact rise."""
    pelvis_lean_m: float = 0.0
    """How far before the middle of the soles the COG is, in contact, in the middle of its way."""
    pelvis_height_follow: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    """Part of the person's pelvis height, to the robot's scale, that the robot's goes with in free motion, as
    far as its legs allow."""

    @model_validator(mode="after")
    def _window(self) -> "RetargetSection":
        if self.smoothing_window % 2 == 0 or self.smoothing_window <= self.smoothing_order:
            raise ValueError("smoothing_window must be odd and greater than smoothing_order")
        if self.transition_distance_m <= self.contact_distance_m:
            raise ValueError("transition_distance_m must be greater than contact_distance_m")
        return self


class GripSection(ScenarioSection):
    """The compliant constraint by which a hand holds a handle."""

    stiffness_n_m: PositiveFloat = 2000.0
    damping_ns_m: NonNegativeFloat = 30.0
    rotational_stiffness_nm_rad: NonNegativeFloat = 10.0
    rotational_damping_nms_rad: NonNegativeFloat = 0.5
    max_force_n: PositiveFloat = 60.0
    """Force at which the grip lets go."""
    max_torque_nm: PositiveFloat = 3.0
    """Torque at which the grip lets go."""
    tolerance_m: PositiveFloat = 0.02
    """Palm to handle distance within which the grip engages."""


class ControlSection(ScenarioSection):
    """Joint control, at every physics step."""

    law: Literal["pd", "computed_torque"] = "pd"
    """PD with the robot's gains, or, for a fixed base, the inverse dynamics of an acceleration that closes
    the error."""
    feedforward: Literal["inverse_dynamics", "gravity", "none"] = "inverse_dynamics"
    """What is added to the PD law: the planned motion's torque, that of its weight alone, or nothing."""
    bandwidth_hz: PositiveFloat = 10.0
    """At which computed torque closes the error, critically damped."""
    model: Literal["own", "explicit", "abbreviated"] = "own"
    """What computed torque knows of an arm: its own model, or its explicit one, in full or abbreviated."""
    elements_hz: PositiveFloat | None = None
    """How often an explicit model's elements, which depend on the angles, are computed; by default as often
    as the torques."""
    torques_hz: PositiveFloat | None = None
    """How often the torques are computed from them, and held in between; by default every step."""

    @model_validator(mode="after")
    def _explicit_model(self) -> "ControlSection":
        if self.model != "own" and self.law != "computed_torque":
            raise ValueError(f"control.model: {self.model} needs control.law: computed_torque")
        for name in ("elements_hz", "torques_hz"):
            if self.model == "own" and getattr(self, name) is not None:
                raise ValueError(f"control.{name} needs control.model: explicit or abbreviated")
        return self


class SimulationSection(ScenarioSection):
    """Time, logging and the floor."""

    timestep_s: Annotated[float, Field(gt=0.0, le=0.01)] = 0.001
    settle_s: NonNegativeFloat = 0.5
    """Standing still before anything moves."""
    lead_in_s: NonNegativeFloat = 0.0
    """Quintic from the posture to the motion's first sample."""
    hold_s: NonNegativeFloat = 0.5
    """Standing still after the motion."""
    log_rate_hz: Annotated[float, Field(ge=10.0)] = 200.0
    floor_friction: NonNegativeFloat = 0.8


class CameraSection(ScenarioSection):
    """The camera of the video."""

    target_m: Point3 = (0.1, 0.0, 0.75)
    """Point in the middle of the picture."""
    distance_m: PositiveFloat = 2.2
    yaw_deg: float = 50.0
    pitch_deg: Annotated[float, Field(ge=-89.9, le=89.9)] = -15.0
    fov_deg: Annotated[float, Field(gt=0.0, lt=180.0)] = 45.0
    width: Annotated[int, Field(ge=16, le=7680, multiple_of=2)] = 1280
    """Pixels; H.264 needs even numbers."""
    height: Annotated[int, Field(ge=16, le=4320, multiple_of=2)] = 720
    fps: PositiveInt = 30
    overlays: bool = True
    """Draw COG, ZMP and support polygon on the floor."""


class Bound(ScenarioSection):
    """The range a metric must stay in."""

    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Bound":
        if self.min is None and self.max is None:
            raise ValueError("must give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must be at most max")
        return self


def end_of_pushes(section: PushSection) -> float:
    """Compute how long a scenario's pushes take, with the time to recover from the last one.

    Parameters
    ----------
    section : PushSection
        Section `push` of the scenario.

    Returns
    -------
    float
        Time from the end of settling until `interval_s` after the last push, s.
    """
    return section.start_s + section.count * section.interval_s
