"""Whether a robot can stand, reach, step and track, by numbers, before any scenario is written."""
