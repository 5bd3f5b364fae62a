"""What a lesson needs: `start`, guesses before reveals, and exercises with checks and hints."""

from ilstma_lab.teaching.exercises import check, hint
from ilstma_lab.teaching.lesson import start
from ilstma_lab.teaching.predictions import predict, reveal

__all__ = ["check", "hint", "predict", "reveal", "start"]
