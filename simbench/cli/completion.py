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
