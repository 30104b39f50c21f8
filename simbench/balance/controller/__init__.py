"""The balance controller: measured COG and ZMP, tasks of the feet and the trunk, joint velocities."""
