"""Serving bundles over HTTP, with a page to look at what they make of a text."""
