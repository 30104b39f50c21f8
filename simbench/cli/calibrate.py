"""The command line's `simbench calibrate`: parse, call, print."""

import math
from pathlib import Path
from typing import Annotated

import typer

from simbench.cli.completion import complete_robot
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, option
from simbench.errors import CalibrationError


def calibrate(
    data: Annotated[list[Path], argument("CSV files, one for each motion, SI units.", "DATA...")],
    model: Annotated[
        str, option("Name, or path of a robot.yaml with a row (dh) for each joint.", "ARM", complete_robot)
    ],
    kp: Annotated[
        float | None, option("Law that drove it: N·m per rad to the target. Without it: tips only.")
    ] = None,
    kv: Annotated[float, option("N·m per rad/s, negative where it damps.")] = 0.0,
    ka: Annotated[float, option("N·m per rad/s².")] = 0.0,
) -> None:
    """Find an arm's table from tips, its dynamics from the law that drove it; status 1 if some stay unknown.

    Columns: time and JOINT.position of each joint; for the table tip.x, tip.y, tip.z, a point of the last
    link in the base; for the dynamics JOINT.velocity, JOINT.acceleration, JOINT.target.
    """
    from rich.table import Table

    from simbench.calibration import dynamic_calibration
    from simbench.calibration.arm_recording import Feedback, has_tips, read_arm_motion, read_tip_motion
    from simbench.calibration.kinematic_calibration import calibrate_table
    from simbench.dynamics.arm import read_arm

    arm = dynamic_calibration.with_motors(read_arm(model))
    joints = [joint.name for joint in arm.table.joints]
    unknown: list[str] = []
    console = make_console()
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
        dynamics = dynamic_calibration.calibrate_dynamics(arm, motions, law) if law else None
    if table:
        found, own_numbers, repeated = table
        rows = Table("number, rad or m", "model", "value", "standard deviation")
        for name, own, *each in zip(found.names, own_numbers, found.values, found.deviations, strict=True):
            rows.add_row(name, "-" if math.isnan(own) else f"{own:.6g}", *_cells(*each))
        console.print(rows)
        print(f"tip: off the calibrated arm, RMS  {found.residual:.3g} m")
        if repeated:
            print(f"as in the model, for they move the tip as others do: {', '.join(repeated)}")
        unknown += found.unidentifiable
    if law and dynamics:
        rows = Table("parameter, SI units", "value", "standard deviation")
        names = dynamics.base.names
        for name, *each in zip(names, dynamics.values, dynamics.deviations, strict=True):
            rows.add_row(name, *_cells(*each))
        console.print(rows)
        for joint, left in zip(joints, dynamics.residual, strict=True):
            print(f"{joint}: torque left over, RMS  {'unknown' if math.isnan(left) else f'{left:.3g}'}")
        if not dynamics.unidentifiable:
            calibrated = dynamic_calibration.make_calibrated_arm(arm, dynamics.base, dynamics.values)
            torques = dynamic_calibration.bound_static_friction(calibrated, motions, law)
            for joint, torque in zip(joints, torques, strict=True):
                bound = (
                    "not identified, it never stood still" if math.isnan(torque) else f"at least {torque:.3g}"
                )
                print(f"{joint}: static friction  {bound}")
        print("in proportion to the gains: motion alone has no unit of force")
        unknown += dynamics.unidentifiable
    if unknown:
        print(f"unknown: {', '.join(unknown)}")
        raise typer.Exit(1)


def _cells(value: float, deviation: float) -> tuple[str, str]:
    """Write an estimate and its standard deviation."""
    return ("unknown", "not in these motions") if math.isnan(value) else (f"{value:.6g}", f"{deviation:.2g}")
