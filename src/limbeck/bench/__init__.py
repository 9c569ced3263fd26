"""Benchmarks: a bundle beside what a user would run instead, in one race."""
