"""Standing: support polygon, ground reaction, and the motion of pelvis and legs with the COG prescribed."""
