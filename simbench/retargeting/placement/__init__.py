"""Base placement: where a robot stands so that its hands reach the whole path."""
