"""The command line's `simbench calibrate`: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_robot
from simbench.errors import CalibrationError

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.calibration.arm_recording import ArmMotion, Feedback
    from simbench.calibration.dynamic_calibration import DynamicCalibration
    from simbench.calibration.kinematic_calibration import TableCalibration
    from simbench.dynamics.arm import Arm


def calibrate(
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="CSV files, one for each motion, SI units.")
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="ARM",
            help="Name, or path of a robot.yaml with a row (dh) for each joint.",
            autocompletion=complete_robot,
        ),
    ],
    kp: Annotated[
        float | None,
        typer.Option(help="Law that drove it: N·m per rad to the target. Without it: tips only."),
    ] = None,
    kv: Annotated[float, typer.Option(help="N·m per rad/s, negative where it damps.")] = 0.0,
    ka: Annotated[float, typer.Option(help="N·m per rad/s².")] = 0.0,
) -> None:
    """Find an arm's table from tips, its dynamics from the law that drove it; status 1 if some stay unknown.

    Columns: time and JOINT.position of each joint; for the table tip.x, tip.y, tip.z, a point of the last
    link in the base; for the dynamics JOINT.velocity, JOINT.acceleration, JOINT.target.
    """
    from simbench.calibration.arm_recording import Feedback, has_tips, read_arm_motion, read_tip_motion
    from simbench.calibration.dynamic_calibration import calibrate_dynamics, with_motors
    from simbench.calibration.kinematic_calibration import calibrate_table
    from simbench.cli.console import make_console, progress_bars
    from simbench.dynamics.arm import read_arm

    arm = with_motors(read_arm(model))
    joints = [joint.name for joint in arm.table.joints]
    unknown: list[str] = []
    # Everything is read and estimated before anything is printed.
    law = None if kp is None else Feedback(kp, kv, ka)
    motions = [read_arm_motion(path, joints) for path in data] if law else []
    tips = [read_tip_motion(path, joints) for path in data] if not law or any(map(has_tips, data)) else []
    with progress_bars(make_console(stderr=True)) as on_progress:
        on_progress("calibrate", 0, 1)
        try:
            table = calibrate_table(arm.table, tips) if tips else None
        except CalibrationError as error:
            raise CalibrationError(f"{', '.join(map(str, data))}, {error}") from None
        dynamics = calibrate_dynamics(arm, motions, law) if law else None
    if table:
        _show_table(table)
        unknown += table.found.unidentifiable
    if law and dynamics:
        _show_dynamics(arm, dynamics, motions, law)
        unknown += dynamics.unidentifiable
    if unknown:
        print(f"unknown: {', '.join(unknown)}")
        raise typer.Exit(1)


def _show_table(table: TableCalibration) -> None:
    """Print the estimated numbers of the Denavit-Hartenberg table beside the model's."""
    import numpy as np
    from rich.table import Table

    rows = Table("number, rad or m", "model", "value", "standard deviation")
    found = table.found
    for name, model, *each in zip(found.names, table.model, found.values, found.deviations, strict=True):
        rows.add_row(name, "-" if np.isnan(model) else f"{model:.6g}", *_cells(*each))
    _print(rows)
    print(f"tip: off the calibrated arm, RMS  {found.residual:.3g} m")
    if table.repeated:
        print(f"as in the model, for they move the tip as others do: {', '.join(table.repeated)}")


def _show_dynamics(arm: Arm, found: DynamicCalibration, motions: list[ArmMotion], law: Feedback) -> None:
    """Print the estimated dynamics, the residual torque and the static friction of each joint."""
    import numpy as np
    from rich.table import Table

    from simbench.calibration.dynamic_calibration import bound_static_friction, make_calibrated_arm

    joints = [joint.name for joint in arm.table.joints]
    rows = Table("parameter, SI units", "value", "standard deviation")
    for name, *each in zip(found.base.names, found.values, found.deviations, strict=True):
        rows.add_row(name, *_cells(*each))
    _print(rows)
    for joint, left in zip(joints, found.residual, strict=True):
        print(f"{joint}: torque left over, RMS  {'unknown' if np.isnan(left) else f'{left:.3g}'}")
    if not found.unidentifiable:
        held = bound_static_friction(make_calibrated_arm(arm, found.base, found.values), motions, law)
        for joint, torque in zip(joints, held, strict=True):
            what = "not identified, it never stood still" if np.isnan(torque) else f"at least {torque:.3g}"
            print(f"{joint}: static friction  {what}")
    print("in proportion to the gains: motion alone has no unit of force")


def _cells(value: float, deviation: float) -> tuple[str, str]:
    """Write an estimate and its standard deviation."""
    import numpy as np

    return ("unknown", "not in these motions") if np.isnan(value) else (f"{value:.6g}", f"{deviation:.2g}")


def _print(rows: Table) -> None:
    """Print a table whose cells may contain brackets."""
    from simbench.cli.console import make_console

    make_console().print(rows)
