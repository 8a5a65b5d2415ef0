"""NumPy's linear algebra with one thread: workers of pytest have the cores among them.

To be imported before anything that imports NumPy. Programs that tests start do not inherit it.
"""

import os
from unittest.mock import patch

with patch.dict(os.environ, OPENBLAS_NUM_THREADS="1"):
    import numpy  # noqa: F401
