"""Robot motions made elsewhere: checked, placed in the world, and planned for free feet without retargeting.

A trajectory gives the joints above the legs, the trunk's orientation, the height of the COG, and when and
where the feet stand. The legs follow from that by the balance controller's inverse kinematics.
"""
