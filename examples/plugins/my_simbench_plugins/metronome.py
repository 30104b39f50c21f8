"""A fixture: a rod with a weight on a spring that swings from where it starts."""

import numpy as np
import pinocchio as pin

from simbench.options import Angle, Coefficient, Length, Mass
from simbench.sim.fixtures.fixture_section import FixtureSection
from simbench.sim.fixtures.mechanism import Mechanism, MechanismJoint, Part
from simbench.sim.fixtures.shapes import IRON, RED, STEEL, Board, Rod


class Metronome(FixtureSection):
    """Keys of the metronome. Its joint `swing` turns about the vertical, so that gravity does not matter."""

    length_m: Length = 0.2
    """Length of the rod."""
    mass_kg: Mass = 0.5
    """Mass of rod and weight."""
    stiffness_nm_rad: Coefficient = 2.0
    """Stiffness of the spring."""
    start_rad: Angle = 0.5
    """Angle at which it starts."""

    def mechanism(self) -> Mechanism:
        """Build it: a stand, and a rod that turns about the stand's axis."""
        top, end = 0.5, self.length_m
        stand = (
            Board((-0.1, -0.1, 0.0), (0.1, 0.1, 0.05), IRON),
            Rod((0.0, 0.0, 0.05), (0.0, 0.0, top), 0.02, STEEL),
        )
        rod = Rod((0.0, 0.0, top + 0.03), (end, 0.0, top + 0.03), 0.01, RED)
        swing = MechanismJoint(
            "swing",
            "turn",
            (0.0, 0.0, 1.0),
            lowest=-1.5,
            highest=1.5,
            start=self.start_rad,
            stiffness=self.stiffness_nm_rad,
        )
        pose = pin.SE3(pin.utils.rotate("z", self.heading_rad), np.array(self.position_m))
        parts = Part("stand", stand, 5.0), Part("rod", (rod,), self.mass_kg, "swing")
        return Mechanism(self.name, pose, parts, (swing,))
