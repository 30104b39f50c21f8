"""Recovery from pushes: bending the trunk, and steps to where the robot can stop."""
