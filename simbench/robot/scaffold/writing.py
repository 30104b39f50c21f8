"""A guessed description as the text of a `robot.yaml`, with the reason for each section."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simbench.errors import RobotError
from simbench.files.text import printable
from simbench.robot.scaffold.scaffold import Scaffold

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_RESERVED = {"yes", "no", "on", "off", "true", "false", "null"}
_WIDTH = 110
_ABOUT = {
    "base": "Whether the root link moves freely.",
    "groups": "Joints of each part of the body, from the trunk outward.",
    "fixed_joints": "Joints that stay where they are; what they moved is part of the link before.",
    "frames": "Link of each role.",
    "fixed_frames": "New massless frames. Palms: x along the fingers, z out of the back of the hand. "
    "Soles: z normal to the sole, x forward.",
    "soles": "Rectangle of each sole in the frame of the foot, m.",
    "hands": "Links that touch what a hand holds, and the joints that close it.",
    "postures": "Joint positions, rad; those left out are 0.",
    "motors": "Inertia of the drives as the joints feel it, kg·m².",
    "gains": "",
    "self_collision": "Each link of the first list can collide with each of the second.",
}


def write_scaffold(scaffold: Scaffold, folder: Path, *, force: bool = False) -> Path:
    """Write a guessed description as a `robot.yaml`.

    `scaffold`: the description and its reasons; `folder`: folder to write to; made if it does not exist;
    `force`: whether files that exist are overwritten.
    """
    target = folder / "robot.yaml"
    copy = folder / f"{scaffold.description.name}.urdf"
    wanted = [target] if scaffold.urdf_text is None else [target, copy]
    for path in wanted:
        if path.exists() and not force:
            raise RobotError(f"{path}: exists already; --force overwrites it, --out DIR writes elsewhere")
    if scaffold.urdf_text is not None and Path(scaffold.description.urdf).resolve() == copy.resolve():
        raise RobotError(f"{copy}: is the URDF itself; --out DIR writes its turned copy elsewhere")
    urdf = (
        copy.name if scaffold.urdf_text is not None else _path_from(Path(scaffold.description.urdf), folder)
    )
    text = scaffold_text(scaffold, urdf)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if scaffold.urdf_text is not None:
            copy.write_text(scaffold.urdf_text, encoding="utf-8")
        beside = target.with_suffix(".part")
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise RobotError(f"{folder}: cannot be written: {error.strerror}") from error
    return target


def scaffold_text(scaffold: Scaffold, urdf: str) -> str:
    """Write a guessed description as text.

    `scaffold`: the description and its reasons; `urdf`: path of the URDF, relative to the file. Returns
    content of a `robot.yaml`.
    """
    return "\n".join(_lines(scaffold, urdf)) + "\n"


def _lines(scaffold: Scaffold, urdf: str) -> Iterator[str]:
    """Lines of a `robot.yaml`."""
    data = scaffold.description.model_dump(exclude_unset=True, mode="json")
    yield "# Written by `simbench robot scaffold` from the URDF alone; correct what is wrong."
    yield "#   [guessed]  from graph, geometry and limits; the reason stands beside it"
    yield "#   [assumed]  the URDF does not say it; an estimate"
    yield "# Units: m, kg, rad, s, N·m."
    for line in scaffold.missing:
        yield from _comment(f"Note: {line}")
    yield ""
    yield f"name: {_scalar(data['name'])}"
    yield f"urdf: {_scalar(urdf)}"
    for key, about in _ABOUT.items():
        if key not in data:
            continue
        yield ""
        yield from _comment(about) if about else ()
        for guess in scaffold.guesses:
            if guess.key.split(".")[0].split(" ")[0] == key:
                mark = "assumed" if guess.reason.startswith("assumed") else "guessed"
                where = "" if guess.key == key else f"{guess.key.removeprefix(key + '.')}: "
                reason = guess.reason.removeprefix("assumed: ")
                yield from _comment(f"[{mark}, {guess.confidence}] {where}{reason}")
        yield from _section(key, data[key])


def _comment(text: str) -> Iterator[str]:
    """Write a comment, broken at the width of a line."""
    line = "#"
    for word in printable(text).replace("\n", " ").split(" "):
        if len(line) + 1 + len(word) > _WIDTH and line != "#":
            yield line
            line = "#  "
        line += f" {word}"
    yield line


def _section(key: str, value: Any) -> Iterator[str]:
    """Write a key of the description with its value."""
    if key == "self_collision":
        yield f"{key}:"
        for first, second in value:
            yield f"  - [{_flow(first)}, {_flow(second)}]"
    elif key == "postures":
        yield f"{key}:"
        for name, positions in value.items():
            yield f"  {_scalar(name)}:" if positions else f"  {_scalar(name)}: {{}}"
            yield from (f"    {_scalar(joint)}: {_flow(position)}" for joint, position in positions.items())
    elif isinstance(value, Mapping):
        yield f"{key}:" if value else f"{key}: {{}}"
        yield from (f"  {_scalar(name)}: {_flow(entry)}" for name, entry in value.items())
    else:
        yield f"{key}: {_scalar(value)}"


def _flow(value: Any) -> str:
    """Write a value on one line; what is not given is left out."""
    if isinstance(value, Mapping):
        entries = {name: entry for name, entry in value.items() if entry is not None}
        return (
            "{"
            + ", ".join(f"{_scalar(name)}: {_flow(entry)}" for name, entry in (entries or value).items())
            + "}"
        )
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Write a name or a number; names that YAML would take for something else are quoted."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _RESERVED
        return value if plain else json.dumps(value, ensure_ascii=False)
    return f"{value:.12g}"


def _path_from(urdf: Path, folder: Path) -> str:
    """Path of a URDF from a folder: relative where it is near."""
    absolute = urdf.resolve()
    relative = Path(os.path.relpath(absolute, folder.resolve()))
    return str(relative if relative.parts.count("..") <= 2 else absolute)
