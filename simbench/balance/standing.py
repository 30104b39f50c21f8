"""Standing on both feet: legs and pelvis that keep the COG over the soles while the upper body moves."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError, RobotError
from simbench.robot.robot import Robot

SIDES = ("left", "right")


@dataclass(frozen=True)
class Stance:
    """Both feet flat on the floor, pelvis upright at a fixed height.

    Parameters
    ----------
    soles : {side: pinocchio.SE3}
        Pose of each foot frame in the world.
    base : (7,) array
        Nominal pose of the root link.
    joints : (n,) array
        Posture it comes from, in the order of `robot.joint_names`, rad.
    target : (2,) array
        Where the COG is kept, m: the middle of the support polygon.
    """

    soles: dict[str, pin.SE3]
    base: NDArray[np.float64]
    joints: NDArray[np.float64]
    target: NDArray[np.float64]


def stand(robot: Robot, position: tuple[float, float], heading: float, posture: str) -> Stance:
    """Place a robot on the floor in a posture.

    Parameters
    ----------
    robot : Robot
    position : (float, float)
        Middle between the feet, m, world.
    heading : float
        Direction of the robot's x axis, rad about z.
    posture : str
        Name in `robot.postures` with both soles flat.

    Returns
    -------
    Stance

    Raises
    ------
    RobotError
        If the posture is unknown or its soles are not flat.
    """
    if posture not in robot.postures:
        raise RobotError(f"{robot.name}: no posture {posture!r}; allowed: {', '.join(robot.postures)}")
    joints = robot.postures[posture]
    data = robot.model.createData()
    frames = {side: robot.model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES}
    turn = pin.utils.rotate("z", heading)
    upright = pin.SE3(turn, np.zeros(3))
    pin.framesForwardKinematics(robot.model, data, np.concatenate([pin.SE3ToXYZQUAT(upright), joints]))
    feet = {side: data.oMf[frame].copy() for side, frame in frames.items()}
    tilt = max(float(np.arccos(np.clip(foot.rotation[2, 2], -1, 1))) for foot in feet.values())
    uneven = abs(feet["left"].translation[2] - feet["right"].translation[2])
    if tilt > 1e-3 or uneven > 1e-4:
        raise RobotError(
            f"{robot.name}: posture {posture!r} does not stand: soles tilted {tilt:.4f} rad, "
            f"{1000 * uneven:.2f} mm uneven (allowed 0.001 rad, 0.1 mm)"
        )
    middle = 0.5 * (feet["left"].translation + feet["right"].translation)
    shift = np.array([*position, 0.0]) - middle
    soles = {}
    for side, foot in feet.items():
        yaw = float(np.arctan2(foot.rotation[1, 0], foot.rotation[0, 0]))
        spot = foot.translation + shift
        spot[2] = 0.0
        soles[side] = pin.SE3(pin.utils.rotate("z", yaw), spot)
    corners = np.vstack(
        [(soles[side].act(corner)) for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    )
    target = 0.5 * (corners[:, :2].min(axis=0) + corners[:, :2].max(axis=0))
    base = pin.SE3ToXYZQUAT(pin.SE3(turn, shift))
    return Stance(soles, base, joints.copy(), target)


def balance(
    robot: Robot,
    stance: Stance,
    joints: NDArray[np.float64],
    target: NDArray[np.float64] | None = None,
    *,
    tolerance: float = 1e-7,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Move the pelvis so that the COG stays over a target, feet fixed, for every frame.

    The pelvis keeps height and orientation; its horizontal position follows from
    m·c(q) = m·c_target by fixed-point iteration, the legs from the pelvis by Newton's method.

    Parameters
    ----------
    robot : Robot
    stance : Stance
    joints : (T, n) array
        Joint positions; those of the legs are replaced, rad.
    target : (T, 2) array, optional
        Where the COG is to be, m; the stance's target by default.
    tolerance : float
        Allowed distance of the COG from the target, m; what is left changes from frame to frame and shows,
        differentiated twice, in the planned torque.

    Returns
    -------
    base : (T, 7) array
        Pose of the root link.
    joints : (T, n) array

    Raises
    ------
    RetargetError
        If the legs cannot reach a pelvis position that balances the motion.
    """
    model, data = robot.model, robot.model.createData()
    legs = [leg_columns(robot, side) for side in SIDES]
    frames = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    soles = [stance.soles[side] for side in SIDES]
    targets = np.broadcast_to(stance.target if target is None else target, (len(joints), 2))
    bases, balanced = np.empty((len(joints), 7)), joints.copy()
    q = np.concatenate([stance.base, stance.joints])
    for sample in range(len(joints)):
        arms = np.ones(len(joints[sample]), dtype=bool)
        arms[np.concatenate(legs)] = False
        q[7:][arms] = joints[sample][arms]
        for _ in range(40):
            _place_feet(model, data, q, frames, soles, legs, sample)
            offset = targets[sample] - pin.centerOfMass(model, data, q)[:2]
            if np.linalg.norm(offset) < tolerance:
                break
            q[:2] += offset
        else:
            raise RetargetError(
                f"{robot.name}: no pelvis position balances frame {sample}: "
                f"COG {1000 * np.linalg.norm(offset):.1f} mm off"
            )
        bases[sample], balanced[sample] = q[:7], q[7:]
    return bases, balanced


def leg_columns(robot: Robot, side: str) -> NDArray[np.int64]:
    """Positions of a leg's joints in `robot.joint_names`."""
    return np.array([robot.joint_names.index(name) for name in robot.groups[f"{side}_leg"]])


def _place_feet(
    model: pin.Model,
    data: pin.Data,
    q: NDArray[np.float64],
    frames: list[int],
    soles: list[pin.SE3],
    legs: list[NDArray[np.int64]],
    sample: int,
) -> None:
    """Newton's method on the leg joints in `q` until both feet are where they stand."""
    for _ in range(30):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        worst = 0.0
        for frame, sole, columns in zip(frames, soles, legs, strict=True):
            error = pin.log6(data.oMf[frame].actInv(sole)).vector
            worst = max(worst, float(np.abs(error).max()))
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)[:, 6 + columns]
            q[7 + columns] += np.linalg.solve(jacobian, error)
        if worst < 1e-8:
            return
    raise RetargetError(f"the legs cannot keep the feet in place in frame {sample}: {worst:.2g} m or rad off")
