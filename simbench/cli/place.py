"""The command line's `simbench place`: parse, call, print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_robot
from simbench.cli.reading import Source, reads_recording

if TYPE_CHECKING:
    from simbench.motion.read_options import ReadOptions


@reads_recording("stature")
def place(
    motion: Source,
    robot: Annotated[
        str,
        typer.Option(
            help="Name (simbench robot list), or path of a robot.yaml or a URDF.",
            autocompletion=complete_robot,
        ),
    ] = "romeo",
    side: Annotated[
        str | None,
        typer.Option(help="Only this handle, left or right, with that hand or the only one; else all."),
    ] = None,
    position: Annotated[tuple[float, float], typer.Option(metavar="X Y", help="Where it stands now, m.")] = (
        0.0,
        0.0,
    ),
    heading: Annotated[float, typer.Option(metavar="RAD", help="And its turn about the vertical.")] = 0.0,
    height: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="And how much higher its pelvis is than in the posture; of an arm: of its base, by default "
            "searched for if it stands on a pedestal.",
        ),
    ] = None,
    posture: Annotated[str | None, typer.Option(help="Named posture, by default standing.")] = None,
    follow: Annotated[
        float, typer.Option(help="Share of the hands' motion that the COG goes with: retarget.pelvis_follow.")
    ] = 0.4,
    advance: Annotated[
        float,
        typer.Option(
            metavar="M/M", help="How far it goes forward while they rise, m per m: retarget.pelvis_advance."
        ),
    ] = 0.0,
    lean: Annotated[
        float,
        typer.Option(metavar="M", help="How far before the soles' middle it is: retarget.pelvis_lean_m."),
    ] = 0.0,
    *,
    reading: ReadOptions,
) -> None:
    """Say from where a robot's hands reach all that a recording's hands held; exit status 1 if nowhere."""
    from simbench.cli.console import make_console, progress_bars
    from simbench.motion.readers import read_motion
    from simbench.retargeting.placement.placement import (
        BasePlacement,
        Placed,
        choose_posture,
        evaluate_placement,
        find_spot,
        handles_for,
    )
    from simbench.robot.robot import load_robot

    def show(placed: Placed) -> None:
        spot, found = placed.spot, placed.placement
        print(f"robot.position_m        [{spot.position[0]:.3f}, {spot.position[1]:.3f}]")
        print(f"robot.heading_rad       {spot.heading:.3f}")
        if model.floating or spot.height > 0.0:
            print(f"robot.height_m          {spot.height:.3f}")
        if model.floating:
            print(f"retarget.pelvis_follow  {spot.follow:.2f}")
            print(f"retarget.pelvis_advance {spot.advance:.2f}")
            print(f"retarget.pelvis_lean_m  {spot.lean:.3f}")
        if found.feasible:
            print(f"margin                  {found.margin:.3f} rad, tightest {found.tightest}")

    model = load_robot(robot)
    chosen = choose_posture(model, posture)
    handles = handles_for(model, read_motion(motion, reading).handles, side)
    own = 0.0 if model.floating else model.base_height
    given = BasePlacement(position, heading, own if height is None else height, follow, advance, lean)
    here = evaluate_placement(model, handles, given, chosen)
    if here.placement.feasible:
        print(f"feasible: {model.name} reaches every pose from where it stands")
        show(here)
        return
    print(f"not from where it stands: {here.placement.fault}")
    with progress_bars(make_console(stderr=True)) as on_progress:
        free = height is None and model.base_height > 0.0
        found = find_spot(model, handles, given, chosen, on_progress, any_height=free)
    if found.placement.feasible:
        print(f"feasible: {model.name} reaches every pose from")
        show(found)
        return
    print(f"infeasible: {model.name} has no place to follow the handles from; least is missing from")
    show(found)
    print(f"there                   {found.placement.fault}")
    raise typer.Exit(1)
