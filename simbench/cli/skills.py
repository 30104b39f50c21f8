"""The command line's `simbench skills`: parse, call, print."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from simbench.errors import SkillError


class Hands(str, Enum):
    """Whose path is kept."""

    both = "both"
    left = "left"
    right = "right"


class Sex(str, Enum):
    """Of the average person whose measures are taken."""

    female = "female"
    male = "male"


class Method(str, Enum):
    """Of the search."""

    lattice = "lattice"
    genetic = "genetic"
    differential_evolution = "differential-evolution"
    cma_es = "cma-es"


class Skeleton(str, Enum):
    """Whose joints the criteria are looked for on."""

    person = "person"
    romeo = "romeo"


def skills(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="actor:TASK, actor:TASK:NUMBER, deepmimic:CLIP, or a file.")
    ],
    span: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="START END", help="What is looked at, s; by default what repeats."),
    ] = None,
    hands: Annotated[Hands, typer.Option(help="Which hands do the task.")] = Hands.both,
    height: Annotated[float | None, typer.Option(metavar="M", help="The person's stature.")] = None,
    mass: Annotated[float | None, typer.Option(metavar="KG", help="The person's mass.")] = None,
    sex: Annotated[Sex | None, typer.Option(help="The person's sex.")] = None,
    skeleton: Annotated[
        Skeleton, typer.Option(help="The person's own joints, if pelvis and trunk are recorded, or ROMEO's.")
    ] = Skeleton.person,
    method: Annotated[Method, typer.Option(help="Search of the weights.")] = Method.lattice,
    seed: Annotated[int, typer.Option(min=0, help="Of the search, where it draws.")] = 0,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Also draw it.")] = None,
    unit: Annotated[str | None, typer.Option(help="The file's unit of length: m, cm, mm, in, cmu.")] = None,
    up: Annotated[str | None, typer.Option(help="The file's vertical axis: x, y, z.")] = None,
    marker_map: Annotated[
        str | None,
        typer.Option("--map", metavar="NAME|FILE", help="Marker map, by default the one that fits."),
    ] = None,
) -> None:
    """Tell what a person minimised while working: criteria and their weights, and what fuzzy rules say."""
    if picture is not None:
        if picture.suffix.lower() != ".png":
            raise SkillError(f"{picture}: a picture's name must end in .png")
        if picture.is_dir() or not picture.parent.is_dir():
            raise SkillError(f"{picture}: must be a file in a directory that exists")
    if span is not None and not span[0] < span[1]:
        raise SkillError(f"--span {span[0]:g} {span[1]:g}: the end must come after the start")
    from simbench.display_skills import closing_lines, criteria_table, opening_lines
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.readers import read_motion
    from simbench.retargeting.imitation.scaling import SIDES
    from simbench.skills.analysis import analyse_skill, with_person

    console = Console(markup=False, emoji=False)
    with Console(stderr=True).status("searching the weights"):
        read = read_motion(source, ReadOptions(unit, up, marker_map))
        motion = with_person(read, height, mass, sex.value if sex else None)
        sides = SIDES if hands is Hands.both else (hands.value,)
        analysis = analyse_skill(
            motion, span=span, hands=sides, skeleton=skeleton.value, method=method.value, seed=seed
        )
    if picture is not None:
        from simbench.skills.plot import draw_skill

        draw_skill(analysis, picture)
    for line in opening_lines(analysis):
        print(line)
    print()
    console.print(criteria_table(analysis))
    print()
    for line in closing_lines(analysis):
        print(line)
    if picture is not None:
        print(f"\npicture  {picture}")
