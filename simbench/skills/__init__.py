"""Human skills: the criteria behind a recorded motion.

`analysis.analyse_skill` finds them by inverse optimal control and by fuzzy rules.
"""
