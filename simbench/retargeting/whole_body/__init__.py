"""Planning the whole-body motion of a humanoid."""
