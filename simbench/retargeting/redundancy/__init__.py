"""Redundancy of the robot's upper body resolved by the criteria of human motion."""
