"""Human bodies: measures, segments, and a skeleton as a robot."""
