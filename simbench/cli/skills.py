"""The command line's `simbench skills`: parse, call, print."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from simbench.cli.completion import complete_motion
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, option, output, reads_recording
from simbench.errors import SkillError

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.motion.read_options import ReadOptions
    from simbench.skills.analysis import SkillAnalysis

Method = Literal["lattice", "genetic", "differential-evolution", "cma-es"]  # Search methods for the weights.


@reads_recording("stature", "skeleton")
def skills(
    source: Annotated[
        str, argument("actor:TASK[:NUMBER], deepmimic:CLIP, sample:NAME, or a file.", "FILE", complete_motion)
    ],
    span: Annotated[
        tuple[float, float] | None, option("What is looked at, s; by default what repeats.", "START END")
    ] = None,
    hands: Annotated[Literal["both", "left", "right"], option("Which hands do the task.")] = "both",
    height: Annotated[float | None, option("The person's stature.", "M")] = None,
    mass: Annotated[float | None, option("The person's mass.", "KG")] = None,
    sex: Annotated[Literal["female", "male"] | None, option("The person's sex.")] = None,
    skeleton: Annotated[
        Literal["person", "romeo"],
        option("The person's own joints, if pelvis and trunk are recorded, or ROMEO's."),
    ] = "person",
    method: Annotated[Method, option("Search of the weights.")] = "lattice",
    seed: Annotated[int, option("Of the search, where it draws.", min=0)] = 0,
    terms: Annotated[
        Literal["tuned", "thesis"], option("Fuzzy rules: simbench's, or the thesis's with its own terms.")
    ] = "tuned",
    criterion: Annotated[
        list[str] | None, option("A criterion of your own: ./FILE.py:NAME; repeatable.", "REF")
    ] = None,
    picture: Annotated[Path | None, output("Also draw it.", "FILE.png")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Tell what a person minimised while working: criteria and their weights, and what fuzzy rules say."""
    if span is not None and not span[0] < span[1]:
        raise SkillError(f"--span {span[0]:g} {span[1]:g}: the end must come after the start")

    from simbench.motion.readers import read_motion
    from simbench.robot.sides import SIDES
    from simbench.skills.analysis import analyse_skill, complete_person
    from simbench.skills.law_motion import fit_criterion, load_criterion

    for reference in criterion or ():
        load_criterion(reference)
    console = make_console()
    with progress_bars(make_console(stderr=True)) as on_progress:
        on_progress("search weights", 0, 1)
        read = read_motion(source, reading)
        motion = complete_person(read, height, mass, sex)
        sides = SIDES if hands == "both" else (hands,)
        analysis = analyse_skill(
            motion, span=span, hands=sides, skeleton=skeleton, method=method, seed=seed, terms=terms
        )
        fits = [
            (each, *fit_criterion(analysis.parts, analysis.mixture.weights, each)) for each in criterion or ()
        ]
    if picture is not None:
        from simbench.skills.skill_plot import draw_skill

        draw_skill(analysis, picture)
    print(*opening_lines(analysis), sep="\n")
    print()
    console.print(criteria_table(analysis))
    print()
    print(*closing_lines(analysis), sep="\n")
    for reference, alone, share, error in fits:
        print(
            f"plug-in    {reference}: {_millimetres(alone)} mm alone; "
            f"{_millimetres(error)} mm with weight {share:g} beside the mixture"
        )
    if picture is not None:
        print(f"\npicture  {picture}")


def opening_lines(analysis: SkillAnalysis) -> Iterator[str]:
    """Describe what was analysed. `analysis`: result of `analyse_skill`."""
    from simbench.motion.actors.human_model import SPINE_JOINTS

    task = analysis.task
    yield f"recording  {task.source}"
    parts = f", {len(analysis.parts)} repetitions" if len(analysis.parts) > 1 else ""
    fitted = SPINE_JOINTS[0] in task.names
    joints = "the person's own, fitted to the recording" if fitted else "ROMEO's, at the person's size"
    yield f"joints     {joints}"
    yield f"span       {task.time[0]:.2f} s to {task.time[-1]:.2f} s, {len(task.time)} samples{parts}"


def criteria_table(analysis: SkillAnalysis) -> Table:
    """Lay out a line for each criterion: its weight, and how certain it is.

    `analysis`: result of `analyse_skill`.
    """
    from rich.table import Table

    from simbench.kinematics.redundancy_criteria import CRITERIA

    mixture, flat = analysis.mixture, analysis.flatness
    heads = ("criterion", "weight", "about as good", "counts for", "alone, mm", "by fuzzy rules")
    table = Table(*heads, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for k, name in enumerate(tuple(CRITERIA)):
        ruled = analysis.strategy.weights.get(name)
        table.add_row(
            name,
            f"{mixture.weights[k]:.3f}",
            f"{flat.lowest[k]:.2f} to {flat.highest[k]:.2f}",
            f"{mixture.shares[k]:.2f}",
            _millimetres(mixture.single[k]),
            "-" if ruled is None else f"{ruled:.3f}",
        )
    return table


def closing_lines(analysis: SkillAnalysis) -> Iterator[str]:
    """Say what can be concluded from the weights, and what cannot. `analysis`: result of `analyse_skill`."""
    import numpy as np

    from simbench.kinematics.redundancy_criteria import CRITERIA
    from simbench.skills.analysis import compute_point_spread

    mixture, flat = analysis.mixture, analysis.flatness
    best = int(np.argmin(mixture.single))
    yield (
        f"error      {_millimetres(mixture.fitness)} mm a sample with the mixture, "
        f"{_millimetres(mixture.single[best])} mm with {tuple(CRITERIA)[best]} alone"
    )
    spread = compute_point_spread(analysis.task)
    yield (
        f"motion     shoulders and elbows are {_millimetres(spread)} mm from their mean places: "
        f"the mixture leaves {mixture.fitness / spread:.0%} of that unexplained"
    )
    yield f"dominant   {mixture.dominant}; by fuzzy rules {analysis.strategy.dominant}"
    rules = analysis.strategy.rules
    examples = "" if rules.examples is None else f", {len(rules.examples.names)} recordings as examples"
    yield f"rules      {len(rules.by_hand)} by hand with {rules.name} terms{examples}"
    rivals = flat.dominant[1:]
    if rivals:
        yield (
            f"not sure   {', '.join(rivals)} could as well be dominant: "
            f"within {1e3 * flat.tolerance:g} mm of the best"
        )
    for first, second in flat.confused:
        yield f"not told   {first} from {second}: one can give way to the other"


def _millimetres(value: float) -> str:
    """Write a length in m as mm."""
    return f"{1e3 * value:.1f}" if math.isfinite(value) else "cannot"
