"""A guessed description as the text of a `robot.yaml`, with the reason for each section."""

import hashlib
import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simbench.errors import RobotError
from simbench.files.storage import make_folder, write_whole
from simbench.files.text import printable
from simbench.resources import user_cache_dir
from simbench.robot.packages import find_file
from simbench.robot.scaffold.made_shapes import pieces_folder
from simbench.robot.scaffold.scaffold import Scaffold, scaffold_robot
from simbench.robot.urdf.elements import parse_urdf

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_RESERVED = {"yes", "no", "on", "off", "true", "false", "null"}
_WIDTH = 110
_ABOUT = {
    "xacro": "Arguments of the xacro file.",
    "base": "Whether the root link moves freely.",
    "groups": "Joints of each part of the body, from the trunk outward.",
    "fixed_joints": "Joints that stay where they are; what they moved is part of the link before.",
    "coupled_joints": "Joints that the motor of another joint moves: multiplier · its position + offset.",
    "frames": "Link of each role.",
    "fixed_frames": "New massless frames. Palms: x along the fingers, z out of the back of the hand. "
    "Soles: z normal to the sole, x forward.",
    "soles": "Rectangle of each sole in the frame of the foot, m.",
    "hands": "Links that touch what a hand holds, and the joints that close it.",
    "postures": "Joint positions, rad; those left out are 0.",
    "motors": "Inertia of the drives as the joints feel it, kg·m².",
    "friction": "Friction of the joints in motion and at rest, N·m, and N·m·s/rad.",
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
        raise RobotError(f"{copy}: is the URDF itself; --out DIR writes its changed copy elsewhere")
    urdf = copy.name
    if scaffold.urdf_text is None:
        # Relative where it is near.
        absolute = Path(scaffold.description.urdf).resolve()
        relative = Path(os.path.relpath(absolute, folder.resolve()))
        urdf = str(relative if relative.parts.count("..") <= 2 else absolute)
    text = scaffold_text(scaffold, urdf)
    try:
        make_folder(folder)
        if scaffold.urdf_text is not None:
            _write_copy(scaffold.urdf_text, copy)
        write_whole(target, text)
    except OSError as error:
        raise RobotError(f"{folder}: cannot be written: {error.strerror}") from error
    return target


def _write_copy(text: str, copy: Path) -> None:
    """Write a URDF, and the convex pieces that were made for it, which the cache holds, beside it."""
    pieces, made = pieces_folder(), copy.parent / "collision"
    for name in dict.fromkeys(re.findall(r'filename="([^"]+)"', text)):
        if Path(name).parent == pieces:
            make_folder(made)
            write_whole(made / Path(name).name, Path(name).read_bytes())
            text = text.replace(f'"{name}"', f'"{made.name}/{Path(name).name}"')
    write_whole(copy, text)


def scaffold_text(scaffold: Scaffold, urdf: str) -> str:
    """Write a guessed description as text.

    `scaffold`: the description and its reasons; `urdf`: path of the URDF, relative to the file. Returns
    content of a `robot.yaml`.
    """
    data = scaffold.description.model_dump(exclude_unset=True, mode="json")
    lines = [
        "# Written by `simbench robot scaffold` from the URDF, xacro or MJCF alone; correct what is wrong.",
        "#   [guessed]  from graph, geometry and limits; the reason stands beside it",
        "#   [assumed]  the URDF does not say it; an estimate",
        "# Units: m, kg, rad, s, N·m.",
    ]
    for line in scaffold.missing:
        lines += _comment(f"Note: {line}")
    lines += ["", f"name: {_scalar(data['name'])}", f"urdf: {_scalar(urdf)}"]
    for key, about in _ABOUT.items():
        if key not in data:
            continue
        lines += ["", *(_comment(about) if about else ())]
        for guess in scaffold.guesses:
            if guess.key.split(".")[0].split(" ")[0] == key:
                mark = "assumed" if guess.reason.startswith("assumed") else "guessed"
                where = "" if guess.key == key else f"{guess.key.removeprefix(key + '.')}: "
                reason = guess.reason.removeprefix("assumed: ")
                lines += _comment(f"[{mark}, {guess.confidence}] {where}{reason}")
        value = data[key]
        if key == "self_collision":
            lines.append(f"{key}:")
            lines += [f"  - [{_flow(first)}, {_flow(second)}]" for first, second in value]
        elif key == "postures":
            lines.append(f"{key}:")
            for name, positions in value.items():
                lines.append(f"  {_scalar(name)}:" if positions else f"  {_scalar(name)}: {{}}")
                lines += [f"    {_scalar(joint)}: {_flow(place)}" for joint, place in positions.items()]
        elif isinstance(value, Mapping):
            lines.append(f"{key}:" if value else f"{key}: {{}}")
            lines += [f"  {_scalar(name)}: {_flow(entry)}" for name, entry in value.items()]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> Iterator[str]:
    """Write a comment, broken at the width of a line."""
    line = "#"
    for word in printable(text).replace("\n", " ").split(" "):
        if len(line) + 1 + len(word) > _WIDTH and line != "#":
            yield line
            line = "#  "
        line += f" {word}"
    yield line


def _flow(value: Any) -> str:
    """Write a value on one line; what is not given is left out."""
    if isinstance(value, Mapping):
        entries = {name: entry for name, entry in value.items() if entry is not None}
        parts = (f"{_scalar(name)}: {_flow(entry)}" for name, entry in (entries or value).items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Write a name or a number; names that YAML would take for something else are quoted."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _RESERVED
        return value if plain else json.dumps(value, ensure_ascii=False)
    return f"{value:.12g}"


_RULES = 6  # Number of the rules of guessing; a change of them makes kept descriptions obsolete.


def guessed_description(urdf: Path) -> Path:
    """Guess the description of a robot from its URDF, or take the one that was guessed the last time.

    It is kept in the user's cache folder by the content that it follows from, because the search for pairs of
    links that collide takes some seconds. Returns A `robot.yaml`.
    """
    cache = user_cache_dir()
    if cache is None:
        raise RobotError(
            f"{urdf}: a URDF without robot.yaml needs a cache folder for its guessed description (set "
            "XDG_CACHE_HOME), or a robot.yaml: simbench robot scaffold writes it"
        )
    root = parse_urdf(urdf)
    # A file that others are included in is what they make of it together.
    digest = hashlib.sha256(f"{_RULES} {urdf.resolve()}".encode() + urdf.read_bytes() + ET.tostring(root))
    for mesh in root.iter("mesh"):
        path = find_file(mesh.get("filename", ""), urdf.parent)
        if path is not None:
            state = path.stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}".encode())
    folder = cache / "simbench" / "descriptions" / digest.hexdigest()[:32]
    # Its robot.yaml is written last, and under its name only when whole.
    if not (folder / "robot.yaml").is_file():
        write_scaffold(scaffold_robot(urdf), folder, force=True)
    return folder / "robot.yaml"
