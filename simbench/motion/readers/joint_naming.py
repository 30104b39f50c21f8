"""Names of the joints of an array as the user declares them: a known skeleton, or a file that lists them."""

from pathlib import Path
from typing import NamedTuple

from simbench.errors import MotionError
from simbench.files.text import read_text
from simbench.files.yaml_document import parse_yaml
from simbench.motion.readers.joint_layouts import ALIASES, LAYOUTS, layout_names
from simbench.motion.readers.joint_words import name_joints
from simbench.motion.readers.text_table import quote

# How a list of names writes that a joint has none.
UNNAMED_WORDS = ("-", "none", "")


class JointNaming(NamedTuple):
    """Names of the joints of an array."""

    names: tuple[str, ...]  # Names of the first joints in the array's order, empty for those without one.
    notes: tuple[str, ...]  # `notes`, `doubts`: how they were found, and what is doubtful about them.
    doubts: tuple[str, ...] = ()


def read_declared_names(skeleton: str, count: int, source: str) -> JointNaming:
    """Name the joints of an array as the user declares.

    `skeleton`: name of a layout such as `smpl`, or path of a file that lists the joints: YAML, JSON, or text
    with one name a line; `count`: number of joints of the array; `source`: name of the recording, for
    messages.
    """
    word = skeleton.lower()
    layout = ALIASES.get(word, word)
    if layout in LAYOUTS:
        names = layout_names(layout, count)
        if names is None:
            sizes = " or ".join(str(len(known)) for known in LAYOUTS[layout])
            raise MotionError(
                f"{source}: {count} joints, but skeleton {layout} has {sizes}; declare another (--skeleton)"
            )
        return JointNaming(names, (f"skeleton {layout}, as declared",))
    if not any(mark in skeleton for mark in "./\\"):
        raise MotionError(
            f"skeleton {quote(skeleton)}: unknown; known: {', '.join(LAYOUTS)}, or the path of a file that "
            "lists the joints"
        )
    names = _read_names(Path(skeleton))
    if len(names) > count:
        raise MotionError(f"{source}: {count} joints, but {skeleton} names {len(names)}")
    return JointNaming(name_joints(names), (f"joints named by {skeleton}",))


def _read_names(path: Path) -> tuple[str, ...]:
    """Read the list of names of a file."""
    text = read_text(path, MotionError)
    value: object
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        value = parse_yaml(text, str(path), MotionError).value
        if isinstance(value, dict) and len(value) == 1:
            value = next(iter(value.values()))
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
        value = [word.strip() for word in lines[0].split(",")] if len(lines) == 1 else lines
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise MotionError(
            f"{path}: no list of names; one for each joint in the array's order is needed (- for none)"
        )
    names = tuple("" if name.lower() in UNNAMED_WORDS else name for name in value)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise MotionError(f"{path}: {quote(twice)} is there twice; names must differ")
    return names
