"""Plots of a run: `run_plots.draw_plots` draws those that a run has."""
