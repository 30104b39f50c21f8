"""Compare robots given as MJCF with MuJoCo's own model of the same file, and print a table.

    python scripts/studies/mjcf_models.py FILE.xml ...

Pinocchio's model of the URDF that the MJCF is converted to, with the drives and friction that go with it,
against MuJoCo, at random configurations within the limits and random velocities; largest differences,
relative to the largest value:

- mass: of all bodies of the robot.
- M: mass matrix of the joints with armature; g: joint torques against gravity; passive: damping.
- Bullet: masses of the links, mass matrix and gravity torques as Bullet reads the URDF, its root fixed.

A ball joint has other coordinates here: a file with one is compared by mass only.
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
from simbench.robot.mjcf.kept_conversion import read_extension
from simbench.robot.urdf.elements import parse_urdf
from simbench.robot.urdf.source import build_model, read_urdf

_SAMPLES = 5
_GRAVITY = (0.0, 0.0, -9.81)
_COLUMNS = {"mass": 8, "M": 8, "g": 8, "passive": 8, "Bullet mass": 11, "Bullet M": 8, "Bullet g": 8}


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    print(f"{'file':34} {'joints':>6} {'kg':>9}", *(f"{key:>{width}}" for key, width in _COLUMNS.items()))
    # MuJoCo would write its warnings to a file in the current directory.
    mujoco.set_mju_user_warning(lambda _text: None)
    for path in parser.parse_args().files:
        name = f"{path.parent.name}/{path.name}"[-34:]
        try:
            reference = mujoco.MjModel.from_xml_path(str(path))
            joints, mass, errors = compare(path, reference)
        except (RobotError, ValueError) as error:
            print(f"{name:34} {' '.join(str(error).split())[:150]}")
            continue
        cells = (f"{errors[key]:{w}.1e}" if key in errors else " " * w for key, w in _COLUMNS.items())
        print(f"{name:34} {joints:6} {mass:9.3f}", *cells, flush=True)


def compare(path: Path, reference: mujoco.MjModel) -> tuple[int, float, dict[str, float]]:
    """Compare a file with MuJoCo's model of it: number of joints, mass, and differences by quantity."""
    mjcf, text = read_extension(parse_urdf(path)), read_urdf(path, floating=False)[0]
    model = build_model(text, path)
    names = model.names[1:]
    links = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    bodies = [reference.body(number).name or f"body{number}" for number in range(reference.nbody)]
    total = sum(mass for name, mass in zip(bodies, reference.body_mass, strict=True) if name in links)
    mass = sum(inertia.mass for inertia in model.inertias)
    errors = {"mass": abs(mass - total) / total}
    joints = {reference.joint(j).name or f"joint{j}": j for j in range(reference.njnt)}
    if not all(name in joints for name in names):
        return len(names), mass, errors
    model.armature[:] = [mjcf.motors[name]["reflected_inertia"] for name in names]
    viscous = np.array([mjcf.friction.get(name, {}).get("viscous", 0.0) for name in names])
    ids = np.array([joints[name] for name in names])
    columns, positions = reference.jnt_dofadr[ids], reference.jnt_qposadr[ids]
    limited = reference.jnt_limited[ids].astype(bool)[:, None]
    low, high = np.where(limited, reference.jnt_range[ids], (-2.0, 2.0)).T
    reference.opt.disableflags, reference.opt.gravity = 0, _GRAVITY
    client, body, order = _load_bullet(text, names)
    urdf = ET.fromstring(text)
    # A root that is fixed has no mass in Bullet.
    children = {element.get("link") for element in urdf.findall("joint/child")}
    moved = [link for link in urdf.findall("link") if link.get("name") in children]
    expected = sum(float(link.find("inertial/mass").get("value")) for link in moved)
    read = sum(
        pybullet.getDynamicsInfo(body, link, physicsClientId=client)[0]
        for link in range(pybullet.getNumJoints(body, physicsClientId=client))
    )
    errors["Bullet mass"] = abs(read - expected) / expected
    rng, data, own = np.random.default_rng(0), mujoco.MjData(reference), model.createData()
    # A floating root is upright, as in the URDF.
    for position in reference.jnt_qposadr[reference.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)]:
        data.qpos[position + 3 : position + 7] = 1.0, 0.0, 0.0, 0.0
    for _ in range(_SAMPLES):
        q = data.qpos[positions] = rng.uniform(low, high)
        data.qvel[:] = 0.0
        mujoco.mj_forward(reference, data)
        full, gravity = np.zeros((reference.nv, reference.nv)), data.qfrc_bias[columns].copy()
        mujoco.mj_fullM(reference, data, full)
        speed = data.qvel[columns] = rng.uniform(-1.0, 1.0, len(names))
        mujoco.mj_forward(reference, data)
        matrix = pin.crba(model, own, q).reshape(model.nv, model.nv)
        values, still = q[order].tolist(), [0.0] * len(names)
        back = np.argsort(order)
        of_bullet = np.array(pybullet.calculateMassMatrix(body, values, physicsClientId=client))
        torque = pybullet.calculateInverseDynamics(body, values, still, still, physicsClientId=client)
        pairs = {
            "M": (np.triu(matrix) + np.triu(matrix, 1).T, full[np.ix_(columns, columns)]),
            "g": (pin.computeGeneralizedGravity(model, own, q), gravity),
            "passive": (-viscous * speed, data.qfrc_damper[columns]),
            # Bullet has no armature: simbench adds it to the links' inertia.
            "Bullet M": (
                of_bullet[np.ix_(back, back)] + np.diag(model.armature),
                full[np.ix_(columns, columns)],
            ),
            "Bullet g": (np.array(torque)[back], gravity),
        }
        for key, (one, other) in pairs.items():
            scale = max(float(np.abs(other).max()), 1e-12)
            errors[key] = max(errors.get(key, 0.0), float(np.abs(one - other).max()) / scale)
    pybullet.disconnect(client)
    return len(names), mass, errors


def _load_bullet(text: str, names: list[str]) -> tuple[int, int, np.ndarray]:
    """Load a URDF into Bullet, root fixed. Returns connection, body, and the joints in its order by index."""
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(*_GRAVITY, physicsClientId=client)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
    infos = [
        pybullet.getJointInfo(body, number, physicsClientId=client)
        for number in range(pybullet.getNumJoints(body, physicsClientId=client))
    ]
    moving = [info[1].decode() for info in infos if info[2] != pybullet.JOINT_FIXED]
    return client, body, np.array([list(names).index(name) for name in moving])


if __name__ == "__main__":
    main()
