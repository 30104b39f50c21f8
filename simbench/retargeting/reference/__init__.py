"""References: what the joints are to do at every physics step, with the planned base, ZMP and COG.

`reference` has the types and makes references of retargeted motions, sweeps and postures. `trajectory_plan`
makes them of robot motions made elsewhere: a trajectory gives the joints above the legs, the trunk's
orientation, the height of the COG, and when and where the feet stand. The legs follow from that by the
balance controller's inverse kinematics.
"""
