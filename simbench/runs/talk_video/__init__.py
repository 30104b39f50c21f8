"""Videos for a talk: runs side by side, captions over time, and title cards."""
