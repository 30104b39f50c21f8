"""Least times of a robot's steps."""

SHORTEST_SWING = 0.28
"""Shortest swing, s: within it a foot rises, moves and sinks at speeds that a leg's joints have."""
SHORTEST_DOUBLE_SUPPORT = 0.1
"""Shortest time on both feet between two swings, s: the ZMP moves from sole to sole in it."""
