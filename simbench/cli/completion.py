"""What the shell completes beside commands and options."""


def complete_scenario(incomplete: str) -> list[str]:
    """List the scenarios that ship with simbench and begin with a text.

    Parameters
    ----------
    incomplete : str
        What has been typed; where it begins no scenario's name, the shell completes files.

    Returns
    -------
    list of str
        Names, sorted.
    """
    from simbench.runs.scenario.library import list_scenarios

    return [name for name in list_scenarios() if name.startswith(incomplete)]


def complete_robot(incomplete: str) -> list[str]:
    """List the robots that can be named, `robot_descriptions` apart, and begin with a text.

    Parameters
    ----------
    incomplete : str
        What has been typed; where it begins no robot's name, the shell completes files.

    Returns
    -------
    list of str
        Names, sorted.
    """
    from simbench.robot.names import find_plug_ins, shipped_robots
    from simbench.robot.sources import find_wheel_urdfs

    names = {*shipped_robots(), *find_plug_ins(), *find_wheel_urdfs()}
    return sorted(name for name in names if name.startswith(incomplete))
