"""Parser for the skeleton of a BVH file: nodes with offsets and channels; errors name the line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote

CHANNELS = {f"{axis}{kind}".lower(): (kind, axis) for axis in "XYZ" for kind in ("position", "rotation")}


@dataclass
class Node:
    """A joint, or an end site, while the file is being read."""

    name: str | None
    parent: int  # Index of the parent among the nodes, -1 for the root.
    line: int  # Index of the line that declares the node.
    # Position of the node's origin in the parent's axes, in the file's unit of length; None until read.
    offset: list[float] | None = None
    # Kind (`position` or `rotation`) and axis (`X`, `Y`, `Z`) of each channel, in the order of the columns of
    # a frame; None until read.
    channels: list[tuple[str, str]] | None = None


@dataclass(frozen=True)
class Hierarchy:
    """The skeletons of a file."""

    nodes: list[Node]  # Joints and end sites of all skeletons in the file's order, parents before children.
    root: int  # Index of the root of the skeleton with the most nodes.
    notes: list[str]  # What was assumed or left out.


@dataclass
class _Hierarchy:
    """State of the parser: all nodes, and the indices of those whose block is still open, root first."""

    nodes: list[Node]
    open_nodes: list[int]
    # Number of the line that declares each joint.
    first_lines: dict[str | None, int]
    # Whether to refuse what has to be assumed, and what was.
    strict: bool
    notes: list[str]
    # Whether the last node was declared and its block has not opened yet.
    declared: bool = False


def parse_hierarchy(lines: list[str], source: str, strict: bool) -> Hierarchy:
    """Read the part of a BVH file that describes the skeleton.

    `lines`: all lines of the file, up to the line `MOTION`; `source`: name of the file, for messages;
    `strict`: whether to refuse what has to be assumed: a second joint of the same name, a second root,
    missing braces, a wrong number of channels, an end site without its place. Returns the nodes, the root,
    and what was assumed.
    """
    tree = _Hierarchy([], [], {}, strict, [])
    statements = _statements(lines)
    for k, words in statements:
        if words[0].upper() != "HIERARCHY":
            raise MotionError(f"{source}, line {k + 1}: {quote(words[0])}; a BVH file begins with HIERARCHY")
        break
    for k, words in statements:
        where, keyword = f"{source}, line {k + 1}", words[0].upper()
        if keyword == "MOTION" and tree.nodes and not tree.declared:
            if tree.open_nodes and not strict:
                _close_all(tree, where)
            if not tree.open_nodes:
                return Hierarchy(tree.nodes, _largest_root(tree, where), tree.notes)
        _check_order(tree, words[0], where)
        if keyword == "{":
            tree.open_nodes.append(len(tree.nodes) - 1)
            tree.declared = False
        elif keyword in ("ROOT", "JOINT", "END"):
            _declare_node(tree, words, k, source)
        else:
            _read_statement(tree, words, where)
    inside = f"inside {len(tree.open_nodes)} open block(s)" if tree.open_nodes else "without MOTION"
    raise MotionError(
        f"{source}: the file ends at line {len(lines)} {inside}; it is truncated or no BVH file"
    )


def _check_order(tree: _Hierarchy, word: str, where: str) -> None:
    """Refuse a statement that may not follow the ones before it."""
    keyword = word.upper()
    if tree.declared != (keyword == "{"):
        expected = "'{' must open the joint's block" if tree.declared else "no joint was declared before '{'"
        raise MotionError(f"{where}: {quote(word)}; {expected}")
    if keyword == "ROOT" and tree.nodes and (tree.strict or tree.open_nodes):
        raise MotionError(f"{where}: a second ROOT; only files of one skeleton are read")
    if not tree.open_nodes and keyword not in ("{", "ROOT"):
        expected = "MOTION" if tree.nodes else "ROOT"
        raise MotionError(f"{where}: {quote(word)} outside the skeleton; {expected} must follow")


def _declare_node(tree: _Hierarchy, words: list[str], line: int, source: str) -> None:
    """Add the node that a line with ROOT, JOINT or End Site declares."""
    where, rest = f"{source}, line {line + 1}", words[1:]
    parent = tree.open_nodes[-1] if tree.open_nodes else -1
    if parent >= 0 and tree.nodes[parent].name is None:
        raise MotionError(f"{where}: {quote(words[0])} inside an End Site, which has only an OFFSET")
    name = None if words[0].upper() == "END" else " ".join(rest)
    sites = [word.lower() for word in rest][: None if tree.strict else 1]
    if name == "" or (name is None and sites != ["site"]):
        raise MotionError(f"{where}: {quote(' '.join(words))}; allowed: JOINT and a name, or End Site")
    if name in tree.first_lines and name is not None:
        name = _another_name(tree, name, where)
    if name is not None:
        tree.first_lines[name] = line + 1
    tree.nodes.append(Node(name, parent, line))
    tree.declared = True


def _another_name(tree: _Hierarchy, name: str, where: str) -> str:
    """Give a joint whose name another one has already a name of its own."""
    if tree.strict:
        raise MotionError(
            f"{where}: a second joint {quote(name)}, the first is in line {tree.first_lines[name]}; names "
            "must differ"
        )
    number = 2
    while f"{name}_{number}" in tree.first_lines:
        number += 1
    tree.notes.append(f"a second joint {quote(name)}: called {quote(f'{name}_{number}')}")
    return f"{name}_{number}"


def _close_all(tree: _Hierarchy, where: str) -> None:
    """End the blocks that are still open."""
    tree.notes.append(f"{len(tree.open_nodes)} closing brace(s) missing before MOTION: added")
    while tree.open_nodes:
        _complete(tree, tree.nodes[tree.open_nodes.pop()], where)


def _largest_root(tree: _Hierarchy, where: str) -> int:
    """Find the root of the skeleton with the most joints, and say which others are left out."""
    roots = [k for k, node in enumerate(tree.nodes) if node.parent < 0]
    sizes = {root: end - root for root, end in zip(roots, [*roots[1:], len(tree.nodes)], strict=True)}
    best = max(roots, key=lambda root: sizes[root])
    if len(roots) > 1:
        others = ", ".join(quote(tree.nodes[root].name or "") for root in roots if root != best)
        tree.notes.append(
            f"{len(roots)} skeletons: {quote(tree.nodes[best].name or '')} is read, the one with the most "
            f"joints; left out: {others}"
        )
    return best


def _read_statement(tree: _Hierarchy, words: list[str], where: str) -> None:
    """Read a statement inside the block of the innermost open node: its offset, its channels, or its end."""
    keyword, rest = words[0].upper(), words[1:]
    if keyword == "}":
        _complete(tree, tree.nodes[tree.open_nodes.pop()], where)
    elif keyword == "OFFSET":
        tree.nodes[tree.open_nodes[-1]].offset = _offset(rest, where)
    elif keyword == "CHANNELS":
        _set_channels(tree, tree.open_nodes[-1], rest, where)
    else:
        allowed = "OFFSET, CHANNELS, JOINT, End Site, braces"
        raise MotionError(f"{where}: {quote(words[0])} is unknown; allowed: {allowed}")


def _statements(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Index and words of each line; a brace is a statement of its own wherever it stands."""
    for k, line in enumerate(lines):
        for part in re.split(r"([{}])", line):
            if words := part.split():
                yield k, words


