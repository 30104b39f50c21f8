"""Retargeting: from a recorded human motion to a joint trajectory of a robot.

`api.retarget_motion` does it without a scenario. `stand.standing_plan` and `arm.on_equipment` plan the
motion of a humanoid and of an arm; the other packages are their stages.
"""
