"""Processes."""
import os
import subprocess


def os_is_running(pid):
    try:
        os.kill(pid, 0)
        return True
    except PermissionError:
        return True
    except OSError:
        return False


def clean_proc(proc, wait_for_kill=10):
    proc.terminate()


def call(argv, **kwargs):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **kwargs)
