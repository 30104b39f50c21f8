"""Compiled kinematics for what is done ten thousand times a second: joint trees, tasks, bounded steps."""
