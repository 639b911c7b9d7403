"""``python -m gegenbauer`` is the command ``gegenbauer``."""

from __future__ import annotations

import sys

from gegenbauer.cli import main

if __name__ == "__main__":
    sys.exit(main())
