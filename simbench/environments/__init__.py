"""Gymnasium environments: every scenario as a tracking task.

Importing this package registers `simbench/SCENARIO-v0` for every scenario that ships with simbench, and
`simbench/Scenario-v0` for one of your own::

    import gymnasium, simbench.environments
    env = gymnasium.make("simbench/drawer-v0")
"""

from simbench.environments.registration import register_environments

__all__ = ["register_environments"]

register_environments()
