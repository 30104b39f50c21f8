"""Human motion: recordings, their readers, and virtual actors who perform tasks."""
