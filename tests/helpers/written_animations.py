"""Files of skeletons that move, as animation programs write them."""

import json
import struct

import numpy as np
from scipy.spatial.transform import Rotation

INCH = 0.45  # Of CMU's unit of length.


def write_acclaim(folder, bones, frames, head="", angle="deg", stem="01_02", asf="01"):
    """Write bones (name, parent, direction, length, axis angles, axis order, dof) and frames of them."""
    unit = np.pi / 180 if angle == "rad" else 1.0
    text = [f":version 1.10\n:units\n  mass 1.0\n  length {INCH}\n  angle {angle}\n:root"]
    text += [
        "  order TX TY TZ RZ RX RY",
        "  axis XYZ",
        "  position 1 2 3",
        "  orientation 0 0 0",
        ":bonedata",
    ]
    for name, _, direction, length, axis, order, dof in bones:
        numbers = " ".join(map(repr, np.multiply(axis, unit).tolist()))
        text += ["begin", f"name {name}", f"direction {' '.join(map(repr, direction))}", f"length {length!r}"]
        text += [
            f"axis {numbers} {order}",
            *([f"dof {dof}"] if dof else []),
            "limits (-1 2)",
            "(-1 3)",
            "end",
        ]
    text += [":hierarchy", "begin", *(f"{parent} {name}" for name, parent, *_ in bones), "end"]
    (folder / f"{asf}.asf").write_text("\n".join(text))
    lines = ["#!OML:ASF", ":FULLY-SPECIFIED", f":{'RADIANS' if angle == 'rad' else 'DEGREES'}"]
    lines += [head] if head else []
    for number, frame in enumerate(frames, start=1):
        lines.append(str(number))
        for name, values in frame.items():
            scaled = (
                [*values[:3], *np.multiply(values[3:], unit)] if name == "root" else np.multiply(values, unit)
            )
            lines.append(f"{name} {' '.join(repr(float(value)) for value in scaled)}")
    path = folder / f"{stem}.amc"
    path.write_text("\n".join(lines))
    return path


PERSON = [
    ("lowerback", "root", [0.0, 1.0, 0.0], 2.0), ("upperback", "lowerback", [0.0, 1.0, 0.0], 2.0),
    ("thorax", "upperback", [0.0, 1.0, 0.0], 2.0), ("lowerneck", "thorax", [0.0, 1.0, 0.0], 1.6),
    ("head", "lowerneck", [0.0, 1.0, 0.0], 3.0),
    *((f"{s}{name}", parent.format(s), [sign * x, y, z], length) for s, sign in (("l", 1.0), ("r", -1.0))
      for name, parent, (x, y, z), length in (
        ("clavicle", "thorax", (1.0, 0.0, 0.0), 3.3), ("humerus", "{}clavicle", (1.0, 0.0, 0.0), 5.0),
        ("radius", "{}humerus", (1.0, 0.0, 0.0), 3.0), ("wrist", "{}radius", (1.0, 0.0, 0.0), 1.5),
        ("hand", "{}wrist", (1.0, 0.0, 0.0), 0.7), ("hipjoint", "root", (1.0, 0.0, 0.0), 1.6),
        ("femur", "{}hipjoint", (0.0, -1.0, 0.0), 7.2), ("tibia", "{}femur", (0.0, -1.0, 0.0), 7.4),
        ("foot", "{}tibia", (0.0, -0.2, 0.98), 2.2), ("toes", "{}foot", (0.0, 0.0, 1.0), 1.0))),
]  # fmt: skip


def acclaim_person(count=20):
    """Bones and frames of a person who walks ahead, by the names of CMU's database."""
    bones = [(*bone, [0.0] * 3, "XYZ", "rx ry rz") for bone in PERSON]
    frames = []
    for k in range(count):
        frames.append({"root": [0, 17, 0.1 * k, 0, 0, 0], **{bone[0]: [0.0] * 3 for bone in bones}})
        frames[-1]["lhumerus"] = [0, 0, -70.0]
        frames[-1]["lradius"] = [0, -2.0 * k, 0]
        frames[-1]["rhumerus"] = [0, 0, 70.0]
    return bones, frames


FLOAT = 5126
WIDTHS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class GltfScene:
    """A document that grows, and its one buffer."""

    def __init__(self, nodes):
        self.data = b""
        self.content = {"asset": {"version": "2.0"}, "nodes": nodes, "accessors": [], "bufferViews": []}

    def view(self, array, **more):
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes, **more}
        self.content["bufferViews"].append(view)
        self.data += array.tobytes()
        return len(self.content["bufferViews"]) - 1

    def add(self, array, kind=FLOAT, dtype="<f4", **more):
        """Add an accessor (count, width)."""
        array = np.asarray(array, dtype=dtype).reshape(len(array), -1)
        accessor = {"componentType": kind, "count": len(array), "type": WIDTHS[array.shape[1]], **more}
        if "bufferView" not in more and "sparse" not in more:
            accessor["bufferView"] = self.view(array)
        self.content["accessors"].append(accessor)
        return len(self.content["accessors"]) - 1

    def animate(self, name, *tracks):
        """Add an animation of tracks (node, path, times, values, interpolation); arrays or accessors."""
        animation = {"name": name, "channels": [], "samplers": []}
        for node, path, times, values, how in tracks:
            ends = [each if isinstance(each, int) else self.add(each) for each in (times, values)]
            animation["samplers"].append({"input": ends[0], "output": ends[1], "interpolation": how})
            target = {"node": node, "path": path}
            animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})
        self.content.setdefault("animations", []).append(animation)

    def glb(self, path, **changes):
        content = {**self.content, "buffers": [{"byteLength": len(self.data)}], **changes}
        text = json.dumps(content).encode()
        text += b" " * (-len(text) % 4)
        data = self.data + b"\0" * (-len(self.data) % 4)
        chunks = (
            struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x4E4942) + data
        )
        path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
        return path

    def gltf(self, path, uri):
        path.write_text(json.dumps({**self.content, "buffers": [{"byteLength": len(self.data), "uri": uri}]}))
        return path


def gltf_person():
    """The same person as an animated skeleton, m."""
    bones, frames = acclaim_person()
    names = ["root", *(bone[0] for bone in bones)]
    ends = {
        "root": np.zeros(3),
        **{name: np.multiply(way, 0.0254 / INCH * length) for name, _, way, length, *_ in bones},
    }
    nodes = [{"name": name, "children": []} for name in names]
    for name, parent, *_ in bones:
        nodes[names.index(parent)]["children"].append(names.index(name))
        nodes[names.index(name)]["translation"] = ends[parent].tolist()
    scene = GltfScene(nodes)
    times, tracks = np.arange(len(frames)) / 30.0, []
    tracks.append(
        (0, "translation", times, [np.multiply(f["root"][:3], 0.0254 / INCH) for f in frames], "LINEAR")
    )
    for name in ("lhumerus", "lradius", "rhumerus"):
        turns = Rotation.from_euler("xyz", [frame[name] for frame in frames], degrees=True).as_quat()
        tracks.append((names.index(name), "rotation", times, turns, "LINEAR"))
    scene.animate("walk", *tracks)
    scene.content["skins"] = [{"joints": [*range(len(nodes))]}]
    return scene
