"""Adaptation of arm motion to the robot's limits (Kim & Kim 2005)."""
