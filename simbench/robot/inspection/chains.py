"""The serial chains of a tree of joints: the limbs of a robot that nobody has named."""

from collections.abc import Sequence

from simbench.robot.urdf.elements import UrdfJoint


def serial_chains(joints: Sequence[UrdfJoint]) -> dict[str, tuple[str, ...]]:
    """Cut a tree of joints into chains without branches.

    Parameters
    ----------
    joints : sequence of UrdfJoint
        A tree, or what a broken file has in its place.

    Returns
    -------
    dict of str to tuple of str
        `chain 1`, `chain 2`, ... to the names of the joints that move, from the root outward; a link with
        several joints that move, or that lead to some, begins a chain for each.
    """
    outward = _from_the_root(joints)
    leading: set[str] = set()
    for joint in reversed(outward):
        if joint.kind != "fixed" or joint.child in leading:
            leading.add(joint.parent)
    onward = [joint for joint in outward if joint.kind != "fixed" or joint.child in leading]
    chains: list[list[str]] = []
    chain_to: dict[str, list[str]] = {}
    for joint in onward:
        siblings = sum(other.parent == joint.parent for other in onward)
        if siblings > 1 or joint.parent not in chain_to:
            chains.append([])
            chain_to[joint.child] = chains[-1]
        else:
            chain_to[joint.child] = chain_to[joint.parent]
        if joint.kind != "fixed":
            chain_to[joint.child].append(joint.name)
    filled = [tuple(chain) for chain in chains if chain]
    return {f"chain {number}": chain for number, chain in enumerate(filled, start=1)}


def _from_the_root(joints: Sequence[UrdfJoint]) -> list[UrdfJoint]:
    """Joints that hang on a root, each once, parents before children."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in joints}
    links = [parent for parent in below if parent not in children]
    seen, outward = set(links), []
    for link in links:
        for joint in below.get(link, ()):
            if joint.child not in seen:
                seen.add(joint.child)
                links.append(joint.child)
                outward.append(joint)
    return outward
