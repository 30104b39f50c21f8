"""Draw frames of a scene with another library; `scripts/benchmarks --only drawing` runs this for each.

python scripts/benchmarks/drawing_peers.py pyrender|vtk|mujoco FOLDER

Does not import simbench. FOLDER holds scene.npz (points, triangles, colours and number of triangles of each
body; poses in every frame; pose and opening of the camera, direction of light, size of the picture), and
receives LIBRARY.json: CPU time of a frame with shadows, smoothed edges and the picture as an array, but
without encoding, s; and LIBRARY.png, the last frame.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

UNMEASURED = 2
"""Frames that are drawn before the measurement."""
FLOOR = 6.0
"""Half of the floor's side, m."""
# Draws one frame and returns the picture, (height, width, 3).
Draw = Callable[[int], np.ndarray]


def bodies(scene: Any) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Points, triangles and colours of each body."""
    parts = []
    point = triangle = 0
    for points, triangles in zip(scene["point_count"], scene["triangle_count"], strict=True):
        rows, faces = slice(point, point + points), slice(triangle, triangle + triangles)
        parts.append((scene["points"][rows], scene["triangles"][faces], scene["colours"][rows]))
        point, triangle = point + points, triangle + triangles
    return parts


def with_pyrender(scene: Any) -> Draw:
    """Use pyrender as its documentation does: off-screen over EGL, a directional light with shadows."""
    os.environ["PYOPENGL_PLATFORM"] = "egl"
    import pyrender
    import trimesh

    world = pyrender.Scene(ambient_light=(0.4, 0.4, 0.4), bg_color=(0.9, 0.9, 0.9))
    nodes = []
    for points, triangles, colours in bodies(scene):
        mesh = trimesh.Trimesh(points, triangles, vertex_colors=colours, process=False)
        nodes.append(world.add(pyrender.Mesh.from_trimesh(mesh)))
    floor = trimesh.creation.box((2 * FLOOR, 2 * FLOOR, 0.01))
    floor.apply_translation((0, 0, -0.005))
    world.add(pyrender.Mesh.from_trimesh(floor))
    width, height = (int(side) for side in scene["size"])
    camera = pyrender.PerspectiveCamera(float(scene["opening"]), aspectRatio=width / height)
    world.add(camera, pose=scene["camera"])
    world.add(pyrender.DirectionalLight(intensity=4.0), pose=facing(-scene["light"], 5.0 * scene["light"]))
    renderer = pyrender.OffscreenRenderer(width, height)
    flags = pyrender.RenderFlags.SHADOWS_DIRECTIONAL

    def draw(frame: int) -> np.ndarray:
        for node, pose in zip(nodes, scene["poses"][frame], strict=True):
            world.set_pose(node, homogeneous(pose))
        return renderer.render(world, flags)[0]

    return draw


def with_vtk(scene: Any) -> Draw:
    """Use VTK as its examples do: off-screen, a shadow map pass, and four samples a pixel."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy

    renderer = vtk.vtkRenderer()
    renderer.SetBackground(0.9, 0.9, 0.9)
    actors, kept = [], []
    half = np.array([[x * FLOOR, y * FLOOR, 0.0] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    floor = (half, np.array([[0, 1, 2], [0, 2, 3]]), np.full((4, 3), 200, np.uint8))
    for points, triangles, colours in (*bodies(scene), floor):
        data, corners, cells = vtk.vtkPolyData(), vtk.vtkPoints(), vtk.vtkCellArray()
        corners.SetData(numpy_to_vtk(np.ascontiguousarray(points)))
        rows = np.hstack([np.full((len(triangles), 1), 3), triangles]).astype(np.int64)
        cells.SetCells(len(triangles), numpy_to_vtkIdTypeArray(rows.ravel()))
        shades = numpy_to_vtk(np.ascontiguousarray(colours), array_type=vtk.VTK_UNSIGNED_CHAR)
        kept.append((points, rows, colours))
        data.SetPoints(corners)
        data.SetPolys(cells)
        data.GetPointData().SetScalars(shades)
        mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
        mapper.SetInputData(data)
        actor.SetMapper(mapper)
        renderer.AddActor(actor)
        actors.append(actor)
    light = vtk.vtkLight()
    light.SetPosition(*(5.0 * scene["light"]))
    light.SetFocalPoint(0.0, 0.0, 0.5)
    # VTK casts shadows of lights with a position only.
    light.PositionalOn()
    light.SetConeAngle(60.0)
    renderer.AddLight(light)
    shadows, sequence, steps = vtk.vtkShadowMapPass(), vtk.vtkSequencePass(), vtk.vtkRenderPassCollection()
    steps.AddItem(shadows.GetShadowMapBakerPass())
    steps.AddItem(shadows)
    sequence.SetPasses(steps)
    camera_pass = vtk.vtkCameraPass()
    camera_pass.SetDelegatePass(sequence)
    renderer.SetPass(camera_pass)
    width, height = (int(side) for side in scene["size"])
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(4)
    window.SetSize(width, height)
    window.AddRenderer(renderer)
    camera, pose = renderer.GetActiveCamera(), scene["camera"]
    camera.SetPosition(*pose[:3, 3])
    camera.SetFocalPoint(*(pose[:3, 3] - pose[:3, 2]))
    camera.SetViewUp(*pose[:3, 1])
    camera.SetViewAngle(float(np.degrees(scene["opening"])))
    picture = vtk.vtkUnsignedCharArray()

    def draw(frame: int) -> np.ndarray:
        for actor, pose in zip(actors, scene["poses"][frame], strict=False):
            matrix = vtk.vtkMatrix4x4()
            matrix.DeepCopy(homogeneous(pose).ravel())
            actor.SetUserMatrix(matrix)
        renderer.ResetCameraClippingRange()
        window.Render()
        window.GetPixelData(0, 0, width - 1, height - 1, 1, picture, 0)
        return vtk_to_numpy(picture).reshape(height, width, 3)[::-1]

    return draw


def with_mujoco(scene: Any) -> Draw:
    """Use MuJoCo's renderer as its documentation does: off-screen over EGL, a light that casts shadows."""
    os.environ["MUJOCO_GL"] = "egl"
    import mujoco

    spec = mujoco.MjSpec()
    width, height = (int(side) for side in scene["size"])
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.quality.offsamples = 4
    spec.visual.quality.shadowsize = 2048
    for number, (points, triangles, colours) in enumerate(bodies(scene)):
        spec.add_mesh(
            name=f"m{number}",
            uservert=np.ravel(points).astype(float),
            userface=np.ravel(triangles),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
        body = spec.worldbody.add_body(name=f"b{number}", mocap=True)
        colour = [*(np.asarray(colours).mean(axis=0) / 255.0), 1.0]
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"m{number}", rgba=colour)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[FLOOR, FLOOR, 0.1])
    light = scene["light"]
    directional = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.worldbody.add_light(pos=5.0 * light, dir=-light, type=directional, castshadow=True)
    pose = scene["camera"]
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(pose[:3, :3]).ravel())
    opening = float(np.degrees(scene["opening"]))
    spec.worldbody.add_camera(name="view", pos=pose[:3, 3], quat=quaternion, fovy=opening)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, height, width)
    # MuJoCo moves the frame of a mesh to its centre: the pose of the geometry in the body makes up for it.
    order = [model.body(f"b{number}").mocapid[0] for number in range(len(scene["point_count"]))]

    def draw(frame: int) -> np.ndarray:
        for index, pose in zip(order, scene["poses"][frame], strict=True):
            data.mocap_pos[index] = pose[:, 3]
            mujoco.mju_mat2Quat(data.mocap_quat[index], pose[:, :3].astype(float).ravel())
        mujoco.mj_kinematics(model, data)
        renderer.update_scene(data, "view")
        return renderer.render()

    return draw


def homogeneous(pose: np.ndarray) -> np.ndarray:
    """Complete the first three rows of a transformation."""
    return np.vstack([pose, [0.0, 0.0, 0.0, 1.0]])


def facing(direction: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Pose whose negative z axis points along a direction."""
    z = -direction / np.linalg.norm(direction)
    x = np.cross([0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3] = np.column_stack([x, np.cross(z, x), z, position])
    return pose


LIBRARIES = {"pyrender": with_pyrender, "vtk": with_vtk, "mujoco": with_mujoco}


def main() -> None:
    """Draw all frames, and write time and picture."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    with np.load(folder / "scene.npz") as stored:
        scene = dict(stored)
    draw = LIBRARIES[name](scene)
    for frame in range(UNMEASURED):
        draw(frame)
    begin = time.process_time()
    for frame in range(UNMEASURED, len(scene["poses"])):
        picture = draw(frame)
    seconds = (time.process_time() - begin) / (len(scene["poses"]) - UNMEASURED)
    (folder / f"{name}.json").write_text(json.dumps({"seconds": seconds}))
    from PIL import Image

    Image.fromarray(np.ascontiguousarray(picture)).save(folder / f"{name}.png")


if __name__ == "__main__":
    main()
