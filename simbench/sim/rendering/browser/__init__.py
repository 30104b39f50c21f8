"""The scene of a run in a web browser, while it is simulated: `open_browser_view`."""
