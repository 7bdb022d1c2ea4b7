"""Read folders of notes in Markdown, as documents."""

from memoria.importers.notes.folder import read_notes

__all__ = ["read_notes"]
