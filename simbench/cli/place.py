"""The command line's `simbench place`: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_motion, complete_robot
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, list_overrides, option, reads_recording
from simbench.errors import ScenarioError
from simbench.runs.scenario.scenario_files import USUAL_ROBOT, list_scenarios

if TYPE_CHECKING:
    from simbench.motion.read_options import ReadOptions


@reads_recording("stature")
def place(
    motion: Annotated[
        str,
        argument("actor:TASK, deepmimic:CLIP, sample:NAME, a file; or a scenario.", complete=complete_motion),
    ],
    robot: Annotated[
        str | None,
        option(
            "Name (simbench robot list), or path of a robot.yaml or a URDF; by default romeo, or the "
            "scenario's.",
            complete=complete_robot,
        ),
    ] = None,
    equipment_scale: Annotated[
        list[float] | None,
        option(
            "Of a scenario: size of the equipment to plan with; repeatable. By default 1, the robot's "
            "arms by the person's, and halfway.",
            "FACTOR",
        ),
    ] = None,
    side: Annotated[
        str | None, option("Only this handle, left or right, with that hand or the only one; else all.")
    ] = None,
    position: Annotated[tuple[float, float], option("Where it stands now, m.", "X Y")] = (0.0, 0.0),
    heading: Annotated[float, option("And its turn about the vertical.", "RAD")] = 0.0,
    height: Annotated[
        float | None,
        option(
            "And how much higher its pelvis is than in the posture; of an arm: of its base, by default "
            "searched for if it stands on a pedestal.",
            "M",
        ),
    ] = None,
    posture: Annotated[str | None, option("Named posture, by default standing.")] = None,
    follow: Annotated[
        float, option("Share of the hands' motion that the COG goes with: retarget.pelvis_follow.")
    ] = 0.4,
    advance: Annotated[
        float, option("How far it goes forward while they rise, m per m: retarget.pelvis_advance.", "M/M")
    ] = 0.0,
    lean: Annotated[
        float, option("How far before the soles' middle it is: retarget.pelvis_lean_m.", "M")
    ] = 0.0,
    *,
    reading: ReadOptions,
) -> None:
    """Say from where a robot's hands reach all that a recording's hands held; exit status 1 if nowhere.

    Of a scenario, plan it from where the robot stands and from the place that is found, with its equipment in
    several sizes, and say how far the robot's bones are off the person's in each.
    """
    if motion in list_scenarios() or Path(motion).suffix in (".yaml", ".yml"):
        options = (side, position, heading, height, posture, follow, advance, lean)
        if options != (None, (0.0, 0.0), 0.0, None, None, 0.4, 0.0, 0.0):
            raise ScenarioError(
                f"{motion}: a scenario says where its robot stands (section robot); with it, only --robot "
                "and --equipment-scale are allowed"
            )
        _compare_placements(motion, robot, equipment_scale)
        return
    if equipment_scale:
        raise ScenarioError(f"--equipment-scale: {motion} is no scenario, which alone has equipment")
    from simbench.motion.readers import read_motion
    from simbench.retargeting.placement import placement
    from simbench.robot.robot import load_robot

    def show(placed: placement.Placed) -> None:
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

    model = load_robot(robot or USUAL_ROBOT)
    chosen = placement.choose_posture(model, posture)
    handles = placement.handles_for(model, read_motion(motion, reading).handles, side)
    own = 0.0 if model.floating else model.base_height
    given = placement.BasePlacement(
        position, heading, own if height is None else height, follow, advance, lean
    )
    here = placement.evaluate_placement(model, handles, given, chosen)
    if here.placement.feasible:
        print(f"feasible: {model.name} reaches every pose from where it stands")
        show(here)
        return
    print(f"not from where it stands: {here.placement.fault}")
    with progress_bars(make_console(stderr=True)) as on_progress:
        free = height is None and model.base_height > 0.0
        found = placement.find_spot(model, handles, given, chosen, on_progress, any_height=free)
    if found.placement.feasible:
        print(f"feasible: {model.name} reaches every pose from")
        show(found)
        return
    print(f"infeasible: {model.name} has no place to follow the handles from; least is missing from")
    show(found)
    print(f"there                   {found.placement.fault}")
    raise typer.Exit(1)


def _compare_placements(name: str, robot_name: str | None, scales: list[float] | None) -> None:
    """Plan a scenario from several places, with its equipment in several sizes; print what each brings."""
    import math

    from simbench.robot.robot import load_robot
    from simbench.runs.preparation import arm_ratio, plan_placements
    from simbench.runs.scenario.loading import load_scenario

    overrides = list_overrides(None, robot_name)
    scenario = load_scenario(name, overrides)
    for scale in scales or ():
        # A size that no scenario may have is refused in the same words.
        load_scenario(name, [*overrides, f"equipment_scale={scale}"])
    if not scenario.fixtures:
        raise ScenarioError(
            f"{name}: has no equipment (section fixtures) that its robot could be too small for"
        )
    model = load_robot(scenario.robot.name)
    ratio = arm_ratio(model, scenario)
    if ratio is not None:
        print(f"{model.name}'s arms are {ratio:.2f} times as long as the person's")
    if not scales:
        least = 1.0 if ratio is None else min(max(round(ratio, 2), 0.2), 2.0)
        scales = sorted({1.0, round(0.5 * (1.0 + least), 2), least}, reverse=True)
    print(
        "equipment_scale  robot.place   upper arms  forearms  trunk  slower  interferences  root (x, y, z), m"
    )
    planned = 0
    with progress_bars(make_console(stderr=True)) as on_progress:
        for found in plan_placements(model, scenario, scales, on_progress):
            row = f"{found.scale:15.2f}  {found.place:11s}"
            if found.fault:
                print(f"{row}   {found.fault}")
                continue
            planned += 1
            for part, width in (("upper_arm", 10), ("forearm", 8), ("trunk", 5)):
                angle = found.metrics.get(f"retarget.robot_{part}_mean_rad")
                row += "  " + ("-" if angle is None else f"{math.degrees(angle):.1f}°").rjust(width)
            slower = found.metrics.get("retarget.slow_down")
            meets = found.metrics.get("retarget.interference_count")
            row += f"  {'-' if slower is None else f'{slower:.2f}':>6s}"
            row += f"  {'-' if meets is None else f'{meets:.0f}':>13s}"
            print(f"{row}  " + ", ".join(f"{each:.3f}" for each in found.base))
    if not planned:
        raise typer.Exit(1)
