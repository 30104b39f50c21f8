"""Compare robots given as MJCF with MuJoCo's own model of the same file, and print a table.

    python scripts/studies/mjcf_models.py FILE.xml ...

The robot that simbench loads (Pinocchio's model of the converted URDF, with drives and friction) against
MuJoCo, at random configurations within the limits and random velocities, relative to the largest value:

- mass: of all bodies of the robot.
- M: mass matrix with armature; g: joint torques against gravity; passive: damping.
- Bullet: masses of the links, mass matrix without armature and gravity torques of the joints, root fixed, as
  Bullet reads the URDF.

A ball joint has other coordinates here: files with one are compared by mass only.
"""

import argparse
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pybullet

from simbench.errors import RobotError
from simbench.robot.description import read_description
from simbench.robot.robot import Robot, load_robot

_SAMPLES = 5


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    head = ("file", "joints", "mass kg", "mass", "M", "g", "passive", "Bullet mass", "Bullet M", "Bullet g")
    print("{:34} {:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>11} {:>8} {:>8}".format(*head))
    for path in parser.parse_args().files:
        name = f"{path.parent.name}/{path.name}"[-34:]
        try:
            robot = load_robot(path)
            model = mujoco.MjModel.from_xml_path(str(path))
        except (RobotError, ValueError) as error:
            print(f"{name:34} {' '.join(str(error).split())[:150]}")
            continue
        errors = compare(robot, model)
        numbers = " ".join(
            f"{errors[key]:{width}.1e}" if key in errors else f"{'':{width}}"
            for key, width in (("mass", 8), ("M", 8), ("g", 8), ("passive", 8), ("Bullet mass", 11))
        )
        bullet = " ".join(f"{errors[key]:8.1e}" for key in ("Bullet M", "Bullet g") if key in errors)
        total = sum(inertia.mass for inertia in robot.model.inertias)
        print(f"{name:34} {len(robot.joint_names):6} {total:9.3f} {numbers} {bullet}", flush=True)


def compare(robot: Robot, model: mujoco.MjModel) -> dict[str, float]:
    """Largest relative differences of a robot from MuJoCo's model, by quantity."""
    links = {frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY}
    names = [model.body(number).name or f"body{number}" for number in range(model.nbody)]
    masses = {name: mass for name, mass in zip(names, model.body_mass, strict=True) if name in links}
    total = sum(inertia.mass for inertia in robot.model.inertias)
    errors = {"mass": abs(total - sum(masses.values())) / total}
    joints = {model.joint(j).name or f"joint{j}": j for j in range(model.njnt)}
    if not all(name in joints for name in robot.joint_names):
        return errors
    ids = np.array([joints[name] for name in robot.joint_names])
    columns, positions = model.jnt_dofadr[ids], model.jnt_qposadr[ids]
    limited = model.jnt_limited[ids].astype(bool)[:, None]
    low, high = np.where(limited, model.jnt_range[ids], (-2.0, 2.0)).T
    model.opt.disableflags, model.opt.gravity = 0, (0.0, 0.0, -9.81)
    rng, data, pinned = np.random.default_rng(0), mujoco.MjData(model), robot.model.createData()
    # Joints that the guessed description fixes, such as fingers of an arm.
    for name, position in read_description(robot.source.description).fixed_joints.items():
        data.qpos[model.jnt_qposadr[joints[name]]] = position
    at, size, v = robot.root_v, len(ids), robot.model.nv
    bullet = _load_bullet(robot)
    largest: dict[str, list[float]] = {}
    for _ in range(_SAMPLES):
        q = pin.neutral(robot.model)
        q[robot.root_q :] = data.qpos[positions] = rng.uniform(low, high)
        data.qvel[:] = 0.0
        mujoco.mj_forward(model, data)
        full, gravity = np.zeros((model.nv, model.nv)), data.qfrc_bias[columns].copy()
        mujoco.mj_fullM(model, data, full)
        full = full[np.ix_(columns, columns)]
        ours = pin.crba(robot.model, pinned, q).reshape(v, v)[at:, at:]
        ours = np.triu(ours) + np.triu(ours, 1).T
        weight = pin.computeGeneralizedGravity(robot.model, pinned, q)[at:]
        speed = data.qvel[columns] = rng.uniform(-1.0, 1.0, size)
        mujoco.mj_forward(model, data)
        pairs = {
            "M": (ours, full),
            "g": (weight, gravity),
            "passive": (-robot.friction.viscous * speed, data.qfrc_damper[columns]),
        }
        if bullet is not None:
            client, body, index = bullet
            values = q[robot.root_q :][index].tolist()
            rows = np.argsort(index)
            matrix = np.array(client.calculateMassMatrix(body, values))[np.ix_(rows, rows)]
            torque = client.calculateInverseDynamics(body, values, [0.0] * size, [0.0] * size)
            pairs["Bullet M"] = matrix + np.diag(robot.motors.reflected_inertia), full
            pairs["Bullet g"] = np.array(torque)[rows], gravity
        for key, (one, other) in pairs.items():
            scale = max(float(np.abs(other).max()), 1e-12)
            largest.setdefault(key, []).append(float(np.abs(one - other).max()) / scale)
    if bullet is not None:
        # A root that is fixed has no mass in Bullet.
        client, body, _ = bullet
        read = sum(client.getDynamicsInfo(body, i)[0] for i in range(client.getNumJoints(body)))
        urdf = ET.fromstring(robot.urdf_text)
        children = {element.get("link") for element in urdf.findall("joint/child")}
        links = [link for link in urdf.findall("link") if link.get("name") in children]
        total = sum(float(link.find("inertial/mass").get("value")) for link in links)
        errors["Bullet mass"] = abs(read - total) / total
        client.disconnect()
    return errors | {key: max(values) for key, values in largest.items()}


class _Bullet:
    """A connection to Bullet; pybullet's functions by name."""

    def __init__(self) -> None:
        self.client = pybullet.connect(pybullet.DIRECT)

    def __getattr__(self, name: str):
        function = getattr(pybullet, name)
        return lambda *given, **named: function(*given, **named, physicsClientId=self.client)


def _load_bullet(robot: Robot) -> tuple[_Bullet, int, np.ndarray]:
    """Load a robot's URDF into Bullet, root fixed; its joints in Bullet's order as indices of the robot's."""
    client = _Bullet()
    client.setGravity(0.0, 0.0, -9.81)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(robot.urdf_text, encoding="utf-8")
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = client.loadURDF(str(path), useFixedBase=True, flags=flags)
    infos = [client.getJointInfo(body, number) for number in range(client.getNumJoints(body))]
    moving = [info[1].decode() for info in infos if info[2] != pybullet.JOINT_FIXED]
    return client, body, np.array([robot.joint_names.index(name) for name in moving])


if __name__ == "__main__":
    main()
