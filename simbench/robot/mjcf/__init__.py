"""Robots in MJCF, the format of MuJoCo: read by MuJoCo, and converted to an equivalent URDF."""
