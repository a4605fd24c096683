"""systemd."""
import os
import re
import subprocess


def booted(context=None):
    return os.path.isdir("/run/systemd/system")


def offline(context=None):
    return not booted()


def version(context=None):
    try:
        text = subprocess.run(["systemctl", "--version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    except OSError:
        return None
    found = re.search(r"\d+", text)
    return int(found.group()) if found else None


def has_scope(context=None):
    return (version() or 0) >= 205
