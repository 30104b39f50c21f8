"""Files and folders that are whole or absent, and scratch folders that do not outlive their process."""
