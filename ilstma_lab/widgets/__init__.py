"""Explorables over the engine, for a notebook. Nothing here is imported by the engine."""

from ilstma_lab.widgets.chat import ChatLab

__all__ = ["ChatLab"]
