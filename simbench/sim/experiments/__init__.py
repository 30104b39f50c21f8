"""Simulated experiments that measure inertia."""
