"""What a controller is told and gives: loads that are known, torques of motors and joints."""

from dataclasses import dataclass

from simbench.kinematics.arrays import Array
from simbench.sim.world import RobotBody, bullet

Load = tuple[int, tuple[float, float, float, float, float, float]]
"""A known external force: the joint whose body it acts on, force (N) and moment (N·m) in its frame."""


@dataclass
class Command:
    """What the controller did in one step, arrays in the order of `robot.joint_names`.

    Parameters
    ----------
    requested : (n,) array
        Motor torque asked for by the control law, N·m.
    motor : (n,) array
        The same within the torque limits.
    joint : (n,) array
        What the joint received: motor torque minus what accelerates the rotor, and friction.
    friction : (n,) array
        Coulomb and viscous friction on the joint.
    saturated : int
        How many motors were at their limit.
    """

    requested: Array
    motor: Array
    joint: Array
    friction: Array
    saturated: int = 0


def drive_joints(body: RobotBody, torque: Array) -> None:
    """Hand joint torques (n,), N·m, to Bullet for the next step."""
    bullet.setJointMotorControlArray(
        body.body,
        body.joints,
        bullet.TORQUE_CONTROL,
        forces=torque.tolist(),
        physicsClientId=body.world.client,
    )
