"""What the processor can run; compiled for every processor."""

from typing import Literal

def best_isa() -> Literal["baseline", "avx2", "avx512"]:
    """Name of the widest ISA variant that this processor and operating system can run."""
