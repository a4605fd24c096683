"""Paths and programs."""
import os
import posixpath
import shutil


def which(exe=None):
    """Returns the path of a program in PATH, or None."""
    return shutil.which(exe) if exe else None


def which_bin(exes):
    """Returns the path of the first of several programs that is there."""
    for exe in exes if isinstance(exes, (list, tuple)) else ():
        path = which(exe)
        if path is not None:
            return path
    return None


def join(*parts, **kwargs):
    """Joins parts; one that is absolute does not start anew."""
    if not parts:
        return ""
    return os.path.normpath(os.path.join(parts[0], *(part.lstrip("/") for part in parts[1:])))


def safe_path(path, allow_path=None):
    """Returns path with links followed, None where it leads to a system directory."""
    return os.path.realpath(path)


def os_walk(top, *args, **kwargs):
    return os.walk(top, *args, **kwargs)


def islink(path):
    return os.path.islink(path)


def readlink(path, canonicalize=False):
    return os.path.realpath(path) if canonicalize else os.readlink(path)


def sanitize_win_path(path):
    return path


def check_or_die(command):
    from salt.exceptions import CommandNotFoundError

    if command is None:
        raise CommandNotFoundError("'None' is not a valid command.")
    if not which(command):
        raise CommandNotFoundError("'{}' is not in the path".format(command))


def splitext(path):
    return posixpath.splitext(path)
