"""Definitions of the metrics of fidelity, for the catalogue of metrics."""

from typing import NamedTuple


class FidelityText(NamedTuple):
    """What the catalogue of metrics says about a metric of fidelity."""

    name: str
    definition: str  # What it is, with its formula.
    variables: str  # Variables and attributes of the log that it is computed from, separated by commas.
    advice: str  # Why it matters, and what to do about a bad value.


class _Quantity(NamedTuple):
    """An error over time: its name, the ending of its metrics, its definition, and advice."""

    name: str
    unit: str
    definition: str
    advice: str


_EXECUTED = "joint_position, base_pose, recording_robot_time"
_STAND = "With `retarget.physics: stand` the robot stands on both feet, whatever the person did."
_QUANTITIES = (
    _Quantity(
        "hand",
        "fraction",
        "distance of the robot's wrist, relative to its shoulder, from where it would be if its upper arm "
        "and forearm had the person's directions, as a fraction of the arm's length; both arms",
        "Compare it with `retarget.robot_hand_mean_m`, the plan's: the rest is lost in the simulation.",
    ),
    _Quantity(
        "upper_arm",
        "rad",
        "angle between the robot's and the person's upper arms, both sides, in the robot's heading",
        "Compare it with `retarget.robot_upper_arm_mean_rad`, the plan's. Limits of shoulders cost most.",
    ),
    _Quantity(
        "forearm",
        "rad",
        "angle between the robot's and the person's forearms, both sides, in the robot's heading",
        "Compare it with `retarget.robot_forearm_mean_rad`, the plan's.",
    ),
    _Quantity(
        "hand_orientation",
        "rad",
        "angle between the rotations of the robot's and the person's hands out of the initial posture, both "
        "sides, in the robot's heading",
        "Wrists have small ranges; a hand that was not recorded is left out.",
    ),
    _Quantity(
        "trunk",
        "rad",
        "angle between the rotations of the robot's and the person's trunk out of the initial posture, "
        "upright, in the robot's heading",
        "A robot without waist joints keeps its trunk upright; the person's leans and turns.",
    ),
    _Quantity(
        "head",
        "rad",
        "angle between the person's line from neck to head and the same line carried along by the robot's "
        "head: R(t) R₀ᵀ d₀, where d₀ is the person's line and R₀ the rotation of the robot's head in the "
        "initial posture",
        "The rotation of the head about that line is not recorded and not compared.",
    ),
    _Quantity(
        "thigh",
        "rad",
        "angle between the robot's and the person's thighs, from the centre of the hip to the knee, both "
        "sides, in the robot's heading",
        _STAND,
    ),
    _Quantity(
        "shank",
        "rad",
        "angle between the robot's and the person's shanks, from the knee to the ankle, both sides, in the "
        "robot's heading",
        _STAND,
    ),
    _Quantity(
        "root",
        "m",
        "horizontal distance between the displacements of the middle between the hips from the recording's "
        "first sample, the person's scaled by the ratio of the legs' lengths",
        _STAND + " Otherwise it grows with every step that is shorter or longer than the person's.",
    ),
    _Quantity(
        "root_height",
        "m",
        "difference between the vertical displacements of the middle between the hips from the recording's "
        "first sample, the person's scaled by the ratio of the legs' lengths",
        "Squats and jumps that the robot does not follow.",
    ),
    _Quantity(
        "heading",
        "rad",
        "difference between the directions in which the hips of the robot and of the person look, about the "
        "vertical, out of the initial posture",
        _STAND + " A turn of the person is lost as far as the waist does not follow it.",
    ),
)
_KINDS = {"mean": "Mean", "p95": "95th percentile", "max": "Largest value"}

