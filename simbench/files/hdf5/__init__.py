"""HDF5 and NetCDF files: checksums, and reading without trust in what a file declares."""
