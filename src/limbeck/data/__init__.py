"""Text in: formats, records, pieces; numpy and tokenizers only."""
