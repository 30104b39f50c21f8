"""Parser for the skeleton of a BVH file: nodes with offsets and channels; errors name the line."""

import re
from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, quote

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


def parse_hierarchy(lines: list[str], source: str, strict: bool) -> tuple[list[Node], int, list[str]]:
    """Read the part of a BVH file that describes the skeleton.

    `lines`: all lines of the file, up to the line `MOTION`; `source`: name of the file, for messages;
    `strict`: whether to refuse what has to be assumed: a second joint of the same name, a second root,
    missing braces, a wrong number of channels, an end site without its place. Returns joints and end sites of
    all skeletons in the file's order, parents before children; the index of the root of the skeleton with the
    most nodes; and what was assumed or left out.
    """
    parser = _Parser(source, strict)
    # A brace is a statement of its own wherever it stands.
    parts = ((k, part.split()) for k, line in enumerate(lines) for part in re.split(r"([{}])", line))
    statements = ((k, words) for k, words in parts if words)
    for k, words in statements:
        if words[0].upper() != "HIERARCHY":
            raise MotionError(f"{source}, line {k + 1}: {quote(words[0])}; a BVH file begins with HIERARCHY")
        break
    nodes, notes = parser.nodes, parser.notes
    for k, words in statements:
        where = f"{source}, line {k + 1}"
        if words[0].upper() != "MOTION" or not nodes or parser.declared:
            parser.read(words, k, where)
            continue
        if parser.open_nodes and not strict:
            notes.append(f"{len(parser.open_nodes)} closing brace(s) missing before MOTION: added")
            while parser.open_nodes:
                parser.close(where)
        if parser.open_nodes:
            parser.read(words, k, where)
            continue
        roots = [index for index, node in enumerate(nodes) if node.parent < 0]
        sizes = {root: end - root for root, end in zip(roots, [*roots[1:], len(nodes)], strict=True)}
        best = max(roots, key=lambda root: sizes[root])
        if len(roots) > 1:
            others = ", ".join(quote(nodes[root].name or "") for root in roots if root != best)
            notes.append(
                f"{len(roots)} skeletons: {quote(nodes[best].name or '')} is read, the one with the most "
                f"joints; left out: {others}"
            )
        return nodes, best, notes
    count = len(parser.open_nodes)
    inside = f"inside {count} open block(s)" if count else "without MOTION"
    raise MotionError(
        f"{source}: the file ends at line {len(lines)} {inside}; it is truncated or no BVH file"
    )


