"""The compiled model of an MJCF file: which of its bodies are the robot, and what drives its joints."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from simbench.errors import RobotError
from simbench.robot.native_output import quiet_native_output

# As integers: MuJoCo's enumerations do not equal NumPy's integers in every order.
_OF_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_NONE, _AFFINE = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
_SCENE_GEOMS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))


@dataclass(frozen=True)
class RobotPart:
    """The bodies of a model that are the robot."""

    bodies: tuple[int, ...]  # Parents before children.
    floating: bool  # Whether the first of them has a free joint.
    world_link: bool  # Whether the world is the root link: it carries joints, several trees, or a tilted one.


class Names:
    """Names of bodies and joints as links and joints of a URDF: those without a name get one, all differ."""

    def __init__(self, model: Any) -> None:
        self._model = model
        bodies = (model.body(number).name for number in range(1, model.nbody))
        self._taken = {*bodies, *(model.joint(number).name for number in range(model.njnt))}

    def unique(self, name: str) -> str:
        """Return a name that nothing has yet, and take it."""
        number, free = 1, name
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._taken.add(free)
        return free

    def body(self, number: int) -> str:
        """Name of the link of a body."""
        return self._model.body(number).name or f"body{number}"

    def joint(self, number: int) -> str:
        """Name of a joint."""
        return self._model.joint(number).name or f"joint{number}"


def compile_mjcf(path: Path) -> tuple[Any, Any, list[str]]:
    """Have MuJoCo read and compile an MJCF file, without textures.

    Geoms whose mesh file is missing are left out. Returns model; description (MjSpec); what was left out, a
    line each. Raises RobotError if MuJoCo refuses the file.
    """
    notes: list[str] = []
    try:
        with quiet_native_output(), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(str(path))
            # All bodies keep their names, and visual shapes stay.
            spec.compiler.fusestatic, spec.compiler.discardvisual = False, False
            for material in spec.materials:
                material.textures = [""] * len(material.textures)
            for unseen in (*spec.textures, *spec.skins):
                spec.delete(unseen)
            missing = [mesh for mesh in spec.meshes if mesh.file and mesh_file(spec, mesh.file) is None]
            if missing:
                notes.append(f"meshes {listed([mesh.file for mesh in missing])}: not found; left out")
            names = {mesh.name for mesh in missing}
            for gone in (*(geom for geom in spec.geoms if geom.meshname in names), *missing):
                spec.delete(gone)
            model = spec.compile()
    except (ValueError, TypeError, mujoco.FatalError) as error:
        said = "; ".join([" ".join(str(error).split()).removeprefix("Error: ")[:300], *notes])
        raise RobotError(f"{path}: not an MJCF that MuJoCo can read: {said}") from error
    notes += [f"MuJoCo: {' '.join(str(each.message).split())[:300]}" for each in warned]
    return model, spec, notes


def mesh_file(spec: Any, name: str) -> Path | None:
    """Find the file of a mesh; None if there is none."""
    folder = Path(spec.modelfiledir)
    name = Path(name).name if spec.strippath else name
    candidates = (folder / spec.meshdir / name, folder / name)
    return next((path.resolve() for path in candidates if path.is_file()), None)


def find_robot_part(model: Any, path: Path) -> RobotPart:
    """Choose the bodies that are the robot: the tree below the world with the most joints.

    Trees that are fixed to the world and have as many joints are one robot, such as two arms on a table.
    """
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)
    trees = np.array(model.body_rootid)
    moving = {
        int(top): int(np.sum((trees[model.jnt_bodyid] == top) & ~free))
        for top in np.flatnonzero(model.body_parentid == 0)
        if top > 0
    }
    most = max(moving.values(), default=0)
    if most == 0:
        raise RobotError(f"{path}: no joint moves; a robot needs at least one")
    tops = [top for top, count in moving.items() if count == most]
    floats = {top: bool(np.any(free & (model.jnt_bodyid == top))) for top in tops}
    tops = tops[:1] if floats[tops[0]] else [top for top in tops if not floats[top]]
    bodies = tuple(int(body) for body in np.flatnonzero(np.isin(trees, tops)) if body > 0)
    tilted = abs(float(model.body_quat[tops[0], 0])) < 1.0 - 1e-12
    world = not floats[tops[0]] and (len(tops) > 1 or tilted or bool(model.body_jntnum[tops[0]]))
    return RobotPart(bodies, floats[tops[0]], world)


def list_left_out(model: Any, names: Names, part: RobotPart) -> Iterator[str]:
    """Say what of an MJCF a URDF and the engines here do not have, one line each."""
    others = [body for body in range(1, model.nbody) if body not in part.bodies]
    tops = [names.body(body) for body in others if model.body_parentid[body] == 0]
    if tops:
        yield f"bodies {listed(tops)}: not of the robot, which is the tree with the most joints; left out"
    if scene := int(np.sum(model.geom_bodyid == 0)):
        yield f"{scene} geoms of the world: not of the robot; left out"
    flat = [geom for geom in range(model.ngeom) if model.geom_type[geom] in _SCENE_GEOMS]
    if any(model.geom_bodyid[geom] in part.bodies for geom in flat):
        yield "planes and height fields on bodies: left out"
    own = [joint for joint in range(model.njnt) if model.jnt_bodyid[joint] in part.bodies]
    springs = [names.joint(joint) for joint in own if model.jnt_stiffness[joint]]
    if springs:
        yield f"joints {listed(springs)}: springs (stiffness) are left out"
    # Coefficients beyond the linear ones, which MuJoCo has since version 4.
    curves = np.zeros((model.njnt, 1)), np.zeros((model.nv, 1))
    stiffness, damping = (
        getattr(model, key, zeros)
        for key, zeros in zip(("jnt_stiffnesspoly", "dof_dampingpoly"), curves, strict=True)
    )
    bent = [names.joint(j) for j in own if stiffness[j].any() or damping[model.jnt_dofadr[j]].any()]
    if bent:
        yield f"joints {listed(bent)}: polynomial stiffness and damping are left out"
    lifted = [names.body(body) for body in part.bodies if model.body_gravcomp[body]]
    if lifted:
        yield f"bodies {listed(lifted)}: gravity compensation (gravcomp) is left out"
    kinds = {int(kind): kind.name.removeprefix("mjEQ_").lower() for kind in mujoco.mjtEq.__members__.values()}
    eq_joint = int(mujoco.mjtEq.mjEQ_JOINT)
    rest = [kinds[int(kind)] for kind in model.eq_type if int(kind) != eq_joint]
    other = [
        names.joint(int(model.eq_obj1id[number]))
        for number in range(model.neq)
        if model.eq_type[number] == eq_joint
        and (model.eq_data[number, 2:5].any() or model.eq_obj2id[number] < 0 or not model.eq_active0[number])
    ]
    if rest:
        yield f"{len(rest)} equality constraints ({', '.join(sorted(set(rest)))}): loops stay open; left out"
    if other:
        yield f"joints {listed(other)}: equality of another form than a + b q; left out"
    if model.ntendon:
        yield f"{model.ntendon} tendons and their actuators: left out"
    counted = {"sites": model.nsite, "sensors": model.nsensor, "cameras": model.ncam, "lights": model.nlight}
    present = [f"{count} {kind}" for kind, count in counted.items() if count]
    if present:
        yield f"{', '.join(present)}: left out"
    solids = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in part.bodies]
    usual = (("friction", (1.0, 0.005, 0.0001)), ("solref", (0.02, 1.0)), ("condim", 3), ("margin", 0.0))
    special = [key for key, value in usual if np.any(getattr(model, f"geom_{key}")[solids] != value)]
    if special:
        yield f"contact parameters ({', '.join(special)}): those of the scenario and the engine hold instead"


def listed(names: list[str]) -> str:
    """Write the first three names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"`{name}`" for name in names[:3]) + more


