"""What passes between processes: signals that end them, and data that they send each other."""
