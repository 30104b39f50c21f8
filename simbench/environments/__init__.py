"""Gymnasium environments: every scenario as a tracking task.

Importing this package registers `simbench/SCENARIO-v0` for every scenario that ships with simbench, and
`simbench/Scenario-v0` for one of your own::

    import gymnasium, simbench.environments
    env = gymnasium.make("simbench/drawer-v0")
"""

from simbench.errors import SimbenchError
from simbench.runs.scenario.scenario_files import list_scenarios

NAMESPACE = "simbench"
OWN = f"{NAMESPACE}/Scenario-v0"  # Environment of a scenario that the argument `scenario` names.
_CLASS = "simbench.environments.environment:ScenarioEnv"


def register_environments() -> None:
    """Register an environment for every shipped scenario, and one for others; again changes nothing."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        raise SimbenchError("environments need gymnasium: install simbench's extra `gym`") from None
    for name in list_scenarios():
        environment = f"{NAMESPACE}/{name}-v0"
        if environment not in registry:
            register(environment, entry_point=_CLASS, kwargs={"scenario": name})
    if OWN not in registry:
        register(OWN, entry_point=_CLASS)


register_environments()
