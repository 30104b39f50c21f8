"""The import of PyBullet, which keeps what its C++ prints off the terminal."""

from simbench.robot.native_output import hidden_native_stdout, quiet_native_output

with quiet_native_output():
    import pybullet as bullet

__all__ = ["bullet", "hidden_native_stdout", "quiet_native_output"]
