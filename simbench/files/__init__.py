"""Reading and writing files: formats, checksums, limits, and what is whole or not there at all."""
