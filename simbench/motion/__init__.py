"""Human motion and joint trajectories: readers, writers, phases, and virtual actors who perform tasks."""
