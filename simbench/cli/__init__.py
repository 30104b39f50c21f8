"""The command line: one file for each command of `simbench`, which parses, calls and prints.

`main.main` runs a command and returns its exit status; `console` holds what commands share.
"""
