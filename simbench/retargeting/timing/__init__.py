"""The robot's time of each sample of a recording."""
