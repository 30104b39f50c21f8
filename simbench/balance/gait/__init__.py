"""Stepping: footsteps, profiles of ZMP and COG, and swing feet that adapt to measured landings."""
