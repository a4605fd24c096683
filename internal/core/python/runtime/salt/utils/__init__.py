"""Helpers, and the names that stood here before Salt 2018.3."""
import os
import sys


def is_windows():
    return False


def is_linux():
    return sys.platform.startswith("linux")


def is_darwin():
    return sys.platform == "darwin"


def path_join(*parts):
    return os.path.join(*parts)


def check_state_result(running, recurse=False, highstate=None):
    from salt.utils.state import check_result

    return check_result(running, recurse, highstate)


def istextfile(path, blocksize=512):
    """Reports whether a file's beginning is text."""
    with open(path, "rb") as handle:
        return is_text(handle.read(blocksize))


def is_text(data):
    return b"\0" not in data if isinstance(data, bytes) else True


def is_true(value=None):
    """Tells whether a value reads as true: 1, "yes", "on", "true" and so on."""
    try:
        return float(value) > 0
    except (ValueError, TypeError):
        pass
    if isinstance(value, str):
        return str(value).lower() == "true"
    return bool(value)


def __getattr__(name):
    """Finds what moved into modules: salt.utils.fopen, which, str_to_num..."""
    import importlib

    for module in ("files", "path", "platform", "stringutils", "data", "args", "user", "hashutils", "network", "json", "dictupdate", "versions", "url", "itertools", "functools", "state", "jid", "process", "dictdiffer"):
        try:
            found = getattr(importlib.import_module("salt.utils." + module), name, None)
        except ImportError:
            continue
        if found is not None:
            return found
    raise AttributeError("module 'salt.utils' has no attribute {!r}".format(name))


if sys.version_info < (3, 7):  # which has no __getattr__ of modules
    class _Old(type(sys)):
        __getattr__ = staticmethod(__getattr__)

    sys.modules[__name__].__class__ = _Old
