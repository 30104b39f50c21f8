"""Sections of a scenario: their keys, units, defaults and ranges.

They are below everything that reads them, so that a planner or a controller takes its section as it is.
"""

from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from simbench.errors import RetargetError, closest_name
from simbench.plugins.declarations import FINISHED, OneOf, is_plugin, plugin_options, require_plugin
from simbench.system.limits import RATES, SHORTEST_STEP

# Strict sections would refuse YAML's lists where tuples are declared.
# Coordinate, m. The scene is small: a larger number is not in metres.
Coordinate = Annotated[float, Field(ge=-100.0, le=100.0)]
# Length of something in the scene, m. A larger number is not in metres.
Length = Annotated[float, Field(ge=1e-5, le=10.0)]
# Distance in the scene that may be 0, m. A larger number is not in metres.
Extent = Annotated[float, Field(ge=0.0, le=10.0)]
# Distance in the scene to either side, m. A larger number is not in metres.
Offset = Annotated[float, Field(ge=-10.0, le=10.0)]
# Mass of something that hands move, kg. A larger number is not in kilograms.
Mass = Annotated[float, Field(ge=1e-6, le=1000.0)]
# Angle up to a full turn, rad. A larger number is not in radians.
Angle = Annotated[float, Field(ge=-6.2832, le=6.2832)]
# Rate, Hz: from one in ten seconds to one at each of the shortest physics steps.
Rate = Annotated[float, Field(ge=0.1, le=RATES[1])]
# Duration of something that happens, s: up to an hour.
Duration = Annotated[float, Field(ge=1e-4, le=3600.0)]
Time = Annotated[float, Field(ge=0.0, le=3600.0)]  # Time that may be 0, s: up to an hour.
# Gain or stiffness by which something is divided, in SI units.
Gain = Annotated[float, Field(ge=1e-6, le=1e6)]
# Friction, damping, stiffness or weight that may be 0, in SI units.
Coefficient = Annotated[float, Field(ge=0.0, le=1e6)]
Point2 = Annotated[tuple[Coordinate, Coordinate], Strict(False)]
Point3 = Annotated[tuple[Coordinate, Coordinate, Coordinate], Strict(False)]
Fraction = Annotated[float, Field(ge=1e-3, le=1.0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
# JSON Schema of a plug-in's section or of none.
_SECTION = WithJsonSchema({"type": ["object", "null"]})


class ScenarioSection(BaseModel):
    """Base of all sections: no unknown keys, no conversions between types, finite numbers only."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
        defer_build=True,
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
                hint = closest_name(str(key), cls.model_fields)
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key{hint}; allowed: {allowed}",
                    {"key": key, "hint": hint, "allowed": allowed},
                )
        return data


class RobotSection(ScenarioSection):
    """The robot, and where it stands."""

    name: str = "romeo"
    """A robot's name (`simbench robot list`), or the path of a robot.yaml or a URDF."""
    posture: str = "standing"
    """Named posture of the robot: it determines legs and head, or where an arm on a fixed base rests. An arm
    that lacks it rests in a posture of its own. `seated` needs a stool among the fixtures."""
    position_m: Point2 = (0.0, 0.0)
    """Position of the middle between the feet, or of a fixed base, in the world frame, x and y."""
    heading_rad: Angle = 0.0
    """Rotation about the world's z axis."""
    height_m: Offset | None = None
    """Height of the pelvis of a robot with legs above its height in the posture. By default the posture's;
    with `stepping`, lower if the steps need it. Of a robot with a fixed base: height of its root link above
    the floor; by default its own (`base_height_m` of robot.yaml)."""
    place: Literal["given", "auto"] = "given"
    """`given`: the robot stands where this section says. `auto`: simbench searches the placement from which
    the hands reach all of the equipment with the largest joint-limit margin."""


# Motion sources without a recording: the robot's joints swing, or its arms keep their posture.
SWEEP, STILL = "joints:sweep", "joints:still"

TRAJECTORY = "trajectory:"  # Prefix of a motion source that is a file of a robot's motion.
# Keys of `motion` that only a file of a robot's motion takes.
_TRAJECTORY_KEYS = ("joint_order", "quaternion")
# Keys of `motion` that only a person's recording takes.
_PERSON_KEYS = (
    "unit",
    "up",
    "marker_map",
    "reader",
    "longest_gap_s",
    "estimate",
    "scale",
    "height_m",
    "skeleton",
    "body_model",
    "rate_hz",
    "task",
)


class ActorTaskKeys(ScenarioSection):
    """Keys of `motion.task` for `actor:<task>` on a fixture of that type; by default, the task's own values.

    Whoever performs the task checks them, because the task determines which there are.
    """

    stroke_m: Length | None = None
    """How far a prismatic joint is moved in a stroke."""
    stroke_rad: Annotated[float, Field(ge=1e-5, le=1000.0)] | None = None
    """How far a revolute joint is turned in a stroke."""
    repetitions: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Number of repetitions."""
    variation: Annotated[float, Field(ge=0.0, lt=0.5)] | None = None
    """Relative standard deviation of durations and strokes over the repetitions."""
    move_duration_s: Duration | None = None
    """Duration of the longest move of a repetition; the others keep their ratio to it."""
    pull_duration_s: Duration | None = None
    """Mean duration of a pull; `actor:drawer` only."""
    push_duration_s: Duration | None = None
    """Mean duration of a push; `actor:drawer` only."""
    initial_duration_s: Time | None = None
    """Duration of standing with the arms forward at the start."""
    transition_duration_s: Duration | None = None
    """Duration of moving the hands to before their handles."""
    descent_duration_s: Duration | None = None
    """Duration of moving the hands from there to their handles."""
    grasp_duration_s: Time | None = None
    """Duration of closing the fingers."""
    turning_pause_s: Time | None = None
    """Duration of the stop between two moves."""
    rest_duration_s: Time | None = None
    """Duration of standing still at the end."""
    approach_forward_m: Annotated[float, Field(ge=-0.3, le=0.3)] | None = None
    """Position of a hand before it grasps, relative to its handle: along the world's x axis."""
    approach_outward_m: Annotated[float, Field(ge=-0.3, le=0.3)] | None = None
    """Position of a hand before it grasps, relative to its handle: along y, away from the other hand."""
    approach_up_m: Annotated[float, Field(ge=-0.3, le=0.3)] | None = None
    """Position of a hand before it grasps, relative to its handle: along z. The distance is at most 0.3 m."""


class SweepTaskKeys(ScenarioSection):
    """Keys of `motion.task` for `joints:sweep`, in which all joints of an arm go out and back together."""

    amplitude_rad: Gain = 1.0
    """Displacement of every joint, to the side on which it has more room."""
    speed_rad_s: Gain = 1.0
    """Greatest speed of every joint."""
    repetitions: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of strokes out and back."""
    pause_s: Time = 0.25
    """Pause at every end."""


class MotionSection(ScenarioSection):
    """The human motion to follow."""

    source: str
    """`actor:<task>`, `deepmimic:<clip>`, `sample:<name>`, a file, `trajectory:<file>` for a robot's motion
    made elsewhere, `joints:sweep` for a robot whose joints swing, or `joints:still` for one whose arms keep
    their posture."""
    unit: Literal["m", "cm", "mm", "in", "cmu"] | None = None
    """Unit of length of a file that declares none or a wrong one."""
    up: Literal["x", "y", "z", "-x", "-y", "-z"] | None = None
    """Vertical axis of a file that declares none or a wrong one."""
    marker_map: str | None = None
    """Name or path of the marker map of a file; by default the one that fits."""
    reader: str | None = None
    """Plug-in that reads the file: `MODULE:NAME`, `./FILE.py:NAME`, or the name of an installed one; by
    default the reader of the file's suffix."""
    longest_gap_s: Time = 0.2
    """Longest gap in a marker's track that is interpolated."""
    strict: bool = False
    """Whether to refuse what would have to be assumed about the file."""
    estimate: bool = False
    """Whether to estimate an elbow or a wrist that was not recorded."""
    scale: Annotated[float, Field(ge=1e-4, le=1e4)] | None = None
    """Factor by which the recorded body is scaled."""
    height_m: Annotated[float, Field(ge=0.3, le=3.0)] | None = None
    """The person's stature, to which the recorded body is scaled."""
    skeleton: str | None = None
    """Names of the joints of an array that has none: a name such as `smpl`, or a file that lists them."""
    body_model: str | None = None
    """File of your SMPL, SMPL-H or SMPL-X model, for the places of the joints."""
    fps: Annotated[float, Field(ge=RATES[0], le=RATES[1])] | None = None
    """Frames a second of a file that does not say it."""
    joint_order: str | None = None
    """File that lists the joints of a `trajectory:<file>` in the order of its columns, for one that does not
    name them."""
    quaternion: Literal["xyzw", "wxyz"] | None = None
    """Order of the parts of the base's quaternion in a `trajectory:<file>`; by default it is found out."""
    rate_hz: Annotated[float, Field(ge=RATES[0], le=RATES[1])] = 100.0
    """Rate to which the motion is resampled."""
    speed: Annotated[float, Field(ge=0.001, le=1000.0)] = 1.0
    """Ratio of the speed to the recorded one."""
    start_s: Annotated[float, Field(ge=0.0, le=1e6)] | None = None
    """Start of the part that is used, in the time of the motion after `speed`."""
    end_s: Annotated[float, Field(ge=1e-4, le=1e6)] | None = None
    """End of the part that is used."""
    task: dict[str, int | float] = Field(default_factory=dict)
    """Parameters of a virtual actor's performance, or of a sweep of the joints."""

    @model_validator(mode="after")
    def _ordered(self) -> "MotionSection":
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise ValueError(f"end_s must be after start_s, {self.start_s or 0.0:g}")
        if self.scale is not None and self.height_m is not None:
            raise ValueError("scale and height_m both say how large the body is; give one of them")
        trajectory = self.source.startswith(TRAJECTORY)
        for key in _PERSON_KEYS if trajectory else _TRAJECTORY_KEYS:
            usual = type(self).model_fields[key].get_default(call_default_factory=True)
            if getattr(self, key) != usual:
                whose = "a person's recording" if trajectory else f"motion.source {TRAJECTORY}FILE"
                raise ValueError(f"{key} is for {whose}, got source {self.source}")
        return self


class WeightsSection(ScenarioSection):
    """Relative weights of the criteria of human motion (Tomić 2018, table 4.2)."""

    energy: Coefficient = 0.0
    """Weight of low kinetic energy."""
    velocity: Coefficient = 0.0
    """Weight of low joint speeds."""
    ergonomy: Coefficient = 0.0
    """Weight of closeness to the ergonomic posture. It enters the law multiplied by the square of the
    sampling period, so it has an effect only with nearly all the weight."""
    manipulability: Coefficient = 0.0
    """Weight of the distance from singular postures."""

    @model_validator(mode="after")
    def _some(self) -> "WeightsSection":
        if self.total == 0.0:
            raise ValueError("one of energy, velocity, ergonomy, manipulability must be greater than 0")
        return self

    @property
    def total(self) -> float:
        """Sum of the weights, by which the law divides them."""
        return self.energy + self.velocity + self.ergonomy + self.manipulability

    @property
    def shares(self) -> tuple[float, float, float, float]:
        """Normalised weights of energy, velocity, ergonomy and manipulability, with sum 1."""
        weights = (self.energy, self.velocity, self.ergonomy, self.manipulability)
        energy, velocity, ergonomy, manipulability = (weight / self.total for weight in weights)
        return energy, velocity, ergonomy, manipulability


# Methods of retargeting that ship with simbench.
RETARGETING_METHODS = ("auto", "bones", "analytical", "numerical", "ude", "arm_adaptation")


class RetargetSection(ScenarioSection):
    """How the motion is converted to joint positions."""

    method: Annotated[str, OneOf("retargeters", RETARGETING_METHODS)] = "auto"
    """Method of following the recording: `bones` gives the robot's bones the directions of the person's, all
    frames at once, as far as held palms leave them free; `auto` takes it where hands are free and the robot
    is on its feet, else `analytical`. With
    the scaled model (`analytical`, `numerical`, `ude`): one Gauss-Newton step per frame, the least error in
    every frame, or the least error of the markers alone (Tomić 2018). With the robot's own arms, stretched,
    inside position, speed and acceleration limits (Kim & Kim 2005); or one of a plug-in."""
    options: Annotated[Any, PlainValidator(partial(plugin_options, "retargeters", "method")), _SECTION] = None
    """Keys of a plug-in's retargeter."""
    posture: Literal["limited", "rescaled"] = "limited"
    """How the scaled model's posture is brought inside the robot's limits: by following the recording again
    with the limits, all frames at once, or by rescaling its joint curves around excursions (Safonova et al.
    2003)."""
    transfer: Literal["path", "frame"] = "path"
    """How the joints are solved for the hands' task: the whole motion at once, or frame by frame (Tomić
    2018)."""
    weights: WeightsSection | None = None
    """Criteria that determine trunk and arms while hands hold something, instead of the person's posture."""
    timing: Literal["auto", "preserve", "local", "uniform"] = "auto"
    """What gives way where the person is faster than the robot's joints: `preserve` keeps the recorded clock
    and reduces amplitudes, `local` keeps the path and takes longer only where it must, `uniform` slows the
    whole motion by one factor."""
    physics: Literal["stand", "steps"] = "stand"
    """What the motion is planned to be executed with: both feet planted, `stand`, or the person's `steps`,
    turns and squats. (`simbench retarget --physics kinematic` leaves balance out, and cannot be executed.)"""
    steps_strict: bool = False
    """Whether steps that the robot cannot take as the person did are refused, not replaced by the nearest."""
    smoothing_window: Annotated[int, Field(ge=3, le=10_001)] = 31
    """Savitzky-Golay window in samples, odd: 31 are 0.31 s at 100 Hz, the default of `motion.rate_hz`."""
    smoothing_order: Annotated[int, Field(ge=1, le=20)] = 5
    """Savitzky-Golay polynomial order."""
    joint_limit_margin_rad: Annotated[float, Field(ge=0.0, le=6.2832)] = 0.03
    """Distance kept from the joint limits: about the deflection of a loaded joint under its own stiffness."""
    speed_limit_fraction: Fraction = 0.95
    """Fraction of the joint speed limits that may be used."""
    contact_distance_m: Extent = 0.015
    """Palm to handle distance below which the actor is in contact."""
    transition_distance_m: Length = 0.1
    """Palm to handle distance over which the hand's target blends into contact."""
    transition_time_s: Duration = 1.5
    """Shortest time of the recording for that transition."""
    pelvis_follow: Annotated[float, Field(ge=0.0, le=1.0)] = 0.4
    """Ratio of the COG's horizontal motion to that of the hands in contact."""
    pelvis_advance: Annotated[float, Field(ge=-1.0, le=1.0, json_schema_extra={"unit": "m/m"})] = 0.0
    """Forward motion of the COG for each metre that the hands in contact rise."""
    pelvis_lean_m: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    """Distance of the COG in front of the middle of the soles, in contact, at the middle of its path."""
    pelvis_height_follow: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    """Ratio of the robot's change of pelvis height in free motion to the person's, scaled to the robot, as
    far as its legs allow."""
    pelvis_turn_follow: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    """Ratio of the lean of the robot's pelvis to that of the person's trunk, up to 0.5 rad, in free motion by
    the method `bones`, of a robot whose waist cannot lean."""

    @model_validator(mode="after")
    def _window(self) -> "RetargetSection":
        if self.smoothing_window % 2 == 0 or self.smoothing_window <= self.smoothing_order:
            raise ValueError("smoothing_window must be odd and greater than smoothing_order")
        if self.transition_distance_m <= self.contact_distance_m:
            raise ValueError("transition_distance_m must be greater than contact_distance_m")
        return self


def resolve_method(
    section: RetargetSection, *, floating: bool, both_arms: bool, holds_equipment: bool
) -> RetargetSection:
    """Replace `method: auto` by `bones`, or by `analytical` with equipment or with keys of another method.

    Hands that hold something determine the arms. Above a fixed base, two free arms are imitated by the scaled
    model; what follows a hand or a handle has no method.
    """
    if section.method != "auto" or not (floating or (both_arms and not holds_equipment)):
        return section
    plain = floating and not holds_equipment and section.posture == "limited" and section.options is None
    return section.model_copy(update={"method": "bones" if plain else "analytical"})


KINEMATIC = "kinematic"
TIMINGS: tuple[str, ...] = get_args(RetargetSection.model_fields["timing"].annotation)
# Levels of physics: the person's motion within the robot's limits; feet planted and balanced; steps too.
PHYSICS: tuple[str, ...] = (KINEMATIC, *get_args(RetargetSection.model_fields["physics"].annotation))


def require_choices(method: str, timing: str, physics: str | None) -> None:
    """Refuse method, timing or physics of a retargeting that there is not, without importing what retargets.

    A method may be a plug-in of group `simbench.retargeters`; None is the physics that fits robot and
    recording.
    """
    if method not in RETARGETING_METHODS and not is_plugin("retargeters", method, RETARGETING_METHODS):
        raise RetargetError(f"unknown method `{method}`; allowed: {', '.join(RETARGETING_METHODS)}")
    if timing not in TIMINGS:
        raise RetargetError(f"unknown timing `{timing}`; allowed: {', '.join(TIMINGS)}")
    if physics is not None and physics not in PHYSICS:
        raise RetargetError(f"unknown physics `{physics}`; allowed: {', '.join(PHYSICS)}")
    if physics == KINEMATIC and method not in ("auto", "bones"):
        raise RetargetError(f"method `{method}`: of physics `stand` and `steps`; `kinematic` has bones only")
    if physics == KINEMATIC and timing not in ("auto", "preserve"):
        raise RetargetError(
            f"timing `{timing}`: physics `kinematic` keeps the recorded clock; allowed: auto, preserve"
        )


class GripSection(ScenarioSection):
    """The compliant constraint by which a hand holds a handle."""

    stiffness_n_m: Gain = 2000.0
    """Stiffness of the spring between palm and handle."""
    damping_ns_m: Coefficient = 30.0
    """Damping of the spring between palm and handle."""
    rotational_stiffness_nm_rad: Coefficient = 10.0
    """Stiffness of the spring between the orientations of palm and handle."""
    rotational_damping_nms_rad: Coefficient = 0.5
    """Damping of the spring between the orientations of palm and handle."""
    max_force_n: Gain = 60.0
    """Force at which the grip releases the handle."""
    max_torque_nm: Gain = 3.0
    """Torque at which the grip releases the handle."""
    tolerance_m: Length = 0.02
    """Palm to handle distance within which the grip engages."""


GainScale = Annotated[float, Field(ge=0.0, le=1000.0)]  # Factor of a gain.
CONTROL_LAWS = ("pd", "computed_torque", "policy")  # Control laws that ship with simbench.


class PolicySection(ScenarioSection):
    """A policy that controls the joints at its own rate."""

    contract: str
    """YAML file that says what it observes and what its actions mean."""
    model: str | None = None
    """ONNX file with one input, the observation, and one output, the action."""
    callable: str | None = None
    """Instead, Python code: a function of the robot that makes the function of observations, as
    `MODULE:NAME`, `./FILE.py:NAME` or the name of a plug-in."""

    @model_validator(mode="after")
    def _one(self, info: ValidationInfo) -> "PolicySection":
        if (self.model is None) == (self.callable is None):
            raise ValueError("must have one of the keys model, callable")
        if self.callable is not None and not (info.context or {}).get(FINISHED):
            require_plugin("policies", self.callable)
        return self


class ControlSection(ScenarioSection):
    """Joint control, which acts at every physics step."""

    law: Annotated[str, OneOf("control_laws", CONTROL_LAWS)] = "pd"
    """Control law: PD with the robot's gains, or, for a fixed base, computed torque: the inverse dynamics of
    an acceleration that corrects the error; a policy, or one of a plug-in."""
    policy: PolicySection | None = None
    """The policy of `law: policy`."""
    options: Annotated[Any, PlainValidator(partial(plugin_options, "control_laws", "law")), _SECTION] = None
    """Keys of a plug-in's control law."""
    feedforward: Literal["inverse_dynamics", "gravity", "none"] = "inverse_dynamics"
    """Torque added to the PD law: that of the planned motion, that of gravity alone, or none."""
    stiffness: Coefficient | dict[str, Coefficient] | None = None
    """Stiffness of the PD law instead of the robot's, N·m/rad, or N/m of a sliding joint: of all joints, or
    by the name of a joint or of a group such as `left_arm`; a joint's own goes before its group's."""
    damping: Coefficient | dict[str, Coefficient] | None = None
    """Damping of the PD law instead of the robot's, N·m·s/rad, or N·s/m of a sliding joint, likewise."""
    stiffness_scale: GainScale | dict[str, GainScale] = 1.0
    """Factor of the PD law's stiffness, of all joints or by the name of a joint or group; 2 is twice as stiff
    as the robot's gains, or as `stiffness`."""
    damping_scale: GainScale | dict[str, GainScale] = 1.0
    """Factor of the PD law's damping, likewise. The square root of `stiffness_scale` keeps the damping
    ratio."""
    bandwidth_hz: Annotated[float, Field(ge=0.001, le=1000.0)] = 10.0
    """Bandwidth at which computed torque corrects the error, critically damped."""
    model: Literal["own", "explicit", "abbreviated"] = "own"
    """Model used by computed torque: the arm's own, or its explicit model, in full or abbreviated."""
    elements_hz: Rate | None = None
    """Rate at which an explicit model's elements, which depend on the joint positions, are computed; by
    default that of the torques."""
    torques_hz: Rate | None = None
    """Rate at which the torques are computed from the elements, and held in between; by default every
    step."""

    @model_validator(mode="after")
    def _suits_law(self) -> "ControlSection":
        if (self.policy is None) != (self.law != "policy"):
            raise ValueError("control.policy: needs control.law: policy, and that needs it")
        if self.model != "own" and self.law != "computed_torque":
            raise ValueError(f"control.model: {self.model} needs control.law: computed_torque")
        for name in ("stiffness", "damping", "stiffness_scale", "damping_scale"):
            if self.law != "pd" and getattr(self, name) not in (None, 1.0):
                own = "a bandwidth_hz" if self.law == "computed_torque" else "gains of its own"
                raise ValueError(f"control.{name} needs control.law: pd; {self.law} has {own}")
        for name in ("elements_hz", "torques_hz"):
            if self.model == "own" and getattr(self, name) is not None:
                raise ValueError(f"control.{name} needs control.model: explicit or abbreviated")
        return self


BALANCE_CONTROLLERS = ("cog_zmp",)  # Balance controllers that ship with simbench.


class EmbeddingSection(ScenarioSection):
    """Where balance takes the motion of trunk, arms and head into account; elsewhere they rest for it."""

    jacobian: bool = True
    """Their velocity as a known term of the COG's: the motion-embedded COG Jacobian."""
    cog: bool = True
    """Their posture in the COG, measured and in its Jacobian."""
    feedforward: bool = True
    """Their posture and motion in the feed-forward torques of the legs."""
    plan: bool = True
    """Their motion in the plan of COG, ZMP and legs, which is made before the run."""


class BalanceSection(ScenarioSection):
    """Balance of a robot that stands while its arms move (Kim, Choi, Oh & You 2005)."""

    controller: Annotated[str, OneOf("balance_controllers", BALANCE_CONTROLLERS)] = "cog_zmp"
    """Balance controller: that of the motion-embedded COG Jacobian, or one of a plug-in."""
    options: Annotated[
        Any, PlainValidator(partial(plugin_options, "balance_controllers", "controller")), _SECTION
    ] = None
    """Keys of a plug-in's balance controller."""
    control: bool = True
    """Whether the measured COG and ZMP are fed back. If not, the legs follow their plan."""
    embedding: EmbeddingSection = EmbeddingSection()
    """Motion embedding: where balance takes the arms' motion into account."""
    gain_cog: Annotated[float, Field(ge=1e-6, le=1e6, json_schema_extra={"unit": "1/s"})] | None = None
    """Gain k_c of the COG-ZMP control; above ω, the pendulum's natural frequency. By default 6 1/s, or
    1.4 ω if that is more."""
    gain_zmp: Annotated[float, Field(ge=1e-6, le=1e6, json_schema_extra={"unit": "1/s"})] | None = None
    """Gain k_p of the COG-ZMP control; below ω, the pendulum's natural frequency. By default 2 1/s, or
    0.7 ω if that is less."""
    recovery: Literal["none", "hips", "step"] = "none"
    """Reaction of a standing robot to a push: with `hips` it bends the trunk, with `step` it also steps to
    where it can stop."""
    rate_hz: Rate = 500.0
    """Rate of the balance controller; 1 / simulation.timestep_s must be a whole multiple of it."""


Distance = Annotated[float, Field(ge=-1000.0, le=1000.0)]  # Distance to walk, m.
_MOST_STEPS = 10_000  # Number of steps in a scenario.
# Steps with which their number is estimated where the robot's legs decide, m and rad.
_USUAL_STEP_M, _USUAL_STEP_RAD = 0.1, 0.3


class StepCommand(ScenarioSection):
    """One of: steps on the spot, or a distance forward or to the left, or a rotation to the left."""

    march: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Number of steps on the spot."""
    forward_m: Distance | None = None
    """Distance to walk forward; negative is backward."""
    sideways_m: Distance | None = None
    """Distance to walk to the left; negative is to the right."""
    turn_rad: Annotated[float, Field(ge=-1000.0, le=1000.0)] | None = None
    """Angle to turn to the left; negative is to the right."""

    @model_validator(mode="after")
    def _one(self) -> "StepCommand":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError(f"must have one of the keys {', '.join(type(self).model_fields)}")
        return self


class SteppingSection(ScenarioSection):
    """Stepping: commands that are carried out one after another."""

    commands: Annotated[tuple[StepCommand, ...], Strict(False), Field(min_length=1)]
    """Commands, each with one of the keys `march`, `forward_m`, `sideways_m`, `turn_rad`."""
    single_support_s: Duration = 0.7
    """Duration of single support in every step."""
    double_support_s: Duration = 0.3
    """Duration of double support before every step."""
    lift_m: Length | None = None
    """Height of the swing foot at the middle of its path; by default 4 % of the leg's length."""
    settle_s: Duration = 1.5
    """Time of standing before the first step and after the last."""
    step_length_m: Length | None = None
    """Longest step forward, between the feet; by default a quarter of the leg's length, or less if the legs
    cannot make such steps."""
    step_width_m: Length | None = None
    """Longest step sideways, between the feet; by default half as long, or less likewise."""
    step_turn_rad: Annotated[float, Field(ge=1e-5, le=6.2832)] | None = None
    """Largest rotation of a step; by default 0.3 rad, or less likewise."""
    zmp_inset_m: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    """Distance of the ZMP inward from the sole's middle in single support."""

    @model_validator(mode="after")
    def _feasible_number(self) -> "SteppingSection":
        steps = sum(
            abs(command.forward_m or 0.0) / (self.step_length_m or _USUAL_STEP_M)
            + 2.0 * abs(command.sideways_m or 0.0) / (self.step_width_m or _USUAL_STEP_M)
            + 2.0 * abs(command.turn_rad or 0.0) / (self.step_turn_rad or _USUAL_STEP_RAD)
            + (command.march or 0)
            for command in self.commands
        )
        if steps > _MOST_STEPS:
            raise ValueError(f"the commands take {steps:.4g} steps; at most {_MOST_STEPS}")
        return self


class PushSection(ScenarioSection):
    """Horizontal pushes on the pelvis, one after another, each stronger than the one before."""

    first_ns: Gain
    """Impulse of the first push."""
    increment_ns: Coefficient = 0.0
    """Difference of each push's impulse from the previous one's."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of pushes."""
    start_s: Time = 1.0
    """Time from the end of settling to the first push."""
    interval_s: Duration = 4.0
    """Time from the start of a push to the start of the next one."""
    duration_s: Duration = 0.1
    """Duration of a push, whose force is half a sine."""
    direction_rad: Angle = 0.0
    """Direction of the force, about the world's z axis from x."""

    @model_validator(mode="after")
    def _apart(self) -> "PushSection":
        if self.interval_s < self.duration_s:
            raise ValueError(f"interval_s must be at least duration_s, {self.duration_s:g}")
        return self


def end_of_pushes(section: PushSection) -> float:
    """Compute how long a scenario's pushes take, with the time to recover from the last one.

    Returns time from the end of settling until `interval_s` after the last push, s.
    """
    return section.start_s + section.count * section.interval_s


class VariationSection(ScenarioSection):
    """Random deviations of the simulated robot and floor, by `seed`, and of the recording."""

    mass_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """Each link's mass and inertia are drawn uniformly from 1 ± this fraction of the description's."""
    friction_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """`simulation.floor_friction` is drawn uniformly from 1 ± this fraction of its value."""
    rounding_seed: Annotated[int, Field(ge=0, lt=2**128)] | None = None
    """Seed of displacements of the recording as small as rounding, from which a plan may differ as it does on
    another processor; none without it."""
    rounding_size: Annotated[float, Field(gt=0.0, le=1e-6)] = 1e-12
    """Standard deviation of those displacements, m and rad."""


class SimulationSection(ScenarioSection):
    """Physics engine, time, logging and the floor."""

    engine: Literal["bullet", "mujoco"] = "bullet"
    """Physics engine: PyBullet or MuJoCo."""
    timestep_s: Annotated[float, Field(ge=SHORTEST_STEP, le=0.01)] = 0.001
    """Physics step."""
    settle_s: Time = 0.5
    """Time of standing still before the motion."""
    lead_in_s: Time = 0.0
    """Duration of the quintic from the posture to the motion's first sample."""
    hold_s: Time = 0.5
    """Time of standing still after the motion."""
    log_rate_hz: Annotated[float, Field(ge=10.0, le=RATES[1])] = 200.0
    """Rate of the samples in the log; 1 / timestep_s must be a whole multiple of it."""
    energy: bool = True
    """Whether the works of all forces are summed up at every step, and logged with their balance; the loop
    takes up to half as long again for it."""
    floor_friction: Annotated[float, Field(ge=0.0, le=100.0)] = 0.8
    """Coulomb friction coefficient between the floor and a body of friction 1."""


class CameraSection(ScenarioSection):
    """The camera of the video."""

    target_m: Point3 | None = None
    """Point at the centre of the picture, in the world frame. By default the middle of the robot:
    [0.1, 0, 0.75] for one of a person's height."""
    distance_m: Annotated[float, Field(ge=0.01, le=1000.0)] | None = None
    """Distance of the camera from the target. By default in proportion to the robot's height: 2.2 for one of
    a person's."""
    yaw_deg: Annotated[float, Field(ge=-3600.0, le=3600.0)] = 50.0
    """Rotation of the camera about the vertical: a robot that looks along x is seen from its right side at 0,
    from the front at 90, from its left side at 180."""
    pitch_deg: Annotated[float, Field(ge=-89.9, le=89.9)] = -15.0
    """Elevation of the view; negative looks down."""
    fov_deg: Annotated[float, Field(ge=0.1, le=179.0)] = 45.0
    """Vertical field of view."""
    width: Annotated[int, Field(ge=16, le=7680, multiple_of=2, json_schema_extra={"unit": "px"})] = 1280
    """Width of the picture; H.264 needs an even number."""
    height: Annotated[int, Field(ge=16, le=4320, multiple_of=2, json_schema_extra={"unit": "px"})] = 720
    """Height of the picture; H.264 needs an even number."""
    fps: Annotated[int, Field(ge=1, le=1000, json_schema_extra={"unit": "1/s"})] = 30
    """Frames of the video for each second."""
    overlays: bool = True
    """Draw COG, ZMP and support polygon on the floor."""
    follow: bool = False
    """Move the camera with the robot: its target is above or below the base, whose way is smoothed, at the
    height of `target_m`."""
    orbit_s: Annotated[float, Field(ge=-3600.0, le=3600.0)] | None = None
    """Time of the video in which the camera turns once about its target, at least 0.5; negative turns it
    clockwise seen from above. By default it does not turn."""

    @field_validator("orbit_s")
    @classmethod
    def _turns(cls, value: float | None) -> float | None:
        if value is not None and abs(value) < 0.5:
            raise ValueError("must be at least 0.5 s, or at most -0.5 s")
        return value


class MetricSection(ScenarioSection):
    """A metric of a plug-in."""

    plugin: Annotated[str, OneOf("metrics", ())]
    """Plug-in that computes it from the log: `MODULE:NAME`, `./FILE.py:NAME`, or the name of an installed
    one."""
    options: Annotated[Any, PlainValidator(partial(plugin_options, "metrics", "plugin")), _SECTION] = None
    """Keys of the plug-in."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"plugin": data} if isinstance(data, str) else data


class Bound(ScenarioSection):
    """The range in which a metric must be."""

    min: float | None = None
    """Least value that the metric may have."""
    max: float | None = None
    """Greatest value that the metric may have."""

    @model_validator(mode="after")
    def _ordered(self) -> "Bound":
        if self.min is None and self.max is None:
            raise ValueError("must give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must be at most max")
        return self
