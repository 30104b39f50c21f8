"""The solids of the Hanavan body against integrals over meshes and the formulas written out by hand."""

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.robot.body_segments import (
    BodySolid,
    Ellipsoid,
    EllipticalSolid,
    solid_centre,
    solid_inertia,
    solid_length,
    solid_volume,
)
from simbench.robot.human import build_solid_mesh

semi_axes = st.floats(0.02, 0.2)
elliptical_solids = st.builds(
    EllipticalSolid, a0=semi_axes, b0=semi_axes, a1=semi_axes, b1=semi_axes, length=st.floats(0.05, 0.5)
)
SOLIDS: list[BodySolid] = [
    EllipticalSolid(0.065, 0.12, 0.06, 0.06, 0.43),
    EllipticalSolid(0.044, 0.044, 0.028, 0.028, 0.26),
    EllipticalSolid(0.16, 0.145, 0.16, 0.145, 0.16),
    Ellipsoid(0.09, 0.09, 0.115),
]


@pytest.mark.parametrize("solid", SOLIDS)
def test_mass_properties_equal_the_integral_over_a_fine_mesh(solid: BodySolid) -> None:
    mesh = build_solid_mesh(solid, sides=160)
    mesh.density = 1000.0
    mass = 1000.0 * solid_volume(solid)
    assert mesh.is_watertight
    assert mesh.mass == pytest.approx(mass, rel=5e-3)
    np.testing.assert_allclose(mesh.center_mass, [0, 0, solid_centre(solid)], atol=2e-3 * solid_length(solid))
    inertia = solid_inertia(solid, mass)
    np.testing.assert_allclose(
        mesh.moment_inertia, inertia, rtol=5e-3, atol=1e-9 + 5e-5 * float(np.trace(inertia))
    )
    assert mesh.extents[2] == pytest.approx(solid_length(solid))


@pytest.mark.parametrize("solid", SOLIDS)
def test_meshes_lie_inside_and_miss_no_more_than_they_say(solid: BodySolid) -> None:
    for sides, loss in ((32, 0.02), (160, 0.001)):
        volume = build_solid_mesh(solid, sides).volume
        assert (1 - loss) * solid_volume(solid) < volume < solid_volume(solid)


@settings(max_examples=60, deadline=None)
@given(elliptical_solids)
def test_elliptical_solid_equals_the_corrected_formulas(solid: EllipticalSolid) -> None:
    # Tomić (2018), eqs. B.6 and B.7, with B2/3 in A2 instead of the printed B2/5.
    a0, b0, da, db = solid.a0, solid.b0, solid.a1 - solid.a0, solid.b1 - solid.b0
    b1, b2, b3 = da * db, a0 * db + b0 * da, a0 * b0
    area, first, second = b1 / 3 + b2 / 2 + b3, b1 / 4 + b2 / 3 + b3 / 2, b1 / 5 + b2 / 4 + b3 / 3

    def quartic(p: float, dp: float, q: float, dq: float) -> float:
        """A4 of p(s) q(s)³."""
        return (
            dp * dq**3 / 5
            + (p * dq**3 + 3 * q * dp * dq**2) / 4
            + (3 * p * q * dq**2 + 3 * q**2 * dp * dq) / 3
            + (q**3 * dp + 3 * p * q**2 * dq) / 2
            + p * q**3
        )

    mass, length = 2.5, solid.length
    centre = length * first / area
    axial = mass * length**2 * second / area - mass * centre**2
    abbb, aaab = quartic(a0, da, b0, db), quartic(b0, db, a0, da)
    assert solid_volume(solid) == pytest.approx(pi * length * area, rel=1e-12)
    assert solid_centre(solid) == pytest.approx(centre, rel=1e-12)
    expected = [
        mass * abbb / (4 * area) + axial,
        mass * aaab / (4 * area) + axial,
        mass * (aaab + abbb) / (4 * area),
    ]
    np.testing.assert_allclose(solid_inertia(solid, mass), np.diag(expected), rtol=1e-9, atol=1e-15)


def test_a_truncated_cone_has_its_textbook_values() -> None:
    # Volume pi h (R² + R r + r²) / 3, centre h (R² + 2 R r + 3 r²) / (4 (R² + R r + r²)) from the wide end,
    # axial inertia 3/10 m (R⁵ - r⁵) / (R³ - r³).
    wide, narrow, height = 0.08, 0.05, 0.4
    solid = EllipticalSolid(wide, wide, narrow, narrow, height)
    square = wide**2 + wide * narrow + narrow**2
    assert solid_volume(solid) == pytest.approx(pi * height * square / 3)
    centre = height * (wide**2 + 2 * wide * narrow + 3 * narrow**2) / (4 * square)
    assert solid_centre(solid) == pytest.approx(centre)
    axial = 0.3 * 3.0 * (wide**5 - narrow**5) / (wide**3 - narrow**3)
    assert solid_inertia(solid, 3.0)[2, 2] == pytest.approx(axial)


def test_an_ellipsoid_has_its_textbook_values() -> None:
    whole = Ellipsoid(0.05, 0.07, 0.12)
    assert solid_volume(whole) == pytest.approx(4 / 3 * pi * 0.05 * 0.07 * 0.12)
    np.testing.assert_allclose(
        np.diag(solid_inertia(whole, 2.0)),
        2 / 5 * np.array([0.07**2 + 0.12**2, 0.05**2 + 0.12**2, 0.05**2 + 0.07**2]),
    )
