"""What gives way where a person is faster than a robot: amplitude or time."""
