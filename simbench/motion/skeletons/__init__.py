"""What a skeleton's joints are in a person's body, by names, tree and geometry; no marker map is needed."""
