"""Match of bodies: the points and joints of a robot that correspond to a person's, and their kinematics.

`body.match_body` finds them, `points` says where they are and how they move.
"""
