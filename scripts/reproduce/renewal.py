"""Results are current again if a reduced run, of what has changed since, gives what it gave before.

Beside the committed results, in `reduced`, are those of a reduced run of the same code and data. When code
that a script can reach has changed, or data that the reduced run reads as well, the reduced run is made
again: if no cell differs, the results are given the digests of the present code and data and `renewed`, the
date. Otherwise they are to be computed in full.
"""

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from comparison import differences
from dependencies import KEY, changed_data, changes, data_unit, digest_of, read_all, say_changes
from parts import Part
from results import format_results
from running import read_results

REDUCED = "reduced"
"""Folder of the reduced results in that of the committed ones."""


def to_renew(parts: Sequence[Part], committed: Path) -> list[Part]:
    """Choose the parts whose results, or whose reduced results, are older than the code."""
    every, reduced = read_all(committed), read_all(committed / REDUCED)
    return [
        part
        for part in parts
        if part.name in every
        and (changes(every[part.name], every) or changes(reduced.get(part.name, {}), reduced))
    ]


def obstacles(part: Part, committed: Path) -> list[str]:
    """Say why no reduced run can renew the results of a part; nothing if one can, or they are not stale."""
    every, reduced = read_all(committed), read_all(committed / REDUCED)
    full = every[part.name]
    if not changes(full, every):
        return []
    if KEY not in full:
        return ["there is no record of what they were computed from"]
    read_too = {data_unit(Path(name)) for name in reduced.get(part.name, {}).get(KEY, {}).get("data", {})}
    data = [name for name in changed_data(full[KEY]["data"]) if data_unit(Path(name)) not in read_too]
    if data:
        return [f"{say_changes(data)} changed, which a reduced run does not read"]
    if reduced.get(part.name, {}).get(KEY, {}).get("code") != full[KEY]["code"]:
        return ["there are no reduced results of the same code"]
    return []


def renew(part: Part, committed: Path, again: Path) -> list[str]:
    """Keep reduced results that were made just now, and renew the full ones if those are stale.

    Parameters
    ----------
    part : Part
        What was computed, without `obstacles`.
    committed : Path
        Folder of the committed results.
    again : Path
        Folder of the reduced results that were made just now.

    Returns
    -------
    list of str
        Why the results cannot be renewed and stay as they are; none if they are current now.
    """
    every, now = read_all(committed), read_all(again)
    if changes(now.get(part.name, {}), now):
        return ["the reduced run has failed"]
    full, kept = every[part.name], committed / REDUCED / f"{part.name}.json"
    if changes(full, every):
        older = [
            name
            for name, digest in full[KEY]["after"].items()
            if digest != digest_of(every[name]) or changes(every[name], every)
        ]
        if older:
            return [f"made from {', '.join(older)}, which is another now"]
        if found := differences(read_results(kept), now[part.name], part.unsteady):
            return found
        before = digest_of(full)
        full[KEY] |= {each: now[part.name][KEY][each] for each in ("code", "files")}
        data = now[part.name][KEY]["data"]
        for name in changed_data(full[KEY]["data"]):
            full[KEY]["data"].pop(name, None)
            full[KEY]["data"] |= {name: data[name]} if name in data else {}
        full[KEY]["renewed"] = datetime.now(timezone.utc).date().isoformat()
        for other in every.values():
            after = other.get(KEY, {}).get("after", {})
            if after.get(part.name) == before:
                after[part.name] = digest_of(full)
        for name, content in every.items():
            (committed / f"{name}.json").write_text(format_results(content), encoding="utf-8")
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(format_results(now[part.name]), encoding="utf-8")
    return []
