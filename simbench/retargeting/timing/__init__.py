"""When a robot is at each sample of a recording, and what gives way where the person is faster."""
