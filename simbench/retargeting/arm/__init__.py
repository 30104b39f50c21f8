"""Planning the motion of an arm on a fixed base."""
