"""What the README states about speed and memory, measured: `python -m benchmarks`."""
