"""Reader of glTF 2.0: animated skeletons in GLB and glTF files, and with the names of VRM's humanoid bones.

A file is JSON that describes arrays in binary buffers. It is read here because the library for it, pygltflib,
mirrors the JSON, and no more: packed arrays and sampled channels would have to be written all the same.
Lengths are in metres, y is up. Source: Khronos Group, glTF 2.0 Specification; VRM Consortium, VRM 0.0, 1.0.
"""

import base64
import struct
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.files.json_document import parse_json
from simbench.files.text import decode_text, require_regular_file
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.animated_nodes import (
    MOST_NODES,
    Scene,
    choose_skeleton,
    find_sample_times,
    make_skeleton_recording,
    round_rate,
)
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, quote
from simbench.motion.recordings import SkeletonRecording
from simbench.system.limits import MOST_NUMBERS, require_at_most

# Keys farther apart than the first number, s, are an animator's: between them, the curves are sampled at the
# second, Hz.
SPARSE_KEYS, SPARSE_RATE = 0.05, 30.0
# Intervals that differ by less than this part of them are alike: times are in single precision.
ALIKE = 5e-3
# Bytes that begin a GLB file, and kinds of its chunks.
MAGIC, JSON_CHUNK, BINARY_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
# Numbers of a node's pose by the path of the channel that gives them, and what they are without one.
PATHS = {"translation": slice(0, 3), "rotation": slice(3, 7), "scale": slice(7, 10)}
UNMOVED = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
# Where the names of a person's bones are: VRM 0, VRM 1 and its animations.
HUMANOIDS = ("VRM", "VRMC_vrm", "VRMC_vrm_animation")
MESHOPT = "EXT_meshopt_compression"
Value = TypeVar("Value")
# Times (K,) of a channel's keys, s; their values (K, W), with both tangents (3 K, W); and the interpolation.
Track = tuple[Array, Array, str]


