"""Tasks: labels, ids, decoding, metrics; numpy only."""