def joint_armature(model: Any, joint: int) -> float:
    """Sum the inertias of a joint's drives as the joint feels them, its own and its actuators', kg·m²."""
    # Actuators have inertia since MuJoCo 4.
    inertias = getattr(model, "actuator_armature", np.zeros(model.nu))
    own = float(model.dof_armature[model.jnt_dofadr[joint]])
    return own + sum(float(inertias[number]) * gear**2 for number, gear in _actuators(model, joint))


def _actuators(model: Any, joint: int) -> Iterator[tuple[int, float]]:
    """Yield the actuators that drive a joint, and their gears."""
    for number in range(model.nu):
        if model.actuator_trntype[number] in _OF_JOINTS and model.actuator_trnid[number, 0] == joint:
            yield number, float(model.actuator_gear[number, 0])


def torque_limit(model: Any, joint: int) -> tuple[float | None, float]:
    """Find the largest torque of a joint's actuators, N·m, or force, N.

    The joint is limited by `actuatorfrcrange`, each actuator by `forcerange` times gear. Only where there is
    neither, `ctrlrange` times gain times gear of a motor counts: many models have controls from -1 to 1
    beside limits in N·m. Of a range that is not symmetric the larger side counts. Returns the limit, None if
    there is none, and that by `ctrlrange`, infinite if there is none.
    """
    by_force, by_control, driven = 0.0, 0.0, False
    for number, gear in _actuators(model, joint):
        driven, force, control = True, np.inf, np.inf
        if model.actuator_forcelimited[number]:
            force = float(np.abs(model.actuator_forcerange[number]).max())
        is_motor = model.actuator_gaintype[number] == _FIXED and model.actuator_biastype[number] == _NONE
        if is_motor and model.actuator_ctrllimited[number]:
            gain = abs(float(model.actuator_gainprm[number, 0]))
            control = gain * float(np.abs(model.actuator_ctrlrange[number]).max())
        by_force += force * abs(gear)
        by_control += control * abs(gear)
    if not driven:
        by_force = by_control = np.inf
    if model.jnt_actfrclimited[joint]:
        by_force = min(by_force, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    limit = by_force if by_force < np.inf else by_control
    return (limit if 0.0 < limit < np.inf else None), by_control


def joint_gains(model: Any, joint: int) -> tuple[float, float] | None:
    """Read stiffness (N·m/rad) and damping (N·m·s/rad) of a joint's only actuator, at the joint.

    None if it has none or several, or one that is not a position servo.
    """
    found = list(_actuators(model, joint))
    if len(found) != 1:
        return None
    number, gear = found[0]
    stiffness = float(model.actuator_gainprm[number, 0])
    _, position, speed = map(float, model.actuator_biasprm[number, :3])
    is_servo = model.actuator_gaintype[number] == _FIXED and model.actuator_biastype[number] == _AFFINE
    if not is_servo or stiffness <= 0.0 or position != -stiffness or speed > 0.0:
        return None
    return stiffness * gear**2, -speed * gear**2
