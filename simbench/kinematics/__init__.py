"""Compiled kinematics for what is done ten thousand times a second: a tree of joints, tasks, bounded steps."""
