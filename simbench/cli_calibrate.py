"""The command line's `simbench calibrate`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table


def calibrate(
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="CSV files, one for each motion, SI units.")
    ],
    model: Annotated[
        str, typer.Option(metavar="ARM", help="Name, or path of a robot.yaml with a row (dh) for each joint.")
    ],
    kp: Annotated[float, typer.Option(help="Law that drove it: N·m per rad to the target.")],
    kv: Annotated[float, typer.Option(help="N·m per rad/s, negative where it damps.")] = 0.0,
    ka: Annotated[float, typer.Option(help="N·m per rad/s².")] = 0.0,
) -> None:
    """Find an arm's dynamics from motions and the law that drove it; exit status 1 if some stay unknown.

    Columns: time, and JOINT.position, JOINT.velocity, JOINT.acceleration, JOINT.target of each joint.
    """
    from simbench.dynamics.arm import read_arm
    from simbench.dynamics.arm_motion import Feedback
    from simbench.dynamics.arm_recording import read_arm_motion
    from simbench.dynamics.dynamic_calibration import calibrate_dynamics, with_drives

    arm = with_drives(read_arm(model))
    joints = [joint.name for joint in arm.table.joints]
    found = calibrate_dynamics(arm, [read_arm_motion(path, joints) for path in data], Feedback(kp, kv, ka))
    table = Table("parameter, SI units", "value", "standard deviation")
    for name, value, deviation in zip(found.base.names, found.values, found.deviations, strict=True):
        if np.isnan(value):
            table.add_row(name, "unknown", "not in these motions")
        else:
            table.add_row(name, f"{value:.6g}", f"{deviation:.2g}")
    Console(markup=False, emoji=False).print(table)
    for joint, left in zip(joints, found.residual, strict=True):
        print(f"{joint}: torque left over, RMS  {left:.3g}")
    print("in proportion to the gains: motion alone has no unit of force")
    if found.unidentifiable:
        print(f"unknown: {', '.join(found.unidentifiable)}")
        raise typer.Exit(1)
