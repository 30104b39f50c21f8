"""Run mypy without the collector of cyclic garbage: a third of its time, for a process that ends soon.

mypy sets the thresholds of the collector itself and enables it, so both calls do nothing here.
"""

import gc

from mypy.__main__ import console_entry

gc.disable()
gc.set_threshold = gc.enable = lambda *_: None
console_entry()
