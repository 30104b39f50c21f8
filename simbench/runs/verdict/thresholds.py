"""Thresholds of the checks, in their order: what is bounded, in which unit, and why.

The table in docs/how_to/robot_motion.md lists them for users.
"""

# Joint position: distance beyond a limit, rad or m; rounding and noise: a third of a degree.
POSITION = 0.005
# Jump: step of a joint, or of the base's orientation, less the steps beside it, rad or m; another branch is
# farther away.
JUMP_STEP = 0.1
# Jump: acceleration that such a step needs, rad/s²; no motor of a limb gives more.
JUMP_ACCELERATION = 300.0
# Jump: step of the base's position, less the steps beside it, m; less is the noise of a recording.
BASE_JUMP_STEP = 0.02
# Jump: acceleration that such a step needs, m/s²; twice gravity within a frame.
BASE_JUMP_ACCELERATION = 20.0
# Jump: ratio of the step to the spread of the two steps on either side; in a fast motion steps change
# gradually.
JUMP_RATIO = 4.0
# Joint speed: speed as a fraction of its limit; error of differentiation at 30 Hz.
SPEED = 1.02
# Joint torque: torque as a fraction of its limit; the motor's limit; the joint's friction comes on top.
TORQUE = 1.0
# Foot skate: horizontal displacement of a touching point within a contact, m; lifting and landing move a
# touching point of a good walk by up to 1 cm.
SKATE = 0.02
# Floor penetration: depth of the lowest corner of a sole, m; soles give, and heights in retargeted data are
# known to 1 cm.
PENETRATION = 0.01
# Floor penetration: depth from which it is dated, m; heights are not known better.
ONSET = 0.001
# Float: height of the lowest sole without contact, m; the height at which a sole no longer touches.
FLOAT = 0.01
# Float: height up to which it is float, not flight, m; feet are higher in a jump.
FLOAT_HEIGHT = 0.05
# Sole angle: tilt of a sole in contact, rad; people's heel strike; beyond, a rigid foot stands on an edge.
SOLE_ANGLE = 0.35
# Self-collision: depth of two links' convex hulls in each other, m; hulls are larger than links.
COLLISION = 0.01
# ZMP: distance outside the support polygon, m; error from differentiation and from the moment of
# touch-down.
ZMP = 0.01
# ZMP: shift of the capture point while the ZMP is outside, ω ∫ d dt, m; a balance controller makes up for
# it.
CAPTURE_SHIFT = 0.02
# ZMP: tilt up to which a foot counts with its whole sole, rad; 5°: the rubber gives.
FLAT = 0.09
# COG: time outside the support polygon without a break, s; longer, the distance grows by cosh(ωt), more
# than 8 times; a step is shorter.
COG_TIME = 0.8
# Flight: force that is needed while no foot is on the floor, as a fraction of the weight; error of twice
# differentiated motions.
FLIGHT = 0.25
# Pull: downward force on a foot in contact, as a fraction of the weight; a floor holds no foot down.
PULL = 0.0
# Friction: horizontal over vertical force; the floor of simulations: rubber on a dry floor.
FRICTION = 0.8
# Contact wrench: part of the wrench that no forces at the soles give, as a fraction of the weight; what is
# left is the moment about the vertical; soles turn by little before they slip.
WRENCH = 0.05
# Run: joint error: distance of a joint from the motion, rad; balance moves the legs by up to 0.1 rad.
RUN_JOINT = 0.2
# Run: height: how much lower the root is than in the motion, as a fraction of its height; the robot has
# fallen.
RUN_HEIGHT = 0.3
# Run: base: horizontal distance of the root from the motion, m; half a foot's length: contacts are no
# longer where they are meant.
RUN_BASE = 0.1
# Run: foot slip: slip of a foot that carries load, m; as foot skate.
RUN_SLIP = 0.02
# Run: ZMP at the edge: time at the edge of the soles without a break, s; a robot that tips for longer
# falls.
RUN_EDGE_TIME = 0.4
# Run: torque saturation: time of a motor at its limit without a break, s; shorter peaks are those of
# touch-down.
RUN_SATURATION = 0.1
