"""Errors of the operating system that say nothing about the input."""

import errno

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""Numbers of errors of a disk that is full, read-only or failing."""
