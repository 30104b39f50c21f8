"""Imitation of a recording by the robot scaled to the person (Tomić 2018, ch. 3), and by weighted criteria.

`scaled_model` scales the robot, `imitation` follows a recording, or frames as they come in, `limited_posture`
brings the posture inside the robot's limits, and `weighted_posture` resolves the redundancy (ch. 4).
"""
