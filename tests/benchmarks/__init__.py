"""What reading costs: `python -m tests.benchmarks` from the repository's root. Not part of the tests."""
