"""Plans of a robot's motion: made from a recording, and kept on disk for runs that differ only in physics.

Plans of robot motions made elsewhere, and of a robot's own sweep, retarget nothing.
"""
