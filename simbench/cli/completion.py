"""What the shell completes beside commands, options and files.

Every function takes what has been typed, and returns the names that begin with it; where there are none,
the shell completes files.
"""

from collections.abc import Callable


def complete_scenario(incomplete: str) -> list[str]:
    """List the scenarios that ship with simbench and begin with a text.

    `incomplete`: what has been typed; where it begins no scenario's name, the shell completes files. Returns
    names, sorted.
    """
    from simbench.runs.scenario.library import list_scenarios

    return [name for name in list_scenarios() if name.startswith(incomplete)]


def complete_robot(incomplete: str) -> list[str]:
    """List the robots that can be named, `robot_descriptions` apart, and begin with a text.

    `incomplete`: what has been typed; where it begins no robot's name, the shell completes files. Returns
    names, sorted.
    """
    from simbench.robot.names import find_plug_ins, shipped_robots
    from simbench.robot.sources import find_wheel_urdfs

    names = {*shipped_robots(), *find_plug_ins(), *find_wheel_urdfs()}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_motion(incomplete: str) -> list[str]:
    """List the recordings and virtual actors that come with simbench and begin with a text.

    `incomplete`: what has been typed. Returns sources such as `actor:drawer`.
    """
    from simbench.motion.sources import list_motion_sources

    return [name for name in list_motion_sources() if name.startswith(incomplete)]


def complete_tasks(incomplete: str) -> list[str]:
    """Complete the last of several tasks of virtual actors, which commas separate.

    `incomplete`: what has been typed. Returns all of it with the last name completed.
    """
    from simbench.motion.sources import list_tasks

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

    names = (key.name for section in scenario_key_entries() for key in section.keys)
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
