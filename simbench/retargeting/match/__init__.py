"""Match of bodies: the points and joints of a robot that correspond to a person's, and their kinematics."""
