"""References: what the joints are to do at every physics step, with the planned base, ZMP and COG.

`reference` has the types and makes references of retargeted motions. `planned_steps` makes them of planned
feet: the legs follow by the balance controller's inverse kinematics.
"""
