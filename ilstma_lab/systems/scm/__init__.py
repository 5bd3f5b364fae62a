"""SCM: a memory stream of turns, the nearest of them activated, and a controller that keeps what they cost within bounds."""

from ilstma_lab.systems.scm.lab import SCM
from ilstma_lab.systems.scm.settings import SCMSettings

__all__ = ["SCM", "SCMSettings"]