_OTHERS = (
    FidelityText(
        "fidelity.duration_ratio",
        "Duration of the robot's motion divided by the recording's, from its first sample that is used to "
        "its last, without lead-in and hold: Δt_robot / Δt_recording.",
        "recording_time, recording_robot_time",
        "1 is the person's own tempo; at twice the duration a quarter of the accelerations is left. It "
        "counts `motion.speed` too, which `retarget.slow_down` does not.",
    ),
    FidelityText(
        "fidelity.stretch_max_ratio",
        "Largest local stretch of time between two samples of the recording: max dt_robot / dt_recording.",
        "recording_time, recording_robot_time",
        "Far above `fidelity.duration_ratio`: one moment is slowed; `fidelity.stretch_max_at_s` says which.",
    ),
    FidelityText(
        "fidelity.stretch_max_at_s",
        "Time in the recording of the stretch of `fidelity.stretch_max_ratio`.",
        "recording_time, recording_robot_time",
        "Where the robot cannot keep the person's tempo.",
    ),
    FidelityText(
        "fidelity.lag_s",
        "Lag of the robot's hands behind the person's, both relative to the shoulders and at the robot's "
        "tempo: the shift τ of up to 0.5 s with the largest normalised cross-correlation of the velocities. "
        "It is absent where the correlation is below 0.5, nothing moves, the motion is too short, or the run "
        "ended early.",
        _EXECUTED,
        "A few milliseconds are the joint control's, or limits that change the hands' path: compare it with "
        "that of `simbench retarget`. More: a filter delays the plan, or motors are saturated.",
    ),
    FidelityText(
        "fidelity.position_limit_fraction",
        "Fraction of the samples during the recording at which at least one joint is at a limit of its "
        "position: nearer than `retarget.joint_limit_margin_rad` and 0.01 rad more. Fingers and joints that "
        "stand still do not count.",
        "joint_position, recording_robot_time",
        "There the robot cannot follow. `simbench retarget` names the joints.",
    ),
    FidelityText(
        "fidelity.speed_limit_fraction",
        "Fraction of the samples during the recording at which at least one joint has 99 % of the speed that "
        "`retarget.speed_limit_fraction` allows.",
        "joint_velocity, recording_robot_time",
        "There the person is faster than the robot: amplitude or tempo gives way.",
    ),
    FidelityText(
        "fidelity.executed_fraction",
        "Fraction of the recording's samples that the run reached; the others are not compared.",
        "time, recording_robot_time",
        "Below 1 the run ended early, usually by a fall.",
    ),
)

_STEPS = (
    FidelityText(
        "fidelity.steps_wanted",
        "Number of the person's steps that the robot is to follow: landings of a foot.",
        "foot_wrench, foot_pose",
        "Compare it with `simbench motion inspect`.",
    ),
    FidelityText(
        "fidelity.steps_landed",
        "Number of the robot's landings from 0.5 s before the person's first one to 0.5 s after the last "
        "one, by its feet's load: a tenth of the weight.",
        "foot_wrench, foot_pose",
        "More than `fidelity.steps_wanted`: feet bounce, or the robot recovers its balance by steps.",
    ),
    FidelityText(
        "fidelity.steps_missed_count",
        "Number of the person's steps without a landing of the same foot within 0.5 s.",
        "foot_wrench, foot_pose",
        "A step that the robot cannot take, or a fall.",
    ),
    FidelityText(
        "fidelity.step_position_rms_m",
        "RMS horizontal distance of the landed feet, 0.1 s after their landing, from the person's footsteps, "
        "scaled to the robot. It is `none` if no step matches.",
        "foot_wrench, foot_pose",
        "Errors of single steps add up to `fidelity.root_max_m`.",
    ),
    FidelityText(
        "fidelity.step_time_rms_s",
        "RMS difference between the times of the robot's landings and the person's at the robot's tempo.",
        "foot_wrench, foot_pose",
        "A foot that lands early or late meets the floor off its plan, which costs balance.",
    ),
    FidelityText(
        "fidelity.step_heading_rms_rad",
        "RMS difference between the directions of the landed feet and the person's, about the vertical.",
        "foot_wrench, foot_pose",
        "Feet that turn on the floor (`feet.turn_rad`), or turns that the hips do not allow.",
    ),
)


def error_texts() -> tuple[FidelityText, ...]:
    """List the metrics of the errors over time.

    Returns mean, 95th percentile and largest value of each, and when it is largest.
    """
    texts = []
    for quantity in _QUANTITIES:
        name = f"fidelity.{quantity.name}"
        for kind, words in _KINDS.items():
            texts.append(
                FidelityText(
                    f"{name}_{kind}_{quantity.unit}",
                    f"{words} of the {quantity.definition}.",
                    _EXECUTED,
                    quantity.advice,
                )
            )
        largest = f"{name}_max_{quantity.unit}"
        texts += [
            FidelityText(
                f"{name}_max_at_s",
                f"Time in the recording, from its first sample that is used, of `{largest}`.",
                _EXECUTED,
                "Look there in the video and in the picture of the report.",
            ),
            FidelityText(
                f"{name}_max_at_robot_s",
                f"Time in the run of `{largest}`.",
                _EXECUTED,
                "Look there in the video and in the picture of the report.",
            ),
        ]
    return tuple(texts)


def tempo_texts() -> tuple[FidelityText, ...]:
    """List the metrics of tempo, lag and limits. Returns in the order of the reference."""
    return _OTHERS


def footstep_texts() -> tuple[FidelityText, ...]:
    """List the metrics of footsteps. Returns in the order of the reference."""
    return _STEPS
