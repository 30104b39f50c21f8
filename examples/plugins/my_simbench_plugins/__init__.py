"""Plug-ins for simbench, one of each kind; a scenario names them, or `./FILE.py:NAME` beside it."""
