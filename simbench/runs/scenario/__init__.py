"""Scenarios: schema, reading with overrides, and the files they name.

`loading.load_scenario` reads and validates one.
"""
