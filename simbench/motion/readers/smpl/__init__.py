"""Reader of motion in the parameters of SMPL, SMPL-H and SMPL-X: archives, and poses estimated from video."""
