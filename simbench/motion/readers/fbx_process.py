"""A process that evaluates an FBX file with ufbx: a file that crashes compiled code ends no other process."""

import json
import os
import resource
import sys
from array import array
from collections.abc import Sequence
from typing import Any

# Address space, bytes, and time of the processor, s, that a file may take.
MEMORY, SECONDS = 8 << 30, 600
# ufbx 0.0.5 does not count references to the elements of lists, nor those that they hold: each is taken once,
# and kept until the end.
KEPT: list[Any] = []


def main(path: str) -> None:
    """Write a line of JSON that describes a scene, read times, and write the poses of its animated nodes.

    Times, s, and poses are float64. A pose is translation, quaternion x y z w and scales in the parent's
    axes; those of the nodes at one time follow each other. `path`: FBX file.
    """
    # A line of the standard error tells why this process ended.
    sys.excepthook = lambda kind, error, trace: print(*str(error).split(), file=sys.stderr)
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        # No limit is −1.
        soft, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (value if soft < 0 else min(soft, value), hard))
    import ufbx

    # With helper nodes, all nodes inherit the scales of their parents alike. They take the node's kind.
    helpers = ufbx.InheritModeHandling.HELPER_NODES
    try:
        scene = ufbx.load_file(
            path, ignore_geometry=True, ignore_embedded=True, inherit_mode_handling=helpers
        )
    except ufbx.UfbxError as error:
        raise ValueError(f"damaged, or no FBX ({error})") from None
    KEPT.append(scene)
    nodes, stacks = take(scene.nodes), take(scene.anim_stacks)
    parents = [-1 if node.parent is None else node.parent.typed_id for node in nodes]
    # Some programs write joints as nodes without a kind.
    empty = (ufbx.ElementType.UNKNOWN, ufbx.ElementType.EMPTY)
    own = [parents[k] if node.is_scale_helper else k for k, node in enumerate(nodes)]
    joints = [own[k] for k, node in enumerate(nodes) if node.attrib_type == ufbx.ElementType.BONE]
    joints = joints or [k for k, node in enumerate(nodes) if parents[k] >= 0 and node.attrib_type in empty]
    needed = set(joints)
    for k in range(len(nodes) - 1, -1, -1):
        if k in needed:
            needed.add(parents[k])
    moved = sorted(needed - {-1})
    takes: list[tuple[Any, float, float, float]] = []
    for stack in stacks:
        layers = take(stack.layers)
        tracks = [(layer, node) for layer in layers for k, node in enumerate(nodes) if own[k] in needed]
        tracks = [pair for pair in tracks if len(ufbx.find_anim_props(*pair))]
        takes += [(stack, *find_times(stack, tracks))] if tracks else []
    if not takes:
        raise ValueError("a model without animation; no joint moves in this file")
    stack, begin, end, rate = max(takes, key=lambda each: each[2] - each[1])
    bound = {}
    for pose in take(scene.poses):
        for bone in take(pose.bone_poses) if pose.is_bind_pose else ():
            bound[own[bone.bone_node.typed_id]] = bone.bone_to_world
    for cluster in take(scene.skin_clusters):
        if cluster.bone_node is not None:
            bound[own[cluster.bone_node.typed_id]] = cluster.bind_to_world
    settings = scene.settings
    described = {
        "names": [node.name for node in nodes],
        "parents": parents,
        "joints": joints,
        "still": [sum(node.local_transform, ()) for node in nodes],
        "bound": [(node, *matrix) for node, matrix in bound.items()],
        "moved": moved,
        "takes": [each[0].name for each in takes],
        "take": stack.name,
        "begin": begin,
        "end": end,
        "rate": settings.frames_per_second,
        "keys": rate,
        "unit": settings.unit_meters,
        "axes": [settings.axes.right, settings.axes.up, settings.axes.front],
    }
    print(json.dumps(described), flush=True)
    evaluate, animation = ufbx.evaluate_transform, stack.anim
    for time in array("d", sys.stdin.buffer.read()):
        poses = array("d")
        for k in moved:
            for part in evaluate(animation, nodes[k], time):
                poses.extend(part)
        sys.stdout.buffer.write(poses)
    sys.stdout.flush()
    # What was kept cannot be released in order.
    os._exit(0)


def take(elements: Any) -> list[Any]:
    """Take the elements of a list of ufbx."""
    taken = [elements[k] for k in range(len(elements))]
    KEPT.append(taken)
    return taken[:]


def find_times(stack: Any, tracks: Sequence[tuple[Any, Any]]) -> tuple[float, float, float]:
    """Find when a take begins and ends, s, and the rate of the keys of the rotation that has the most, Hz.

    `tracks`: layers of the take, and the nodes that each moves. A take that does not say it has the times of
    its keys; the rate is 0 if no rotation has two keys.
    """
    import ufbx

    most, rate, begin, end = 1, 0.0, float("inf"), 0.0
    for layer, node in tracks:
        rotation = ufbx.find_anim_prop(layer, node, "Lcl Rotation")
        KEPT.append(rotation)
        for curve in rotation.anim_value.curves if rotation else ():
            keys = curve.keyframes if curve else []
            if len(keys) < 2 or not keys[-1].time > keys[0].time:
                continue
            begin, end = min(begin, keys[0].time), max(end, keys[-1].time)
            if len(keys) > most:
                most, rate = len(keys), (len(keys) - 1) / (keys[-1].time - keys[0].time)
    if stack.time_end > stack.time_begin or most == 1:
        begin, end = stack.time_begin, stack.time_end
    return begin, end, rate


if __name__ == "__main__":
    main(*sys.argv[1:])
