"""The import of PyBullet, which keeps what its C++ prints off the terminal."""

from simbench.robot.native_output import quiet_native_output

with quiet_native_output():
    import pybullet as bullet

__all__ = ["bullet", "quiet_native_output"]
