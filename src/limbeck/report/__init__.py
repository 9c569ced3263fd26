"""Report: result rows -> one page and the same in Markdown. Knows rows, and no other part."""
