"""Read folders of notes in Markdown, as documents."""

from memoria.remember.notes.folder import read_notes

__all__ = ["read_notes"]
