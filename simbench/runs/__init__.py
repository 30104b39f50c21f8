"""Runs of scenarios, their logs, metrics and reports.

`pipeline.run_scenario` runs a scenario into a run directory, `log.open_run` opens its log, `metrics` computes
numbers from it, and `regression` compares them with baselines. `scenario` reads scenarios, `study` runs many
of them, `execution` runs jobs in other processes, `plots` and `report` draw and describe a run.
"""
