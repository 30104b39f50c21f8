"""Guess of a robot's description from its URDF: roles, sides, soles, palms, postures, collision pairs."""
