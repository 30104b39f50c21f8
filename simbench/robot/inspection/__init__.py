"""Inspection of a robot's description: numbers of its joints and links, and warnings."""
