"""Agents on a screen: the benchmarks `miniwob`, `webapps` and `osworld`, and experts that prove their tasks."""
