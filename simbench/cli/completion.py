"""What the shell completes beside commands, options and files, and how bash completes whole words.

Every function `complete_...` takes what has been typed, and returns the names that begin with
it; where there are none, the shell completes files.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout

_BREAKS = (":", "=")  # Characters of bash's COMP_WORDBREAKS that words of this command contain.


def complete_scenario(incomplete: str) -> list[str]:
    """List the scenarios that ship with simbench and begin with a text.

    `incomplete`: what has been typed; where it begins no scenario's name, the shell completes files. Returns
    names, sorted.
    """
    from simbench.runs.scenario.scenario_files import list_scenarios

    return [name for name in list_scenarios() if name.startswith(incomplete)]


def complete_robot(incomplete: str) -> list[str]:
    """List the robots that can be named, `robot_descriptions` apart, and begin with a text.

    `incomplete`: what has been typed; where it begins no robot's name, the shell completes files. Returns
    names, sorted.
    """
    from simbench.robot.packages import find_plug_ins, shipped_robots
    from simbench.robot.robot_sources import find_wheel_urdfs

    names = {*shipped_robots(), *find_plug_ins(), *find_wheel_urdfs()}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_motion(incomplete: str) -> list[str]:
    """List the recordings and virtual actors that come with simbench and begin with a text.

    `incomplete`: what has been typed. Returns sources such as `actor:drawer`.
    """
    from simbench.motion.shipped import list_motion_sources

    return [name for name in list_motion_sources() if name.startswith(incomplete)]


def complete_tasks(incomplete: str) -> list[str]:
    """Complete the last of several tasks of virtual actors, which commas separate.

    `incomplete`: what has been typed. Returns all of it with the last name completed.
    """
    from simbench.motion.shipped import list_tasks

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in list_tasks() if name.startswith(last)]


def complete_marker_map(incomplete: str) -> list[str]:
    """List the marker maps that ship with simbench and begin with a text.

    `incomplete`: what has been typed. Returns names, sorted.
    """
    from simbench.resources import resource_dir

    names = (path.stem for path in resource_dir("marker_maps").glob("*.yaml"))
    return sorted(name for name in names if name.startswith(incomplete))


def complete_scenario_key(incomplete: str) -> list[str]:
    """List the keys of a scenario that begin with a text, as `--set` and `--vary` take them.

    `incomplete`: what has been typed. Returns dotted keys, each with an equals sign; of fixtures and of what
    users name none, since they depend on the scenario.
    """
    from simbench.runs.explain.documented_names import scenario_key_entries

    names = (key.name for _, _, keys in scenario_key_entries() for key in keys)
    chosen = (name for name in names if not name.startswith("fixtures.") and "<" not in name)
    return sorted({f"{name}=" for name in chosen if name.startswith(incomplete)})


def complete_camera_key(incomplete: str) -> list[str]:
    """List the keys of a scenario's camera that begin with a text.

    `incomplete`: what has been typed. Returns dotted keys, each with an equals sign.
    """
    return [key for key in complete_scenario_key(incomplete) if key.startswith("camera.")]


def complete_metric(incomplete: str) -> list[str]:
    """List the metrics that begin with a text.

    `incomplete`: what has been typed. Returns names; none of those that a fixture gives its metrics.
    """
    from simbench.runs.metric_catalogue import metric_entries

    names = (entry.name for entry in metric_entries())
    return sorted(name for name in names if name.startswith(incomplete) and "<" not in name)


def complete_explained(incomplete: str) -> list[str]:
    """List what `simbench explain` knows by a single word that begins with a text.

    `incomplete`: what has been typed. Returns metrics, keys, variables of the log and terms.
    """
    from simbench.runs.explain.lookup import explained_names

    single = (name for name in explained_names() if " " not in name and "<" not in name)
    return sorted(name for name in single if name.startswith(incomplete))


def complete_words(*words: str) -> Callable[[str], list[str]]:
    """Make a function that completes one of a few words.

    `*words`: words that are allowed. Returns function of what has been typed that lists the words which begin
    with it.
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


@contextmanager
def whole_words(environment: MutableMapping[str, str] = os.environ) -> Iterator[None]:
    """Let the body complete whole words, for bash, which gets what follows the last break in them.

    bash breaks words at `:` and `=`, such as `actor:drawer`.

    `environment`: environment; COMP_WORDS, a word a line, and COMP_CWORD, the number of the word that is
    completed, are changed to whole words.
    """
    words = re.split(r"\s", environment.get("COMP_WORDS", ""))
    number = int(environment.get("COMP_CWORD", "0"))
    joined = join_words(words[: number + 1])
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "\n".join(joined), str(len(joined) - 1)
    typed = joined[-1] if joined else ""
    known = max(typed.rfind(character) for character in _BREAKS) + 1
    completions, output = io.StringIO(), sys.stdout
    try:
        with redirect_stdout(completions):
            yield
    finally:
        lines = completions.getvalue().splitlines()
        print("\n".join(line[known:] for line in lines), file=output)


def join_words(parts: list[str]) -> list[str]:
    """Join the parts into which bash has broken words.

    `parts`: parts, each break one of its own. Returns whole words.
    """
    words: list[str] = []
    goes_on = False
    for part in parts:
        is_break = part != "" and set(part) <= set(_BREAKS)
        if words and (goes_on or is_break):
            words[-1] += part
        else:
            words.append(part)
        goes_on = is_break
    return words