def read_gltf(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read the longest animation of a glTF, GLB or VRM file.

    It is sampled at the most frequent interval of its keys, or at `fps` of the options. `options`: what the
    user declares. Returns the joints of the largest skeleton.
    """
    try:
        return _read(_Document(path), str(path), options)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, struct.error) as error:
        raise MotionError(f"{path}: damaged: {' '.join(str(error).split())[:200]}") from None


def _get(part: dict[str, Any], key: str, kind: type[Value], default: Value | None = None) -> Value:
    """Value of a key; refuse one of another type, and negative integers."""
    value = part.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and value < 0):
        raise ValueError(f"{key} is {quote(str(value))}, no {kind.__name__}")
    return value


class _Document:
    """A document, and the buffers that it describes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = require_regular_file(path, MotionError).read_bytes()
        self.buffers: dict[int, memoryview] = {}
        self.count = 0  # Numbers that were read.
        text, at = data, 12
        if data[:4] == MAGIC:
            text = b""
            while at + 8 <= len(data):
                size, kind = struct.unpack_from("<II", data, at)
                at += 8 + size
                if kind == JSON_CHUNK and not text:
                    text = data[at - size : at]
                elif kind == BINARY_CHUNK:
                    self.buffers.setdefault(0, memoryview(data)[at - size : at])
        content = parse_json(decode_text(text, str(path), MotionError), str(path), MotionError)
        asset = _get(content, "asset", dict, {}) if isinstance(content, dict) else {}
        if not str(asset.get("version")).startswith("2"):
            raise MotionError(f"{path}: not glTF 2, whose asset has the version 2.0")
        self.content: dict[str, Any] = content

    def part(self, kind: str, index: object) -> dict[str, Any]:
        """Find what an index refers to."""
        parts = _get(self.content, kind, list, [])
        if not isinstance(index, int) or not 0 <= index < len(parts) or not isinstance(parts[index], dict):
            raise ValueError(f"{kind} {quote(str(index))} is missing")
        found: dict[str, Any] = parts[index]
        return found

    def unpack(self, packed: dict[str, Any], count: int, width: int) -> Array:
        """Read (count, width) numbers of a part of a buffer."""
        view = self.part("bufferViews", packed.get("bufferView"))
        if MESHOPT in _get(view, "extensions", dict, {}):
            raise MotionError(
                f"{self.path}: compressed ({MESHOPT}); write it without, as `gltf-transform copy` does"
            )
        number = _get(view, "buffer", int)
        if number not in self.buffers:
            uri = _get(self.part("buffers", number), "uri", str)
            head, comma, text = uri.partition(",")
            if head.startswith("data:") and comma:
                self.buffers[number] = memoryview(base64.b64decode(text))
            else:
                file = self.path.parent / unquote(uri)
                # Only what is beside the file or below belongs to it.
                if ":" in uri or not file.resolve().is_relative_to(self.path.parent.resolve()):
                    raise ValueError(f"buffer {quote(uri)} is not beside it")
                if not require_regular_file(file, MotionError).exists():
                    raise MotionError(
                        f"{self.path}: {quote(uri)} is missing, which holds its numbers; put it there"
                    )
                self.buffers[number] = memoryview(file.read_bytes())
        start = _get(view, "byteOffset", int, 0)
        data = self.buffers[number][start : start + _get(view, "byteLength", int)]
        kind = np.dtype(TYPES.get(packed.get("componentType", 0), "V0"))
        stride = _get(view, "byteStride", int, 0) or width * kind.itemsize
        offset = _get(packed, "byteOffset", int, 0)
        if not kind.itemsize or offset + stride * (count - 1) + width * kind.itemsize > len(data):
            raise ValueError(f"bufferView {packed.get('bufferView')} is shorter than what it must hold")
        # Damaged numbers may be signalling NaNs.
        with np.errstate(invalid="ignore"):
            there = np.ndarray((count, width), kind, data, offset, (stride, kind.itemsize))
            values = there.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"bufferView {packed.get('bufferView')} has numbers that are not finite")
        return values

    def array(self, index: object) -> Array:
        """Read an accessor (count, width)."""
        accessor = self.part("accessors", index)
        count, width = _get(accessor, "count", int), WIDTHS.get(_get(accessor, "type", str), 0)
        self.count += count * width
        require_at_most(self.count, MOST_NUMBERS, f"{self.path}: numbers", MotionError)
        values = np.zeros((count, width))
        if "bufferView" in accessor:
            values = self.unpack(accessor, count, width)
        if "sparse" in accessor:
            sparse = _get(accessor, "sparse", dict)
            places = self.unpack(_get(sparse, "indices", dict), few := _get(sparse, "count", int), 1)
            changed = {**_get(sparse, "values", dict), "componentType": accessor.get("componentType")}
            if places.size and places.max() >= count:
                raise ValueError(f"accessor {index} has sparse values beyond its end")
            values[places[:, 0].astype(np.int64)] = self.unpack(changed, few, width)
        kind = np.dtype(TYPES.get(accessor.get("componentType", 0), "<f4"))
        if accessor.get("normalized") and kind.kind in "iu":
            values = np.maximum(values / np.iinfo(kind).max, -1.0)
        return values

    def tracks(self, animation: dict[str, Any]) -> dict[tuple[int, str], Track]:
        """Read the channels of an animation, by the node and the path that each moves."""
        found = {}
        for channel in _get(animation, "channels", list, []):
            target = _get(channel, "target", dict)
            path = target.get("path")
            if "node" not in target or path not in PATHS:
                continue
            sampler = _get(animation, "samplers", list)[_get(channel, "sampler", int)]
            times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
            how = _get(sampler, "interpolation", str, "LINEAR")
            shape = (len(times) * (3 if how == "CUBICSPLINE" else 1), PATHS[path].stop - PATHS[path].start)
            if values.shape != shape or not times.size or not (np.diff(times) > 0.0).all():
                raise ValueError(f"the {path} of node {target['node']} has no values for increasing times")
            found[_get(target, "node", int), path] = (times, values, how)
        return found


def _read(document: _Document, source: str, options: ReadOptions) -> SkeletonRecording:
    """Read the longest animation of a document."""
    scene, places = _read_scene(document)
    animations: list[dict[str, Any]] = _get(document.content, "animations", list, [])
    chosen = {*choose_skeleton(scene, source)[0]} if scene.is_joint.any() else {*places.values()}
    best: dict[tuple[int, str], Track] = {}
    longest, name = 0.0, ""
    for animation in animations:
        tracks = document.tracks(animation)
        ends = [times[[0, -1]] for (node, _), (times, _, _) in tracks.items() if places.get(node) in chosen]
        length = float(np.max(ends) - np.min(ends)) if ends else 0.0
        if length > longest:
            best, longest, name = tracks, length, _get(animation, "name", str, "")
    if not best:
        raise MotionError(f"{source}: a model without animation; no joint moves in this file")
    notes = []
    if len(animations) > 1:
        notes.append(f"{len(animations)} animations: {quote(name)} is read, the longest")
    best = {key: track for key, track in best.items() if key[0] in places}
    if not scene.is_joint.any():
        scene.is_joint[[places[node] for node, _ in best]] = True
    # The most frequent interval, as the mean of those alike.
    gaps = np.concatenate([np.diff(times) for times, _, _ in best.values()])
    if not gaps.size or not gaps.min() > 1.0 / LARGEST_NUMBER:
        raise ValueError("the keys of a channel are at the same time")
    logs = np.round(np.log(gaps) / ALIKE)
    kinds, counts = np.unique(logs, return_counts=True)
    step = float(np.mean(gaps[np.abs(logs - kinds[counts.argmax()]) <= 1.0]))
    rate = options.fps or (SPARSE_RATE if step > SPARSE_KEYS else round_rate(1.0 / step))
    if step > SPARSE_KEYS and options.fps is None:
        notes.append(f"keys are {step:.3g} s apart: sampled at {rate:g} Hz (--fps)")
    first, last = (float(f([f(times) for times, _, _ in best.values()])) for f in (np.min, np.max))
    time = find_sample_times(first, last, rate, source, len(scene.names))
    moved: dict[int, Array] = {}
    for (node, path), track in best.items():
        place = places[node]
        moved.setdefault(place, np.tile(scene.still[place], (len(time), 1)))[:, PATHS[path]] = _sample(
            track, path == "rotation", time
        )
    unit, up = options.unit or "m", options.up or "y"
    return make_skeleton_recording(scene, moved, time, source, unit, up, tuple(notes))


