"""Joint control: control laws, friction and torque limits."""
