"""Execution of jobs in isolated processes, on this machine or on a Dask cluster."""
