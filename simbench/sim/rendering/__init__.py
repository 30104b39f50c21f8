"""Rendering of videos, pictures and the replay window."""
