"""The sections of a scenario about balance: the loop, steps, pushes, and robots other than described."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, Strict, model_validator

from simbench.options import Section


class BalanceSection(Section):
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


class StepCommand(Section):
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


class SteppingSection(Section):
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


class PushSection(Section):
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


class VariationSection(Section):
    """How the simulated robot and floor differ, at random by `seed`, from those that the plan knows."""

    mass_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """Each link's mass and inertia are drawn uniformly from 1 ± this part of the description's."""
    friction_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """`simulation.floor_friction` is drawn uniformly from 1 ± this part of itself."""
