"""Reports of runs as HTML pages that need no other file."""
