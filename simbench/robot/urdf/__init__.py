"""Reading, checking and writing of URDF."""
