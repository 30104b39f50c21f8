"""The Scenario schema: what a scenario file may say, with units, defaults and ranges."""

import re
from typing import Annotated, Any

from pydantic import Field, Strict, model_validator

from simbench.files.text import is_plain_name
from simbench.options import (
    BalanceSection,
    Bound,
    CameraSection,
    ControlSection,
    GripSection,
    MetricSection,
    MotionSection,
    Name,
    PushSection,
    RetargetSection,
    RobotSection,
    ScenarioSection,
    SimulationSection,
    SteppingSection,
    VariationSection,
)
from simbench.sim.fixtures import Design

# Names that metrics of plug-ins may have.
METRIC_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")


class Scenario(ScenarioSection):
    """Everything that determines a run."""

    name: Name
    """Name of the scenario: of its run directories and of its baseline."""
    summary: str = ""
    """One line for `simbench list scenarios`."""
    seed: Annotated[int, Field(ge=0, lt=2**128)] = 0
    """Seed of all random numbers: the actor's variation and section `variation`."""
    robot: RobotSection = RobotSection()
    """The robot, and where it stands."""
    motion: MotionSection
    """The human motion to follow."""
    retarget: RetargetSection = RetargetSection()
    """How the motion is converted to joint positions."""
    fixtures: Annotated[tuple[Design, ...], Strict(False)] = ()
    """Equipment in the scene; the key `type` of each says which."""
    equipment_scale: Annotated[float, Field(ge=0.2, le=2.0)] = 1.0
    """Size of the equipment by its own, about the world's origin, but for seats. The person uses it in its
    own size, and is scaled with it: with 0.8, a robot of 0.8 times the person's size stands before it as the
    person does. Masses, friction and springs stay as they are, and so do the robot's hands. `simbench place
    SCENARIO` says what a scale brings."""
    grip: GripSection = GripSection()
    """The compliant constraint by which a hand holds a handle."""
    control: ControlSection = ControlSection()
    """Joint control."""
    balance: BalanceSection = BalanceSection()
    """Balance of a robot that stands."""
    stepping: SteppingSection | None = None
    """Steps that the robot takes; none without this section."""
    push: PushSection | None = None
    """Pushes on the pelvis; none without this section."""
    variation: VariationSection = VariationSection()
    """Random deviations of the simulated robot and floor."""
    simulation: SimulationSection = SimulationSection()
    """Time, logging and the floor."""
    camera: CameraSection = CameraSection()
    """The camera of the video."""
    metrics: dict[str, MetricSection] = Field(default_factory=dict)
    """Metrics of plug-ins: name, with the unit at its end such as `slosh_rms_m`, to what computes it."""
    checks: dict[str, bool | Bound] = Field(default_factory=dict)
    """Metric name to the value or range it must have."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values alone: sections of plug-ins are made anew where they are read."""
        return Scenario.model_validate, (self.model_dump(mode="json"),)

    @model_validator(mode="after")
    def _consistent(self) -> "Scenario":
        if bad := [name for name in self.checks if not is_plain_name(name)]:
            raise ValueError(f"checks: the name {bad[0]!r} must not have control characters")
        if bad := [name for name in self.metrics if not METRIC_NAME.fullmatch(name)]:
            raise ValueError(f"metrics: the name {bad[0]!r} must be letters, digits, _ and dots")
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
