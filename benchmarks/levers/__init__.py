"""Settings that stay a choice: each measured beside the other way, on the same questions."""
