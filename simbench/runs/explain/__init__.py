"""Explanations of metrics, keys, log variables, messages and terms, for the terminal and the site."""
