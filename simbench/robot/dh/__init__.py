"""Denavit-Hartenberg tables: rows, frames, models and URDFs made from them."""
