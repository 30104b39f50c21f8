"""Distances of convex shapes, computed only for pairs whose bounding spheres come near each other."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled


def _fix_box_support() -> None:
    """Compute one distance of a box, so that every box of this process has its own size.

    Coal makes three sides of all boxes larger by 1e-10, or of none, by whether the first direction in which a
    process looks for the support point of a box has a zero in it: what a run plans would depend on what ran
    before it.
    """
    tilted = pin.coal.Transform3s(pin.rpy.rpyToMatrix(0.3, 0.4, 0.5), np.array([3.0, 0.0, 0.0]))
    ball, box = pin.coal.Ellipsoid(1.0, 1.0, 1.0), pin.coal.Box(1.0, 1.0, 1.0)
    still, result = pin.coal.Transform3s(), pin.coal.DistanceResult()
    pin.coal.distance(ball, still, box, tilted, pin.coal.DistanceRequest(), result)


_fix_box_support()

_TOLERANCES = (1e-10, 1e-8, 1e-6)
"""Relative accuracy of distances. With Coal's 1e-6 the normals of shapes that touch are good to a percent,
and the error changes with the last digit of a posture: plans around the body would differ by a radian. Where
its search for the depth of a penetration gives up at the first, as beside round shapes, the next is taken."""
_DEEPEST = -1e3
"""Distance, m, below which that search has given up."""


@dataclass(frozen=True)
class PairWorkspace:
    """Preallocated data for the distances of one geometry model; every call writes into it.

    Parameters
    ----------
    model : pinocchio.Model
        Kinematic tree that carries the shapes.
    data : pinocchio.Data
        Its working data.
    geometry : pinocchio.GeometryModel
        G shapes and K pairs.
    placed : pinocchio.GeometryData
        Its working data: poses of the shapes and results of the pairs.
    rotations : list of G arrays (3, 3)
        Rotations of the shapes in the world frame: views of `placed`, as an access from Python costs more
        than most distances.
    translations : list of G arrays (3,)
        Positions of the shapes in the world frame, m, likewise.
    results : list of K coal.DistanceResult
        Result of each pair, likewise.
    centers : (G, 3) array
        Centre of each shape's bounding sphere in the shape's own frame, m.
    radii : (G,) array
        Radius of each bounding sphere, m.
    first : (K,) int array
        First shape of each pair.
    second : (K,) int array
        Second shape of each pair.
    apart : (K, nv) array
        1 where a coordinate moves only the second shape, -1 where only the first, 0 where both or none.
    """

    model: pin.Model
    data: pin.Data
    geometry: pin.GeometryModel
    placed: pin.GeometryData
    rotations: list[Array]
    translations: list[Array]
    results: list[pin.coal.DistanceResult]
    centers: Array
    radii: Array
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    apart: Array


def pair_workspace(model: pin.Model, geometry: pin.GeometryModel) -> PairWorkspace:
    """Prepare the distances of a geometry model's pairs.

    Parameters
    ----------
    model : pinocchio.Model
        Kinematic tree that carries the shapes.
    geometry : pinocchio.GeometryModel
        Convex shapes and the pairs to look at.

    Returns
    -------
    PairWorkspace
        Preallocated data for all functions of this module.
    """
    placed = geometry.createData()
    for request in placed.distanceRequests:
        request.gjk_tolerance = request.epa_tolerance = _TOLERANCES[0]
    shapes = [shape.geometry for shape in geometry.geometryObjects]
    for shape in shapes:
        shape.computeLocalAABB()
    moves = np.zeros((len(shapes), model.nv))
    for index, shape in enumerate(geometry.geometryObjects):
        for joint in model.supports[shape.parentJoint]:
            start = model.idx_vs[joint]
            moves[index, start : start + model.nvs[joint]] = joint > 0
    first = np.array([pair.first for pair in geometry.collisionPairs], dtype=np.int64)
    second = np.array([pair.second for pair in geometry.collisionPairs], dtype=np.int64)
    return PairWorkspace(
        model=model,
        data=model.createData(),
        geometry=geometry,
        placed=placed,
        rotations=[placed.oMg[index].rotation for index in range(len(shapes))],
        translations=[placed.oMg[index].translation for index in range(len(shapes))],
        results=[placed.distanceResults[index] for index in range(len(geometry.collisionPairs))],
        centers=np.array([shape.aabb_center for shape in shapes]).reshape(-1, 3),
        radii=np.array([shape.aabb_radius for shape in shapes]),
        first=first,
        second=second,
        apart=moves[second] - moves[first],
    )


def place_shapes(workspace: PairWorkspace, q: Array) -> tuple[Array, Array]:
    """Put the shapes where a configuration has them.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes, whose poses are written.
    q : (nq,) array
        Configuration of the model.

    Returns
    -------
    middles : (G, 3) array
        Centres of the bounding spheres in the world frame, m.
    rotations : (G, 3, 3) array
        Rotations of the shapes in the world frame.
    """
    pin.updateGeometryPlacements(workspace.model, workspace.data, workspace.geometry, workspace.placed, q)
    rotations = np.array(workspace.rotations).reshape(-1, 3, 3)
    offsets = (rotations @ workspace.centers[:, :, None])[:, :, 0]
    return np.array(workspace.translations).reshape(-1, 3) + offsets, rotations


def sphere_gaps(workspace: PairWorkspace, middles: Array) -> Array:
    """Compute the distances of the bounding spheres of each pair: no shapes are nearer.

    Parameters
    ----------
    workspace : PairWorkspace
        Gives the radii and the pairs.
    middles : (..., G, 3) array
        Centres of the bounding spheres in the world frame, from `place_shapes`, m.

    Returns
    -------
    (..., K) array
        Distance of each pair, m; negative where spheres overlap.
    """
    first, second = workspace.first, workspace.second
    apart = middles[..., second, :] - middles[..., first, :]
    return np.asarray(
        np.sqrt(np.einsum("...i,...i", apart, apart)) - workspace.radii[first] - workspace.radii[second]
    )


def possible_pairs(workspace: PairWorkspace, q: Array, margin: float) -> list[int]:
    """Put the shapes where a configuration has them, and find the pairs that may be nearer than a margin.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes, whose poses are written.
    q : (nq,) array
        Configuration of the model.
    margin : float
        Distance to look for, m.

    Returns
    -------
    list of int
        Indices of the pairs whose bounding spheres are nearer.
    """
    pin.updateGeometryPlacements(workspace.model, workspace.data, workspace.geometry, workspace.placed, q)
    near = _spheres_near(
        np.array(workspace.rotations).reshape(-1, 3, 3),
        np.array(workspace.translations).reshape(-1, 3),
        workspace.centers,
        workspace.radii + 0.5 * margin,
        workspace.first,
        workspace.second,
    )
    return near.nonzero()[0].tolist()


@compiled
def _spheres_near(
    rotations: Array,
    translations: Array,
    centers: Array,
    radii: Array,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether the bounding spheres of each pair (K,) overlap."""
    middles = np.empty_like(translations)
    for shape in range(len(radii)):
        for axis in range(3):
            middles[shape, axis] = translations[shape, axis]
            for along in range(3):
                middles[shape, axis] += rotations[shape, axis, along] * centers[shape, along]
    near = np.empty(len(first), dtype=np.bool_)
    for pair in range(len(first)):
        reach = radii[first[pair]] + radii[second[pair]]
        squared = 0.0
        for axis in range(3):
            squared += (middles[second[pair], axis] - middles[first[pair], axis]) ** 2
        near[pair] = reach > 0.0 and squared < reach * reach
    return near


def pair_distance(workspace: PairWorkspace, pair: int) -> float:
    """Compute the distance of a pair where `place_shapes` has put it.

    Nearest points and the normal from the first to the second shape are then in `workspace.results[pair]`.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes at their poses.
    pair : int
        Index of the pair.

    Returns
    -------
    float
        Distance, m; negative: the depth of penetration.
    """
    pin.computeDistance(workspace.geometry, workspace.placed, pair)
    distance = float(workspace.results[pair].min_distance)
    if not distance > _DEEPEST:
        request = workspace.placed.distanceRequests[pair]
        for tolerance in _TOLERANCES[1:]:
            request.gjk_tolerance = request.epa_tolerance = tolerance
            pin.computeDistance(workspace.geometry, workspace.placed, pair)
            distance = float(workspace.results[pair].min_distance)
            if distance > _DEEPEST:
                break
        request.gjk_tolerance = request.epa_tolerance = _TOLERANCES[0]
    return distance
