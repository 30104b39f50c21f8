"""Seeded damage to valid files: to their bytes, to their text, and to the tree that they describe."""

import copy
import io
import json
import random
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable
from typing import Any

import yaml
from odd_values import NUMBERS, VALUES, WORDS

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][\w./:-]*")
_CODINGS = ("utf-16", "utf-8-sig", "latin-1", "utf-7", "cp037")


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Damage a file without knowing what it holds: one to three changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(_BYTE_CHANGES)(data, rng)
    return data


def mutate_sealed(data: bytes, rng: random.Random) -> bytes:
    """Damage a file with a checksum, which notices all damage; one in eight stays whole, and must be read."""
    return data if rng.random() < 0.125 else mutate_bytes(data, rng)


def mutate_text(data: bytes, rng: random.Random) -> bytes:
    """Damage a text: its numbers, words, lines or encoding, sometimes its bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = data.decode("utf-8", errors="surrogateescape")
        change = rng.choice(_TEXT_CHANGES)
        data = change(text, rng).encode("utf-8", errors="surrogateescape")
    if rng.random() < 0.06:
        data = _recode(data, rng)
    return mutate_bytes(data, rng) if rng.random() < 0.12 else data


def mutate_yaml(data: bytes, rng: random.Random) -> bytes:
    """Damage a YAML file as text, or what it describes."""
    if rng.random() < 0.45:
        return mutate_text(data, rng)
    tree = mutate_tree(yaml.safe_load(data), rng)
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True).encode()


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Damage a JSON file as text, or what it describes; nested too deep now and then."""
    if rng.random() < 0.05:
        return b"[" * 100_000 if rng.random() < 0.5 else b'{"a":' * 50_000 + b"1" + b"}" * 50_000
    if rng.random() < 0.4:
        return mutate_text(data, rng)
    return json.dumps(mutate_tree(json.loads(data), rng)).encode()


def mutate_xml(data: bytes, rng: random.Random) -> bytes:
    """Damage an XML file as text, or its elements and attributes."""
    if rng.random() < 0.3:
        return mutate_text(data, rng)
    root = ET.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(_ELEMENT_CHANGES)(root, rng)
    return ET.tostring(root, encoding="unicode").encode("utf-8", errors="replace")


def mutate_arrays(data: bytes, rng: random.Random) -> bytes:
    """Damage an archive of arrays, or one of its arrays, of which the checksum is then right again."""
    if not data.startswith(b"PK") or rng.random() < 0.3:
        return mutate_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(list(arrays))
    kind = rng.random()
    if kind < 0.15:
        del arrays[chosen]
    elif kind < 0.3:
        arrays[rng.choice((*WORDS, *arrays)).replace("\x00", "") + ".npy"] = arrays[chosen]
    elif kind < 0.5:
        # The header is text: shapes and types.
        arrays[chosen] = mutate_text(arrays[chosen][:128], rng) + arrays[chosen][128:]
    else:
        arrays[chosen] = mutate_bytes(arrays[chosen], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name.encode("utf-8", "replace").decode() or "x", content)
    return stream.getvalue()


def mutate_tree(tree: Any, rng: random.Random) -> Any:
    """Damage nested mappings and lists: one to four parts are replaced, removed, doubled or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(_places(tree))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        kind = rng.random()
        if kind < 0.55:
            holder[key] = copy.deepcopy(rng.choice((*VALUES, *WORDS)))
        elif kind < 0.7:
            del holder[key]
        elif kind < 0.8 and isinstance(holder, dict):
            holder[rng.choice(WORDS)] = holder.pop(key)
        elif kind < 0.9:
            other, place = rng.choice(places)
            try:
                holder[key] = copy.deepcopy(other[place])
            except (KeyError, IndexError):
                continue
        else:
            holder[key] = [copy.deepcopy(holder[key])] * rng.choice((1, 2, 50))
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every part of a tree as its holder and its key."""
    if not isinstance(tree, dict | list):
        return []
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    return [place for key in keys for place in ((tree, key), *_places(tree[key]))]


def _span(data: bytes | str, rng: random.Random) -> slice:
    begin = rng.randrange(len(data) + 1)
    return slice(begin, min(len(data), begin + rng.choice((1, 1, 4, 16, 256, 4096))))


