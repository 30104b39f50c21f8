"""Planning the motion of a humanoid that stands on both feet, or sits."""
