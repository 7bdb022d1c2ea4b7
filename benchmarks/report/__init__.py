"""What the numbers of a race say: statistics, a page of tables, plots."""
