"""Running a bundle on a CPU, without torch."""
