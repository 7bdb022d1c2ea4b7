"""Helpers that every room may use, and that know nothing of memories."""
