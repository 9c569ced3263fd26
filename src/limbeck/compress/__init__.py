"""From a trained network to a small graph, each step with its evidence."""
