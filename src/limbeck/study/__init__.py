"""Studies: comparisons of architectures that anyone can repeat on their own machine."""
