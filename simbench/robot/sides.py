"""The names of the two sides of a body, in the order that every array with an axis for the sides has."""

SIDES = ("left", "right")
