"""The demonstration: data written for it, and the recipe that runs on it."""
