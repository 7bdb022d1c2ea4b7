"""A run of tests keeps to a folder of its own, and fails if it leaves a process running."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from memoria._support.home import default_home
from tests import leftovers

SLEEP = "import sys, time; print('on', flush=True); time.sleep(600)"


def test_commands_of_the_tests_never_use_the_folder_of_the_user() -> None:
    home = Path(os.environ[leftovers.HOME])
    assert default_home() == home
    assert default_home({}) != home
    assert home.is_dir()


def test_a_process_that_is_left_running_is_named_and_ended() -> None:
    run = uuid4().hex
    marked = {**os.environ, leftovers.RUN: run}
    leftovers.end_left_running(run, within_s=0.0)
    command = [sys.executable, "-c", SLEEP]
    with subprocess.Popen(command, env=marked, stdout=subprocess.PIPE, text=True) as left:
        try:
            assert left.stdout is not None
            left.stdout.readline()  # it has its variables by now
            with pytest.raises(pytest.UsageError, match=rf"left.*\n{left.pid}, .*time.sleep"):
                leftovers.end_left_running(run, within_s=0.0)
            assert left.wait() != 0
        finally:
            left.kill()
    leftovers.end_left_running(run, within_s=0.0)
