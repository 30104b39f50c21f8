"""A new kind of equipment: the bar of a rowing machine, pulled against a spring. Its physics is checked.

You learn to describe equipment, by a section with keys and a function that builds its mechanism, and to step
it in a world. Arguments are keys of the machine: python examples/06_new_fixture.py spring_n_m=300 mass_kg=2
"""

import sys
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pinocchio as pin

from simbench.options import Name, Point3, ScenarioSection
from simbench.sim.engine import open_engine
from simbench.sim.equipment import resist
from simbench.sim.fixtures.mechanism import Mechanism, MechanismHandle, MechanismJoint, Part
from simbench.sim.fixtures.shapes import IRON, RED, STEEL, Board, Rod


class Rower(ScenarioSection):
    """The keys of the machine, in SI units; an unknown key is refused."""

    type: Literal["rower"] = "rower"
    name: Name = "rower"
    position_m: Point3 = (0.48, 0.0, 0.0)
    height_m: float = 1.0
    mass_kg: float = 2.0
    spring_n_m: float = 80.0
    damping_ns_m: float = 4.0


def rower_mechanism(design: Rower) -> Mechanism:
    """Build the machine: the palms lie on the bar and turn freely about it, the y axis, also theirs."""
    h, c = design.height_m, design.damping_ns_m
    stand = Board((0.25, -0.2, 0.0), (0.5, 0.2, 0.03), IRON), Rod((0.4, 0.0, 0.03), (0.4, 0.0, h), 0.03, IRON)
    bar = Rod((0.0, -0.3, h), (0.0, 0.3, h), 0.01, STEEL), Rod((0.0, 0.0, h), (0.4, 0.0, h), 0.008, RED)
    parts = Part("stand", stand, 20.0), Part("bar", bar, design.mass_kg, "pull")
    limits = {"lowest": 0.0, "highest": 0.4, "stiffness": design.spring_n_m}
    joint = MechanismJoint("pull", "slide", (-1.0, 0.0, 0.0), **limits, damping=c, back_damping=c)
    palms = {side: pin.SE3(np.eye(3), np.array([0.0, y, h])) for side, y in (("left", 0.2), ("right", -0.2))}
    handles = {side: MechanismHandle("bar", palm, "pivot", (0.0, 1.0, 0.0)) for side, palm in palms.items()}
    return Mechanism(design.name, pin.SE3(np.eye(3), np.array(design.position_m)), parts, (joint,), handles)


design = Rower(**{key: float(value) for key, value in (text.split("=") for text in sys.argv[1:])})
rower, t, travel = rower_mechanism(design), np.arange(600) * 0.001, np.empty(600)
with open_engine().open_world(timestep=0.001) as world:
    fixture = world.add_fixture(rower)
    fixture.place(np.array([0.2]))
    for step in range(len(t)):
        travel[step] = fixture.joint_state(0)[0]
        resist(fixture)  # the spring
        world.step()
root = np.roots([design.mass_kg, design.damping_ns_m, design.spring_n_m])[0]  # of m s² + c s + k = 0
exact = np.real(0.2 * (1.0 + 1j * root.real / root.imag) * np.exp(root * t))
print(f"from 0.2 m to 0: {t[np.argmax(travel <= 0)]:.3f} s; closed form {t[np.argmax(exact <= 0)]:.3f} s")
plt.plot(t, travel, t, exact, "--")
plt.title("Position of the bar, m, over time, s; dashed: damped oscillator", fontsize="medium")
plt.savefig("06_rower.png")