def _replace_span(data: bytes, rng: random.Random, made: Callable[[int], bytes]) -> bytes:
    span = _span(data, rng)
    return data[: span.start] + made(span.stop - span.start) + data[span.stop :]


def _move_span(data: bytes, rng: random.Random) -> bytes:
    span = _span(data, rng)
    rest = data[: span.start] + data[span.stop :]
    place = rng.randrange(len(rest) + 1)
    return rest[:place] + data[span] + rest[place:]


def _flip_bit(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _flip_header_bit(data: bytes, rng: random.Random) -> bytes:
    return _flip_bit(data[:1024], rng) + data[1024:]


_BYTE_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip_bit,
    _flip_bit,
    _flip_header_bit,
    _move_span,
    lambda data, rng: data[: rng.randrange(len(data) + 1)],
    lambda data, rng: _replace_span(data, rng, bytes),
    lambda data, rng: _replace_span(data, rng, rng.randbytes),
    lambda data, rng: _replace_span(data, rng, lambda n: b"\xff" * n),
    lambda data, rng: _replace_span(data, rng, lambda n: b""),
    lambda data, rng: data + rng.randbytes(rng.choice((1, 100, 5000))),
    lambda data, rng: rng.choice((b"", data * 2, b"\x00" * len(data), rng.randbytes(len(data)))),
)


def _replace_match(pattern: re.Pattern[str], choices: tuple[str, ...]) -> Callable[[str, random.Random], str]:
    def replace(text: str, rng: random.Random) -> str:
        matches = list(pattern.finditer(text))
        if not matches:
            return text + rng.choice(choices)
        chosen = rng.choice(matches)
        return text[: chosen.start()] + rng.choice(choices) + text[chosen.end() :]

    return replace


def _change_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 3:
        lines[one] = " " * rng.choice((1, 2, 7)) + lines[one]
    elif kind == 4:
        lines[one] = lines[one][: rng.randrange(len(lines[one]) + 1)]
    else:
        lines = lines[:one]
    return "\n".join(lines)


def _insert_word(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(WORDS) + text[place:]


_TEXT_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _replace_match(_NUMBER, NUMBERS),
    _replace_match(_NUMBER, NUMBERS),
    _replace_match(_NUMBER, WORDS),
    _replace_match(_WORD, WORDS),
    _change_lines,
    _change_lines,
    _insert_word,
    lambda text, rng: text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", ""))),
)


def _recode(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", errors="replace")
    return text.encode(rng.choice(_CODINGS), errors="replace")


def _parents(root: ET.Element) -> list[tuple[ET.Element, ET.Element]]:
    return [(parent, child) for parent in root.iter() for child in parent]


def _remove_element(root: ET.Element, rng: random.Random) -> None:
    if pairs := _parents(root):
        parent, child = rng.choice(pairs)
        parent.remove(child)


def _double_element(root: ET.Element, rng: random.Random) -> None:
    if pairs := _parents(root):
        _, child = rng.choice(pairs)
        rng.choice(list(root.iter())).append(copy.deepcopy(child))


def _rename_element(root: ET.Element, rng: random.Random) -> None:
    elements = list(root.iter())
    rng.choice(elements).tag = rng.choice(elements).tag


def _change_attribute(root: ET.Element, rng: random.Random) -> None:
    places = [(element, key) for element in root.iter() for key in element.attrib]
    if not places:
        return
    element, key = rng.choice(places)
    value = element.get(key, "")
    numbers = value.split()
    if numbers and all(_NUMBER.fullmatch(number) for number in numbers) and rng.random() < 0.8:
        numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
        if rng.random() < 0.1:
            numbers *= rng.choice((0, 2))
        element.set(key, " ".join(numbers))
    elif rng.random() < 0.2:
        del element.attrib[key]
    elif rng.random() < 0.4:
        other, place = rng.choice(places)
        element.set(key, other.get(place, ""))
    else:
        element.set(key, _legal_xml(rng.choice(WORDS)))


def _legal_xml(text: str) -> str:
    return re.sub("[\x00-\x08\x0b-\x1f]", "", text)


_ELEMENT_CHANGES = (
    _remove_element,
    _double_element,
    _rename_element,
    _change_attribute,
    _change_attribute,
    _change_attribute,
    _change_attribute,
)
