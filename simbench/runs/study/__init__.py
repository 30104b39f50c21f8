"""Studies: one function or scenario, many arguments, one table.

`study.run_study` runs a study that continues after a kill; `scenario_sweep` varies keys of a scenario.
"""
