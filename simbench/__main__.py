"""`python -m simbench`."""

import sys

from simbench.cli import main

sys.exit(main())
