"""Hands in contact: phases of contact, paths of the handles, and the joints that follow them."""
