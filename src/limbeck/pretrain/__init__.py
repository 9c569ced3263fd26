"""Pretraining: from raw text to an encoder that a recipe can name."""