def _sample(track: Track, turns: bool, time: Array) -> Array:
    """Sample a channel (T, W). `turns`: whether its values are quaternions."""
    times, values, how = track
    time = np.clip(time, times[0], times[-1])
    if how == "CUBICSPLINE":
        into, values, out = values.reshape(len(times), 3, -1).swapaxes(0, 1)
    if len(times) == 1:
        return np.tile(values, (len(time), 1))
    k = np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2)
    step = np.diff(times)[k]
    u = ((time - times[k]) / step)[:, None]
    if how == "CUBICSPLINE":
        # The cubic Hermite spline; tangents are per second.
        start = (1.0 - u) ** 2 * ((1.0 + 2.0 * u) * values[k] + u * step[:, None] * out[k])
        end = u**2 * ((3.0 - 2.0 * u) * values[k + 1] + (u - 1.0) * step[:, None] * into[k + 1])
        return np.asarray(start + end)
    if how == "STEP":
        return np.asarray(values[k + (u[:, 0] >= 1.0)])
    if turns:
        return np.asarray(Slerp(times, Rotation.from_quat(values))(time).as_quat())
    return np.asarray((1.0 - u) * values[k] + u * values[k + 1])


def _read_scene(document: _Document) -> tuple[Scene, dict[int, int]]:
    """Read the nodes of a document, and the place of each among those of the scene."""
    nodes = _get(document.content, "nodes", list, [])
    require_at_most(len(nodes), MOST_NODES, f"{document.path}: nodes", MotionError)
    children: list[dict[int, None]] = []
    above: dict[int, int] = {}
    for k in range(len(nodes)):
        children.append(dict.fromkeys(_get(document.part("nodes", k), "children", list, [])))
        for child in children[k]:
            document.part("nodes", child)
            if above.setdefault(child, k) != k:
                raise ValueError(f"node {child} has two parents")
    order = [k for k in range(len(nodes)) if k not in above]
    for k in order:
        order += children[k]
    if len(order) != len(nodes):
        raise ValueError("its nodes form a loop")
    places = {node: at for at, node in enumerate(order)}
    names = [_get(nodes[k], "name", str, f"node {k}") for k in order]
    is_joint, bound = np.zeros(len(order), dtype=bool), np.full((len(order), 4, 4), np.nan)
    still = np.tile(UNMOVED, (len(order), 1))
    for at, k in enumerate(order):
        for path, part in PATHS.items():
            still[at, part] = _get(nodes[k], path, list, [*UNMOVED[part]])
        if "matrix" in nodes[k]:
            matrix = np.reshape(np.array(nodes[k]["matrix"], dtype=np.float64), (4, 4)).T
            scales = np.linalg.norm(matrix[:3, :3], axis=0) * np.sign(np.linalg.det(matrix[:3, :3]) or 1.0)
            turn = Rotation.from_matrix(matrix[:3, :3] / np.where(scales, scales, 1.0)).as_quat()
            still[at] = (*matrix[:3, 3], *turn, *scales)
    skins = _get(document.content, "skins", list, [])
    # The first that has a joint says how it was bound: of several, the one with the most joints.
    for k in sorted(range(len(skins)), key=lambda k: -len(document.part("skins", k).get("joints", ""))):
        joints = [places[joint] for joint in _get(skins[k], "joints", list) if document.part("nodes", joint)]
        new = [at for at, joint in enumerate(joints) if not is_joint[joint]]
        if "inverseBindMatrices" in skins[k]:
            matrices = document.array(skins[k]["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
            bound[np.array(joints)[new]] = np.linalg.inv(matrices[new])
        is_joint[joints] = True
    extensions = _get(document.content, "extensions", dict, {})
    for key in HUMANOIDS:
        bones = _get(_get(extensions, key, dict, {}), "humanoid", dict, {}).get("humanBones", {})
        # VRM 0 lists the bones, VRM 1 names them.
        each = bones.items() if isinstance(bones, dict) else [(bone["bone"], bone) for bone in bones]
        for name, bone in each:
            place = places[_get(bone, "node", int)]
            names[place], is_joint[place] = str(name), True
    parents = np.array([places.get(above.get(k, -1), -1) for k in order])
    return Scene(names, parents, is_joint, still, bound), places
