"""Loaders of files of arrays that users bring, NumPy's and pickles, from which only data is loaded."""
