"""The contract of a tracking task: what is observed and done where nobody says otherwise."""

from simbench.robot.robot import Robot
from simbench.sim.control.policy.contract import ActionSection, PolicyContract, TermSection

_BASE = ("projected_gravity", "base_linear_velocity", "base_angular_velocity")
_JOINTS = (
    "joint_position_relative",
    "joint_velocity",
    "reference_position",
    "reference_velocity",
    "last_action",
    "phase",
)
RESIDUAL = 0.1
"""Change of a joint's planned position by an action of 1, rad (m)."""


def tracking_contract(robot: Robot, rate_hz: float = 50.0) -> PolicyContract:
    """Make the contract of a policy that corrects the planned motion of all joints.

    Returns residual actions in [−1, 1] times `RESIDUAL`; observations of base, joints, reference and phase.
    """
    terms = (*(_BASE if robot.floating else ()), *_JOINTS)
    return PolicyContract(
        robot=robot.name,
        joints=robot.joint_names,
        rate_hz=rate_hz,
        observation=tuple(TermSection(term=name) for name in terms),
        action=ActionSection(kind="residual", scale=RESIDUAL, clip=1.0),
    )
