"""Fuzzy rules that recognise a person's strategy (Tomić 2018, ch. 5)."""
