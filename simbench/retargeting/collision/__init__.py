"""Collision avoidance: distances between bodies, and their correction in the null space of the task."""
