"""The command line's `simbench retarget`: parse, call, print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from simbench.cli.completion import complete_robot, complete_words
from simbench.cli.console import make_console, metrics_table, number_table, progress_bars
from simbench.cli.convert import write_motion_file
from simbench.cli.motion import MovingBody, contact_table, describe_person
from simbench.cli.shared_options import Format, Rate, Source, option, output, reads_recording
from simbench.errors import RetargetError, RunError

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.motion.read_options import ReadOptions
    from simbench.motion.trajectory_files.joint_order import JointUse
    from simbench.retargeting.api import Retargeting
    from simbench.retargeting.body_errors import ErrorSummary
    from simbench.retargeting.imitation.imitation import ImitationErrors
    from simbench.runs.motion_fidelity import Fidelity


_STILL = 1e-6  # Range of a joint that stands still, rad or m: rounding.
# Fraction of the time from which on a joint at its limit is named, and the most that are.
_LONG_STAY, _STAYS_SHOWN = 0.05, 6
_SHOWN_IN_TABLE = "retarget.robot_"  # Beginning of the metrics that the table of the robot's errors shows.

_MOST_MOMENTS = 12  # Moments side by side of which each still has 90 pixels.

# Not from the section's model, which imports pydantic: `--help` need not wait for it. A test compares them.
_METHODS = "auto, bones, analytical, numerical, ude, arm_adaptation"
_PHYSICS = (
    "kinematic (within the robot's limits), stand (feet planted, balanced), steps (the person's, balanced)"
)
_TIMINGS = "auto, preserve (the recorded clock), local (time, where it must), uniform (one factor)"


@reads_recording()
def retarget(
    motion: Source,
    robot: Annotated[
        str, option("Name (simbench robot list), or path of a robot.yaml or a URDF.", complete=complete_robot)
    ] = "romeo",
    physics: Annotated[
        str | None,
        option(
            f"What the motion must hold: {_PHYSICS}. By default kinematic, with equipment stand.",
            complete=complete_words("kinematic", "stand", "steps"),
        ),
    ] = None,
    method: Annotated[
        str,
        option(
            f"How the robot follows the person: {_METHODS}.", complete=complete_words(*_METHODS.split(", "))
        ),
    ] = "auto",
    timing: Annotated[
        str,
        option(
            f"What gives way where the person is too fast: {_TIMINGS}.",
            complete=complete_words("auto", "preserve", "local", "uniform"),
        ),
    ] = "auto",
    free: Annotated[bool, Option("--free", help="Leave out equipment that the recording knows of.")] = False,
    out: Annotated[
        Path | None, output("Write the trajectory: .csv, .nc, .npz or .pkl (GMR).", "FILE")
    ] = None,
    format: Format = None,
    rate: Rate = None,
    picture: Annotated[
        Path | None, output("Draw errors, and joints between their limits.", "FILE.png")
    ] = None,
    beside: Annotated[
        bool, Option("--beside", help="Let it show the robot beside the person at some moments, and errors.")
    ] = False,
    moments: Annotated[int, option("Moments that --beside shows.", "N", min=1, max=_MOST_MOMENTS)] = 6,
    *,
    reading: ReadOptions,
) -> None:
    """Turn a human motion into a joint trajectory, without simulating it."""
    from simbench.options import RetargetSection, require_choices

    # Everything that can be refused is, before anything is computed or what computes it is imported.
    if beside and picture is None:
        raise RunError("--beside says what the picture shows that --picture FILE.png names")
    chosen = ""
    if out is not None:
        from simbench.motion.trajectory_files.write import choose_format

        chosen = choose_format(out, format)
    elif format is not None or rate is not None:
        raise RunError("--format and --rate are of the file that --out FILE names")
    require_choices(method, timing, physics)
    from simbench.robot.robot_sources import find_robot

    find_robot(robot)
    from simbench.retargeting.api import retarget_motion
    from simbench.retargeting.imitate.plan import KinematicPlan
    from simbench.retargeting.imitation.imitation import imitation_errors
    from simbench.retargeting.steps.step_following import StepFollowingPlan
    from simbench.runs.motion_fidelity import has_human_arms, planned_fidelity

    with progress_bars(make_console(stderr=True)) as on_progress:
        made = retarget_motion(
            motion,
            robot,
            physics=physics,
            method=method,
            reading=reading,
            free=free,
            timing=timing,
            on_progress=on_progress,
        )
    section, plan = RetargetSection(), made.plan
    limits = section.joint_limit_margin_rad, section.speed_limit_fraction
    fidelity = planned_fidelity(
        made.robot, plan.trajectory, made.motion, plan.errors, limits, heading=placed_heading(made)
    )
    # Without a scaled model beside the person to draw, the robot itself is drawn.
    beside = beside or isinstance(made.plan, KinematicPlan)
    errors: ImitationErrors | None = None
    if not isinstance(made.plan, KinematicPlan | StepFollowingPlan) and made.plan.imitation is not None:
        errors = imitation_errors(made.plan.imitation, made.motion)
    if picture is not None and beside:
        if not has_human_arms(made.robot, made.motion):
            raise RetargetError(
                f"--beside: {made.robot.name} follows a hand, without a body to show beside the person's; "
                "allowed: robots with two arms"
            )
    elif picture is not None:
        from simbench.runs.plots.retargeting_plot import draw_retargeting, require_model

        require_model(made)
    written = ""
    if out is not None:
        attributes: dict[str, str | float] = {
            "source": made.motion.source,
            "robot": made.robot.name,
            "method": made.method,
            "slow_down": made.plan.metrics["retarget.slow_down"],
        }
        written = write_motion_file(made.plan.trajectory, made.robot, out, chosen, rate, attributes)
    if picture is not None and beside:
        draw_compared(made, fidelity, picture, moments)
    elif picture is not None and errors is not None:
        draw_retargeting(made, errors, picture)
    _print_retargeting(made, fidelity, errors)
    if out is not None:
        shown = rate is not None or chosen == "unitree"
        print(f"trajectory  {out}" + (f"  ({written})" if shown else ""))
    if picture is not None:
        print(f"picture  {picture}")


def _print_retargeting(made: Retargeting, fidelity: Fidelity, errors: ImitationErrors | None) -> None:
    """Print the tables and lines of a retargeting."""
    from simbench.motion.trajectory_files.joint_order import joint_uses
    from simbench.retargeting.body_errors import measure_robot_feet, summarise_errors
    from simbench.retargeting.collision.interference import describe_interference
    from simbench.retargeting.imitation.imitation import summarise

    trajectory, console = made.plan.trajectory, make_console()
    scales = {"m": (1000.0, "mm"), "": (100.0, "% of arm"), "rad": (180.0 / math.pi, "°")}
    rows = []
    for summary in summarise_errors(made.plan.errors):
        scale, unit = scales[summary.unit]
        numbers = (summary.mean, summary.percentile_95, summary.maximum)
        times = (made.motion.time[summary.sample], trajectory.time[summary.sample])
        name = summary.quantity if summary.unit else ""
        shown = [f"{scale * value:.1f}" for value in numbers]
        rows.append((name, *shown, unit, *(f"{each:.2f}" for each in times), summary.side))
    heads = ("mean", "95 %", "worst", "unit", "at s", "robot's s", "side")
    console.print(number_table("robot against person", *heads, rows=rows, left=(4, 7)))
    print(*robot_lines(made, fidelity), sep="\n")
    others = {
        name: value for name, value in made.plan.metrics.items() if not name.startswith(_SHOWN_IN_TABLE)
    }
    uses = joint_uses(made.robot, trajectory)
    # At the times of the same samples in the recording.
    robot = MovingBody("robot", made.motion.time, *measure_robot_feet(made.robot, trajectory))
    bodies = [describe_person(made.recording), robot]
    tables = [contact_table(bodies), metrics_table(others), joint_table(uses)]
    if errors is not None:
        tables.insert(0, error_table(summarise(errors)))
    for table in tables:
        print()
        console.print(table)
    print()
    print(f"joints that stand still: {sum(use.highest - use.lowest <= _STILL for use in uses) or 'none'}")
    for interference in made.plan.interferences:
        print(f"interference  {describe_interference(interference)}")


def placed_heading(made: Retargeting) -> float:
    """Find the direction in which a robot was placed.

    `made`: retargeted recording. Returns direction of its x axis in the frame of its trajectory, rad about z:
    0 for a fixed base, whose trajectory is relative to it.
    """
    from simbench.kinematics.rotation import heading_of
    from simbench.retargeting.stand.standing_plan import MotionPlan

    return float(heading_of(made.plan.stance.base[3:])) if isinstance(made.plan, MotionPlan) else 0.0


def draw_compared(made: Retargeting, fidelity: Fidelity, path: Path, moments: int) -> None:
    """Draw the robot beside the person.

    `made`: retargeted recording; `fidelity`: what it leaves of the person; `path`: PNG file to write;
    `moments`: largest number of moments to show.
    """
    from simbench.retargeting.body_errors import POINT_NAMES, robot_points
    from simbench.runs.plots import fidelity_plot

    trajectory, heading = made.plan.trajectory, placed_heading(made)
    joints = made.motion.joints
    person = {name: joints[name] for name in POINT_NAMES if name in joints}
    chosen = fidelity_plot.choose_moments(person, made.motion.time, moments)
    size = fidelity_plot.panel_size(len(chosen))
    source = made.motion.source if len(made.motion.source) <= 60 else f"…{made.motion.source[-59:]}"
    comparison = fidelity_plot.Comparison(
        f"{source} on {made.robot.name}, planned",
        made.motion.time,
        trajectory.time,
        person,
        robot_points(made.robot, trajectory, heading=heading),
        fidelity_plot.direction_errors(fidelity),
        chosen,
        fidelity_plot.draw_robot(made.robot, trajectory, heading, chosen, size),
    )
    fidelity_plot.draw_comparison(comparison, path)


def robot_lines(made: Retargeting, fidelity: Fidelity) -> Iterator[str]:
    """Say what the errors of the robot come from, and at which tempo it moves.

    They come from equipment that hands hold, where arms follow it and not the person, from joints at their
    limits, or a doubtful recording. `fidelity`: what it leaves of the person.
    """
    from simbench.options import RetargetSection
    from simbench.retargeting.body_errors import limit_stays
    from simbench.retargeting.imitate.plan import KinematicPlan
    from simbench.retargeting.match.body import describe_match, match_body
    from simbench.retargeting.steps.step_following import StepFollowingPlan
    from simbench.runs.motion_fidelity import fidelity_lines, fidelity_metrics

    held = made.plan.errors.held_fraction
    if held > 0.0:
        miss = 1000.0 * made.plan.metrics.get("retarget.hand_max_m", 0.0)
        yield (
            f"equipment  held {held:.0%} of the time: the arms follow the handles there "
            f"(palms {miss:.1f} mm off)"
        )
    margin, time = RetargetSection().joint_limit_margin_rad, made.motion.time
    found = limit_stays(made.robot, made.plan.trajectory, margin)
    stays = [stay for stay in found if stay[0] >= _LONG_STAY]
    for fraction, joint, end, limit, unit, first, last in stays[:_STAYS_SHOWN]:
        shown = f"{math.degrees(limit):.0f}°" if unit == "rad" else f"{1000.0 * limit:.0f} mm"
        yield (
            f"at limit   {joint} {end} ({shown}) {fraction:.0%} of the time, "
            f"longest {time[first]:.2f} to {time[last]:.2f} s"
        )
    if len(stays) > _STAYS_SHOWN:
        yield f"at limit   {len(stays) - _STAYS_SHOWN} more joints"
    yield from fidelity_lines(fidelity_metrics(fidelity))
    if isinstance(made.plan, StepFollowingPlan):
        yield from (f"steps      {note}" for note in made.plan.notes)
        yield from (f"changed    {change}" for change in made.plan.changes)
        others = [doubt for doubt in made.plan.doubts if doubt not in made.plan.changes]
    else:
        if isinstance(made.plan, KinematicPlan):
            yield from (f"bones      {line}" for line in describe_match(match_body(made.robot)))
        head = "note" if isinstance(made.plan, KinematicPlan) else "time"
        yield from (f"{head:10s} {note}" for note in made.plan.notes)
        others = []
    yield from (f"doubt      {doubt}" for doubt in (*made.recording.doubts, *others))


def error_table(summaries: Sequence[ErrorSummary]) -> Table:
    """Lay out the distance of the scaled model from the recording.

    `summaries`: mean, 95th percentile and maximum of each error. Returns one line for each error, in mm or
    degrees.
    """
    rows = []
    for summary in summaries:
        scale, unit = (1000.0, "mm") if summary.unit == "m" else (180.0 / math.pi, "°")
        numbers = (summary.mean, summary.percentile_95, summary.maximum)
        rows.append((summary.quantity, *(f"{scale * value:.2f}" for value in numbers), unit))
    heads = ("mean", "95 %", "max", "unit")
    return number_table("scaled model without limits against recording", *heads, rows=rows, left=(4,))


def joint_table(uses: Sequence[JointUse]) -> Table:
    """Lay out the joints that move: range and speed against their limits.

    Returns one line for each moving joint, in degrees; in mm for sliding joints.
    """
    rows = []
    for use in uses:
        if use.highest - use.lowest > _STILL:
            scale, unit = (180.0 / math.pi, "°, °/s") if use.unit == "rad" else (1000.0, "mm, mm/s")
            lowest, highest, clearance = (
                f"{scale * each:.1f}" for each in (use.lowest, use.highest, use.clearance)
            )
            limits = f"{scale * use.lower:.0f} to {scale * use.upper:.0f}"
            speed, limit = f"{scale * use.speed:.0f}", f"{scale * use.speed_limit:.0f}"
            part = f"{use.speed / use.speed_limit:.0%}"
            rows.append((use.name, lowest, highest, limits, clearance, speed, limit, part, unit))
    heads = ("from", "to", "limits", "nearest", "speed", "limit", "of it", "unit")
    return number_table("joint", *heads, rows=rows, left=(8,))
