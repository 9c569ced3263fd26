"""Training and distillation; the only part, with compress, that needs torch."""
