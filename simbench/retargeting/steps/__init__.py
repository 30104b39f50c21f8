"""Follow a person's steps: contacts of the feet, footsteps, what legs can do of them, ZMP, and the plan."""
