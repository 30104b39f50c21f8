"""Simulation of a robot that follows a reference: loop, control, equipment and rendering."""
