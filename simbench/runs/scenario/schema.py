"""The Scenario schema: what a scenario file may say, with units, defaults and ranges."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Strict,
    model_validator,
)

from simbench.options import Fraction, Name, Point2, Point3, Section
from simbench.scenario_balance import BalanceSection, PushSection, SteppingSection, VariationSection
from simbench.sim.fixtures import Design

SWEEP = "joints:sweep"
STILL = "joints:still"
"""The motion sources of a robot that moves by itself, and of one whose arms keep their posture."""


class RobotSection(Section):
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


class MotionSection(Section):
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


class WeightsSection(Section):
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


class RetargetSection(Section):
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


class GripSection(Section):
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


class ControlSection(Section):
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


class SimulationSection(Section):
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


class CameraSection(Section):
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


class Bound(Section):
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


class Scenario(Section):
    """Everything that determines a run."""

    name: Name
    summary: str = ""
    seed: NonNegativeInt = 0
    robot: RobotSection = RobotSection()
    motion: MotionSection
    retarget: RetargetSection = RetargetSection()
    fixtures: Annotated[tuple[Design, ...], Strict(False)] = ()
    grip: GripSection = GripSection()
    control: ControlSection = ControlSection()
    balance: BalanceSection = BalanceSection()
    stepping: SteppingSection | None = None
    push: PushSection | None = None
    variation: VariationSection = VariationSection()
    simulation: SimulationSection = SimulationSection()
    camera: CameraSection = CameraSection()
    checks: dict[str, bool | Bound] = Field(default_factory=dict)
    """Metric name to the value or range it must have."""

    @model_validator(mode="after")
    def _consistent(self) -> "Scenario":
        names = [fixture.name for fixture in self.fixtures]
        if len(set(names)) < len(names):
            raise ValueError(f"fixtures must have different names, got {', '.join(names)}")
        physics, log = 1.0 / self.simulation.timestep_s, self.simulation.log_rate_hz
        ratio = physics / log
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
            raise ValueError(
                f"1 / simulation.timestep_s ({physics:g}) must be a whole multiple of "
                f"simulation.log_rate_hz ({log:g})"
            )
        ratio = physics / self.balance.rate_hz
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
            raise ValueError(
                f"1 / simulation.timestep_s ({physics:g}) must be a whole multiple of "
                f"balance.rate_hz ({self.balance.rate_hz:g})"
            )
        torques = self.control.torques_hz or physics
        for name, slow, fast in (
            ("control.elements_hz", self.control.elements_hz or torques, torques),
            ("control.torques_hz", torques, physics),
        ):
            ratio = fast / slow
            if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
                raise ValueError(f"{name} {slow:g} must be {fast:g} divided by a whole number")
        if self.stepping is not None and self.fixtures:
            raise ValueError(
                "stepping: hands keep to fixtures only where the robot stands; allowed: one of both"
            )
        steps = self.stepping is not None or self.balance.recovery == "step"
        if steps and self.control.feedforward == "gravity":
            raise ValueError(
                "control.feedforward: gravity is that of standing on both feet; "
                "a robot that steps allows inverse_dynamics, none"
            )
        return self
