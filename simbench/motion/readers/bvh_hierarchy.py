"""The skeleton in a BVH file's text: nodes with offsets and channels, every mistake with its line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.motion.readers.text_table import LARGEST_NUMBER, shown

CHANNELS = {f"{axis}{kind}".lower(): (kind, axis) for axis in "XYZ" for kind in ("position", "rotation")}


@dataclass
class Node:
    """A joint, or an end site, while the file is being read.

    Parameters
    ----------
    name : str or None
        None for an end site.
    parent : int
        Index of the parent among the nodes, -1 for the root.
    line : int
        Index of the line that declares it.
    offset : list of float or None
        Place in the parent's axes, when read.
    channels : list of (str, str) or None
        Of `position` or `rotation` and an axis, in the order of the frames' columns, when read.
    """

    name: str | None
    parent: int
    line: int
    offset: list[float] | None = None
    channels: list[tuple[str, str]] | None = None


def parse_hierarchy(lines: list[str], source: str) -> tuple[list[Node], int]:
    """Read the part of a BVH file that describes the skeleton.

    Parameters
    ----------
    lines : list of str
        The whole file's.
    source : str
        The file, for messages.

    Returns
    -------
    nodes : list of Node
        In the file's order, parents before children.
    motion : int
        Index of the line `MOTION`.

    Raises
    ------
    MotionError
        Names the line that cannot be right.
    """
    nodes: list[Node] = []
    open_nodes: list[int] = []
    first_lines: dict[str | None, int] = {}
    declared = False  # a node whose block has not opened yet
    begun = False
    for k, words in _statements(lines):
        where = f"{source}, line {k + 1}"
        keyword, rest = words[0].upper(), words[1:]
        if not begun:
            if keyword != "HIERARCHY":
                raise MotionError(f"{where}: {shown(words[0])}; a BVH file begins with HIERARCHY")
            begun = True
        elif declared != (keyword == "{"):
            expected = "'{' must open the joint's block" if declared else "no joint was declared before '{'"
            raise MotionError(f"{where}: {shown(words[0])}; {expected}")
        elif keyword == "{":
            open_nodes.append(len(nodes) - 1)
            declared = False
        elif keyword == "ROOT" and nodes:
            raise MotionError(f"{where}: a second ROOT; only files of one skeleton are read")
        elif not open_nodes and keyword == "MOTION" and nodes:
            return nodes, k
        elif not open_nodes and keyword != "ROOT":
            expected = "MOTION" if nodes else "ROOT"
            raise MotionError(f"{where}: {shown(words[0])} outside the skeleton; {expected} must follow")
        elif keyword in ("ROOT", "JOINT", "END"):
            parent = open_nodes[-1] if open_nodes else -1
            if parent >= 0 and nodes[parent].name is None:
                raise MotionError(f"{where}: {shown(words[0])} inside an End Site, which has only an OFFSET")
            name = None if keyword == "END" else " ".join(rest)
            if name == "" or (name is None and [word.lower() for word in rest] != ["site"]):
                raise MotionError(
                    f"{where}: {shown(' '.join(words))}; allowed: JOINT and a name, or End Site"
                )
            if name in first_lines:
                raise MotionError(
                    f"{where}: a second joint {shown(' '.join(rest))}, the first is in line "
                    f"{first_lines[name]}; names must differ"
                )
            if name is not None:
                first_lines[name] = k + 1
            nodes.append(Node(name, parent, k))
            declared = True
        elif keyword == "}":
            _check_whole(nodes[open_nodes.pop()], where)
        elif keyword == "OFFSET":
            nodes[open_nodes[-1]].offset = _offset(rest, where)
        elif keyword == "CHANNELS":
            _set_channels(nodes, open_nodes[-1], rest, where)
        else:
            allowed = "OFFSET, CHANNELS, JOINT, End Site, braces"
            raise MotionError(f"{where}: {shown(words[0])} is unknown; allowed: {allowed}")
    inside = f"inside {len(open_nodes)} open block(s)" if open_nodes else "without MOTION"
    raise MotionError(
        f"{source}: the file ends at line {len(lines)} {inside}; it is truncated or no BVH file"
    )


def _statements(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Words of each line, braces for themselves wherever they stand."""
    for k, line in enumerate(lines):
        for part in re.split(r"([{}])", line):
            if words := part.split():
                yield k, words


def _check_whole(node: Node, where: str) -> None:
    kind = "End Site" if node.name is None else f"joint {shown(node.name)}"
    if node.offset is None:
        raise MotionError(f"{where}: the block of {kind} from line {node.line + 1} ends without an OFFSET")
    if node.channels is None and node.name is not None:
        raise MotionError(f"{where}: the block of {kind} from line {node.line + 1} ends without CHANNELS")


def _offset(words: list[str], where: str) -> list[float]:
    try:
        offset = [float(word) for word in words]
    except ValueError:
        offset = []
    if len(offset) != 3 or not all(abs(value) <= LARGEST_NUMBER for value in offset):
        raise MotionError(f"{where}: OFFSET {shown(' '.join(words))}; it must be three finite numbers")
    return offset


def _set_channels(nodes: list[Node], index: int, words: list[str], where: str) -> None:
    node = nodes[index]
    if node.name is None or node.channels is not None or index != len(nodes) - 1:
        raise MotionError(f"{where}: CHANNELS must stand once in a joint's block, before its children")
    names = [word.lower() for word in words[1:]]
    unknown = [word for word in words[1:] if word.lower() not in CHANNELS]
    if unknown:
        raise MotionError(
            f"{where}: channel {shown(unknown[0])} is unknown; allowed: Xposition, Yposition, Zposition, "
            "Xrotation, Yrotation, Zrotation"
        )
    if not words or words[0] != str(len(names)) or len(set(names)) < len(names):
        raise MotionError(
            f"{where}: CHANNELS {shown(' '.join(words))}; the count and that many different names must follow"
        )
    node.channels = [CHANNELS[name] for name in names]
