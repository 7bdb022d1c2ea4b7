"""Run the command line: ``memoria``, ``python -m memoria``."""

from __future__ import annotations

import sys

_INTERRUPTED = 130  # same as in `memoria.cli.common`, which is not loaded yet


def main() -> None:
    """Run the command line; a hook must end in time, also while the command line is loaded."""
    if sys.argv[1:2] != ["hook"] or "--help" in sys.argv:
        try:
            _run()
        except KeyboardInterrupt:  # while the command line is loading
            sys.stderr.write("memoria: interrupted\n")
            sys.exit(_INTERRUPTED)
        return
    from memoria._support.hard_deadline import failing_open  # other commands do not need it

    with failing_open():
        _run()


def _run() -> None:
    from memoria import cli

    cli.main()


if __name__ == "__main__":
    main()