class _Parser:
    """State of the parser: all nodes, and the indices of those whose block is still open, root first."""

    def __init__(self, source: str, strict: bool) -> None:
        self.source, self.strict = source, strict
        self.nodes: list[Node] = []
        self.open_nodes: list[int] = []
        # Number of the line that declares each joint.
        self.first_lines: dict[str | None, int] = {}
        # What was assumed or left out.
        self.notes: list[str] = []
        # Whether the last node was declared and its block has not opened yet.
        self.declared = False

    def read(self, words: list[str], line: int, where: str) -> None:
        """Read a statement; refuse one that may not follow those before it."""
        keyword, rest = words[0].upper(), words[1:]
        if self.declared != (keyword == "{"):
            expected = (
                "'{' must open the joint's block" if self.declared else "no joint was declared before '{'"
            )
            raise MotionError(f"{where}: {quote(words[0])}; {expected}")
        if keyword == "ROOT" and self.nodes and (self.strict or self.open_nodes):
            raise MotionError(f"{where}: a second ROOT; only files of one skeleton are read")
        if not self.open_nodes and keyword not in ("{", "ROOT"):
            expected = "MOTION" if self.nodes else "ROOT"
            raise MotionError(f"{where}: {quote(words[0])} outside the skeleton; {expected} must follow")
        if keyword == "{":
            self.open_nodes.append(len(self.nodes) - 1)
            self.declared = False
        elif keyword in ("ROOT", "JOINT", "END"):
            self.declare(words, line, where)
        elif keyword == "}":
            self.close(where)
        elif keyword == "OFFSET":
            offset = [value for value in map(parse_finite_number, rest) if value is not None]
            if not len(offset) == len(rest) == 3 or not all(abs(value) <= LARGEST_NUMBER for value in offset):
                raise MotionError(f"{where}: OFFSET {quote(' '.join(rest))}; it must be three finite numbers")
            self.nodes[self.open_nodes[-1]].offset = offset
        elif keyword == "CHANNELS":
            self.set_channels(rest, where)
        else:
            allowed = "OFFSET, CHANNELS, JOINT, End Site, braces"
            raise MotionError(f"{where}: {quote(words[0])} is unknown; allowed: {allowed}")

    def declare(self, words: list[str], line: int, where: str) -> None:
        """Add the node that a line with ROOT, JOINT or End Site declares."""
        rest = words[1:]
        parent = self.open_nodes[-1] if self.open_nodes else -1
        if parent >= 0 and self.nodes[parent].name is None:
            raise MotionError(f"{where}: {quote(words[0])} inside an End Site, which has only an OFFSET")
        name = None if words[0].upper() == "END" else " ".join(rest)
        sites = [word.lower() for word in rest][: None if self.strict else 1]
        if name == "" or (name is None and sites != ["site"]):
            raise MotionError(f"{where}: {quote(' '.join(words))}; allowed: JOINT and a name, or End Site")
        if name is not None and name in self.first_lines:
            if self.strict:
                raise MotionError(
                    f"{where}: a second joint {quote(name)}, the first is in line {self.first_lines[name]}; "
                    "names must differ"
                )
            number = 2
            while f"{name}_{number}" in self.first_lines:
                number += 1
            self.notes.append(f"a second joint {quote(name)}: called {quote(f'{name}_{number}')}")
            name = f"{name}_{number}"
        if name is not None:
            self.first_lines[name] = line + 1
        self.nodes.append(Node(name, parent, line))
        self.declared = True

    def close(self, where: str) -> None:
        """End the innermost open block, which may lack neither the offset nor the channels."""
        node = self.nodes[self.open_nodes.pop()]
        kind = "End Site" if node.name is None else f"joint {quote(node.name)}"
        if not self.strict:
            if node.offset is None and node.name is None:
                node.offset = [0.0, 0.0, 0.0]
                self.notes.append(f"the End Site in line {node.line + 1} has no OFFSET: put at its joint")
            if node.channels is None and node.name is not None and node.offset is not None:
                node.channels = []
                self.notes.append(f"{kind} has no CHANNELS: it never turns")
        if node.offset is None:
            raise MotionError(
                f"{where}: the block of {kind} from line {node.line + 1} ends without an OFFSET"
            )
        if node.channels is None and node.name is not None:
            raise MotionError(f"{where}: the block of {kind} from line {node.line + 1} ends without CHANNELS")

    def set_channels(self, words: list[str], where: str) -> None:
        """Read the CHANNELS of the innermost open joint: their count, then their names."""
        index = self.open_nodes[-1]
        node = self.nodes[index]
        if node.name is None or node.channels is not None or index != len(self.nodes) - 1:
            raise MotionError(f"{where}: CHANNELS must stand once in a joint's block, before its children")
        names = [word.lower() for word in words[1:]]
        unknown = [word for word in words[1:] if word.lower() not in CHANNELS]
        if unknown:
            raise MotionError(
                f"{where}: channel {quote(unknown[0])} is unknown; allowed: Xposition, Yposition, Zposition, "
                "Xrotation, Yrotation, Zrotation"
            )
        miscounted = not words or words[0] != str(len(names))
        if (miscounted and (self.strict or not names)) or len(set(names)) < len(names):
            raise MotionError(
                f"{where}: CHANNELS {quote(' '.join(words))}; the count and that many different names must "
                "follow"
            )
        if miscounted:
            self.notes.append(
                f"joint {quote(node.name)}: {quote(words[0])} channels are declared, {len(names)} named"
            )
        node.channels = [CHANNELS[name] for name in names]
