"""Read folders of notes in Markdown, as documents."""
