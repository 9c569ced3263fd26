"""The search: the smallest student that keeps a floor, measured on this machine."""
