"""Imitation of a recording by the robot scaled to the person (Tomić 2018, ch. 3).

`calibration` scales the robot, `tasks` makes targets, `imitation` follows a recording and `stream` frames as
they come in.
"""
