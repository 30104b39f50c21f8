"""Policies: a contract says what a policy observes and what its actions mean, a law applies them.

`contract` is the file, `terms` what can be observed, `observer` computes observations, `law` turns actions
into torques, `model` loads what maps the one to the other, `default` is the contract of tracking.
"""
