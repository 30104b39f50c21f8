"""Declarations of what every log holds beside the samples: coordinates, contacts, strokes, attributes."""

from simbench.sim.state import Signal

STROKES: Signal[None] = Signal(
    "strokes", ("stroke", "bound"), "s", "First and last instant of each of the recording's strokes."
)
CONTACT_EVENT_SIGNALS: tuple[Signal[None], ...] = (
    Signal("contact_first", ("contact",), "", "Link of the robot that touches, `robot/link`.", dtype=str),
    Signal("contact_second", ("contact",), "", "What it touches: `floor`, or `body/link`.", dtype=str),
    Signal("contact_start", ("contact",), "s", "Time of the first sample that saw the contact."),
    Signal("contact_end", ("contact",), "s", "Time of the last sample that saw the contact."),
    Signal(
        "contact_peak_force", ("contact",), "N", "Largest sum of the contact's normal forces at a sample."
    ),
)
"""Columns of the table of contacts; an event lasts from its first sample to its last without a break."""
COORDINATE_SIGNALS: tuple[Signal[None], ...] = (
    Signal("time", ("time",), "s", "Time of the samples from the start of the simulation."),
    Signal("joint", ("joint",), "", "Names of the robot's joints, in its model's order.", dtype=str),
    Signal("foot", ("foot",), "", "Feet of the robot, `left` and `right`.", dtype=str),
    Signal("hand", ("hand",), "", "Hands of the robot, `left` and `right`.", dtype=str),
    Signal("xyz", ("xyz",), "", "Axes of a vector.", dtype=str),
    Signal("xy", ("xy",), "", "Axes of a horizontal vector.", dtype=str),
    Signal(
        "pose", ("pose",), "", "Numbers of a pose: position x, y, z and quaternion qx, qy, qz, qw.", dtype=str
    ),
    Signal(
        "axis6", ("axis6",), "", "Numbers of a wrench (force, moment) or twist (linear, angular).", dtype=str
    ),
)
"""Labels of the dimensions that have them."""
ATTRIBUTE_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "robot", (), "", "Name of the robot, with which the names of its links begin in contacts.", dtype=str
    ),
    Signal("mass_kg", (), "kg", "Mass of the robot that the plan assumes."),
    Signal("gravity_m_s2", (), "m/s²", "Acceleration of gravity."),
    Signal("settle_s", (), "s", "Time of standing still before anything moves; most metrics begin after it."),
    Signal("motion_start_s", (), "s", "Time at which the recording's first sample is reached."),
    Signal("grips_lost", (), "", "Number of grips that were overloaded and released.", dtype=int),
    Signal("saturated_fraction", (), "", "Fraction of all joints' physics steps whose torque was limited."),
    Signal("hand_links", (), "", "Links of the hands, separated by spaces.", dtype=str),
    Signal("foot_links", (), "", "Links of the feet, separated by spaces.", dtype=str),
    Signal("thigh_links", (), "", "Links of the thighs, separated by spaces.", dtype=str),
    Signal("seat", (), "", "Name of the fixture that the robot sits on; empty if it stands.", dtype=str),
)
"""Attributes of the whole log."""
