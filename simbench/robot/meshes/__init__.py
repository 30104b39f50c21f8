"""Meshes: files, shapes and convex hulls."""
