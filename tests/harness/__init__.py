"""Whole runs of many questions through processes that are killed: `python -m tests.harness.killing --help`."""