def _complete(tree: _Hierarchy, node: Node, where: str) -> None:
    """Check the end of a block: it may lack neither the offset nor the channels."""
    kind = "End Site" if node.name is None else f"joint {quote(node.name)}"
    if not tree.strict:
        if node.offset is None and node.name is None:
            node.offset = [0.0, 0.0, 0.0]
            tree.notes.append(f"the End Site in line {node.line + 1} has no OFFSET: put at its joint")
        if node.channels is None and node.name is not None and node.offset is not None:
            node.channels = []
            tree.notes.append(f"{kind} has no CHANNELS: it never turns")
    if node.offset is None:
        raise MotionError(f"{where}: the block of {kind} from line {node.line + 1} ends without an OFFSET")
    if node.channels is None and node.name is not None:
        raise MotionError(f"{where}: the block of {kind} from line {node.line + 1} ends without CHANNELS")


def _offset(words: list[str], where: str) -> list[float]:
    """Read the three numbers of an OFFSET."""
    offset = [value for value in map(parse_finite_number, words) if value is not None]
    if not len(offset) == len(words) == 3 or not all(abs(value) <= LARGEST_NUMBER for value in offset):
        raise MotionError(f"{where}: OFFSET {quote(' '.join(words))}; it must be three finite numbers")
    return offset


def _set_channels(tree: _Hierarchy, index: int, words: list[str], where: str) -> None:
    """Read the CHANNELS of a joint: their count, then their names."""
    node = tree.nodes[index]
    if node.name is None or node.channels is not None or index != len(tree.nodes) - 1:
        raise MotionError(f"{where}: CHANNELS must stand once in a joint's block, before its children")
    names = [word.lower() for word in words[1:]]
    unknown = [word for word in words[1:] if word.lower() not in CHANNELS]
    if unknown:
        raise MotionError(
            f"{where}: channel {quote(unknown[0])} is unknown; allowed: Xposition, Yposition, Zposition, "
            "Xrotation, Yrotation, Zrotation"
        )
    miscounted = not words or words[0] != str(len(names))
    if (miscounted and (tree.strict or not names)) or len(set(names)) < len(names):
        raise MotionError(
            f"{where}: CHANNELS {quote(' '.join(words))}; the count and that many different names must follow"
        )
    if miscounted:
        tree.notes.append(
            f"joint {quote(node.name)}: {quote(words[0])} channels are declared, {len(names)} named"
        )
    node.channels = [CHANNELS[name] for name in names]
