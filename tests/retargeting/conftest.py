"""Recordings of the scaled model itself."""

import pytest
from performances import record_model


@pytest.fixture(scope="session")
def performed():
    """Record what motion capture would see of the scaled model itself moving by q (T, nq)."""
    return record_model
