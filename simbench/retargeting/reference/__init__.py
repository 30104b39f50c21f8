"""References: what the joints are to do at every physics step, with the planned base, ZMP and COG."""
