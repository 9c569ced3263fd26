"""The main job: stages, their cache, and their results."""
