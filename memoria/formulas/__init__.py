"""Pure formulas, one idea a file."""
