"""Scenes that several tests build: a drawer, a grip, a short scenario."""

from simbench.options import GripSection
from simbench.sim.fixtures.furniture import Drawer

SOFT_GRIP = GripSection(
    stiffness_n_m=2000.0,
    damping_ns_m=30.0,
    rotational_stiffness_nm_rad=20.0,
    rotational_damping_nms_rad=0.5,
    max_force_n=60.0,
    max_torque_nm=3.0,
    tolerance_m=0.02,
)

SHORT_SWEEP = """
name: short
robot: {name: puma560, posture: ready}
motion: {source: "joints:sweep", task: {amplitude_rad: 0.1, speed_rad_s: 0.5}}
control: {law: computed_torque}
simulation: {settle_s: 0.1, hold_s: 0.1}
"""
"""A scenario without checks, of less than two seconds."""


def drawer_section(**changes):
    """Make the section of a drawer without friction that stands obliquely; any key can be changed."""
    keys = {
        "type": "drawer",
        "name": "drawer",
        "position_m": (0.5, 0.05, 0.0),
        "heading_rad": 0.3,
        "width_m": 0.62,
        "depth_m": 0.42,
        "height_m": 0.30,
        "table_height_m": 0.75,
        "panel_thickness_m": 0.018,
        "front_height_m": 0.20,
        "travel_m": 0.30,
        "start_opening_m": 0.12,
        "mass_kg": 1.7,
        "friction_n": 0.0,
        "damping_ns_m": 0.0,
        "handle_separation_m": 0.40,
        "handle_convergence_rad": 0.26,
        "grip_clearance_m": 0.0,
    }
    return Drawer(**{**keys, **changes})
