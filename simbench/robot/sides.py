"""The names of the two sides of a body, in the order of every array with an axis for them."""

SIDES = ("left", "right")
