"""`python -m simbench`."""

import sys

from simbench.cli.main import main

sys.exit(main())
