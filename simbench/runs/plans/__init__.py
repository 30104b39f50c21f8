"""Plans of a robot's motion: made from a recording, and kept on disk for runs that differ only in physics."""
