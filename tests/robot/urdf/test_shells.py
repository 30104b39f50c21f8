"""Lofts and plates: volume, closed skin, outward normals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.robot.description import Loft, Patch
from simbench.robot.urdf.urdf_writer import build_loft_mesh, build_patch_mesh, mirror_mesh


@pytest.mark.parametrize("along", ["x", "y", "z"])
def test_one_ring_with_two_domes_is_a_sphere(along: str) -> None:
    loft = Loft(along=along, rings=((0.1, 0, 0, 0.05, 0.05),), ends=((0.05, 2), (0.05, 2)), sides=60)
    mesh = build_loft_mesh(loft)
    assert mesh.is_watertight
    center = np.zeros(3)
    center["xyz".index(along)] = 0.1
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices - center, axis=1), 0.05, atol=1e-12)
    # Inscribed: the volume comes from below and the normals of a smooth skin point away from the centre.
    assert 0.96 < mesh.volume / (4 / 3 * np.pi * 0.05**3) < 1
    outward = np.einsum("ij,ij->i", mesh.vertex_normals, (mesh.vertices - center) / 0.05)
    assert outward.min() > 0.99


@settings(max_examples=50, deadline=None)
@given(
    along=st.sampled_from("xyz"),
    widths=st.lists(st.tuples(*[st.floats(0.01, 0.1)] * 2), min_size=1, max_size=5),
    exponent=st.floats(2, 5),
    depths=st.tuples(*[st.floats(0.005, 0.05)] * 2),
)
def test_a_domed_loft_is_closed_and_not_inside_out(
    along: str, widths: list[tuple[float, float]], exponent: float, depths: tuple[float, float]
) -> None:
    rings = tuple((0.05 * i, 0.0, 0.0, u, v) for i, (u, v) in enumerate(widths))
    loft = Loft(along=along, rings=rings, exponent=exponent, ends=((depths[0], 2), (depths[1], 3)))
    mesh = build_loft_mesh(loft)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0
    assert mirror_mesh(mesh).volume == pytest.approx(mesh.volume)


def test_flat_ends_keep_a_sharp_rim() -> None:
    mesh = build_loft_mesh(Loft(along="z", rings=((0, 0, 0, 1, 1), (2, 0, 0, 1, 1)), sides=40))
    assert mesh.volume == pytest.approx(40 * np.sin(2 * np.pi / 40), rel=1e-9)
    assert not mesh.is_watertight
    mesh.merge_vertices(merge_norm=True)
    assert mesh.is_watertight


@pytest.mark.parametrize("along", ["x", "y", "z"])
def test_a_plate_lies_above_its_surface_and_faces_outward(along: str) -> None:
    loft = Loft(along=along, rings=((-1, 0, 0, 0.1, 0.1), (1, 0, 0, 0.1, 0.1)))
    plate = build_patch_mesh(Patch(shell="tube", center=(40, 0.2), size=(30, 0.1), lift=0.002), loft)
    radial = plate.vertices.copy()
    radial[:, "xyz".index(along)] = 0
    radius = np.linalg.norm(radial, axis=1)
    np.testing.assert_allclose(radius[:-20], 0.102, atol=1e-9)
    assert radius[-20:].max() < 0.1
    assert np.einsum("ij,ij->i", plate.vertex_normals[:-20], radial[:-20] / radius[:-20, None]).min() > 0.6
