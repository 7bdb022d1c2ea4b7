"""Run the command line: ``python -m memoria``."""

from memoria.cli import main

main()
