"""Whether a robot's motion is physically possible: checks of kinematics and dynamics, then a simulation."""
