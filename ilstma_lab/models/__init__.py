"""Embedders and language models: what thinks for the memory, offline or behind an endpoint."""
