"""The table of how feet touch the floor, and of the jerk of hands and feet: of a person, or a robot too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from simbench.kinematics.arrays import Array
    from simbench.kinematics.foot_contact import FootMeasures, Jerk, Worst
    from simbench.motion.human_motion import HumanMotion
    from simbench.motion.trajectory import JointTrajectory
    from simbench.robot.robot import Robot


class MovingBody(NamedTuple):
    """What a column of the table is about."""

    name: str  # Heading of the column.
    time: Array  # (T,): times of the samples, s, as they are shown.
    feet: FootMeasures | None  # How its feet touch the floor; None if it has none.
    jerks: Mapping[str, Jerk]  # {str: Jerk}: jerks of `left hand`, ..., `right foot`.


def describe_person(motion: HumanMotion) -> MovingBody:
    """Measure feet and jerk of the person in a recording. Returns column of the table."""
    from simbench.motion.foot_motion import has_only_ankles, measure_person_feet, measure_person_jerks

    name = "person (ankles)" if has_only_ankles(motion) else "person"
    return MovingBody(name, motion.time, measure_person_feet(motion), measure_person_jerks(motion))


def describe_robot(robot: Robot, trajectory: JointTrajectory, time: Array) -> MovingBody:
    """Measure feet and jerk of a robot in its planned motion.

    `trajectory`: its planned motion with T samples; `time` (T,): times of the same samples in the recording,
    s. Returns column of the table.
    """
    from simbench.runs.motion_fidelity import measure_robot_feet

    return MovingBody("robot", time, *measure_robot_feet(robot, trajectory))


def contact_table(bodies: Sequence[MovingBody]) -> Table:
    """Lay out how feet touch the floor, and the jerk of hands and feet.

    `bodies`: one for each pair of columns. Returns one line for each measure that a body has: value, and when
    it is worst.
    """
    from simbench.cli.console import number_table

    headings = [heading for body in bodies for heading in (body.name, "at s")]
    table = number_table("feet and jerk", *headings, "unit")
    table.columns[-1].justify = "left"
    rows: dict[tuple[str, str], list[str]] = {}
    for number, body in enumerate(bodies):
        for label, unit, value, at in _rows(body):
            cells = rows.setdefault((label, unit), [""] * len(headings))
            cells[2 * number : 2 * number + 2] = value, at
    for (label, unit), cells in rows.items():
        table.add_row(label, *cells, unit)
    return table


def _rows(body: MovingBody) -> Iterator[tuple[str, str, str, str]]:
    """Label, unit, value and time of each measure of a body."""

    def when(worst: Worst) -> str:
        return f"{body.time[worst.sample]:.2f}" if worst.value >= 5e-5 else ""

    if body.feet is not None:
        feet = body.feet
        yield "both feet on the floor", "%", f"{100.0 * feet.double:.0f}", ""
        yield "one foot", "%", f"{100.0 * feet.single:.0f}", ""
        yield "no foot", "%", f"{100.0 * feet.flight:.0f}", ""
        for label, worst in (
            ("sliding in contact", feet.skate),
            ("below the floor", feet.penetration),
            ("height in the air", feet.float_height),
        ):
            yield label, "mm", f"{1000.0 * worst.value:.1f}", when(worst)
    for limb in ("hand", "foot"):
        jerks = [jerk for name, jerk in body.jerks.items() if name.endswith(limb)]
        if jerks:
            worst = max((jerk.peak for jerk in jerks), key=lambda peak: peak.value)
            yield f"peak jerk of a {limb}", "m/s³", f"{worst.value:.0f}", when(worst)
            moving = [jerk.dimensionless for jerk in jerks if jerk.dimensionless == jerk.dimensionless]
            if moving:
                yield f"  of a {limb}, dimensionless", "", f"{max(moving):.1e}", ""
