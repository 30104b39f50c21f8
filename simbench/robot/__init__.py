"""Robots: descriptions, models, motors and frames.

`robot.load_robot` loads a robot that ships with simbench or any URDF.
"""
