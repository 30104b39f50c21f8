"""What is left of the person in a robot's motion: measures against the recording, and their metrics."""
