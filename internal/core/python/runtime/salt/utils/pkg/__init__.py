"""Packages."""
import os
import re

from salt.utils.versions import compare


def rtag(opts):
    """Returns the file that says that the lists of packages are to be refreshed."""
    return os.path.join(opts["cachedir"], "pkg_refresh")


def clear_rtag(opts):
    try:
        os.remove(rtag(opts))
    except FileNotFoundError:
        pass


def write_rtag(opts):
    if not os.path.exists(rtag(opts)):
        with open(rtag(opts), "w"):
            pass


def check_refresh(opts, refresh=None):
    return bool(refresh if refresh is not None else False) or (refresh is not False and os.path.isfile(rtag(opts)))


def split_comparison(version):
    found = re.match(r"^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$", version)
    return found.groups() if found else ("", version)


def match_version(desired, available, cmp_func=None, ignore_epoch=False):
    """Returns the first of the available versions that is as desired."""
    oper, version = split_comparison(desired)
    for candidate in available:
        if compare(candidate, oper or "==", version, cmp_func, ignore_epoch):
            return candidate
    return None


def check_bundled():
    return False
