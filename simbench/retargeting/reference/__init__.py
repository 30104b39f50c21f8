"""References: what the joints are to do at every physics step, with the planned base, ZMP and COG.

`reference` has the types, ways from rest to a motion and back, and their sampling. `planned_steps` makes
references of planned feet: the legs follow by the balance controller's inverse kinematics.
"""
