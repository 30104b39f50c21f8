"""Metrics of scenarios over commits: a file that grows with every check, and a page that draws it."""
