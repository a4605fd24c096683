"""Decorators of functions that need programs."""
import functools

import salt.utils.path
from salt.exceptions import CommandNotFoundError


def which(exe):
    """A function that needs a program."""

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if salt.utils.path.which(exe) is None:
                raise CommandNotFoundError("The '{}' binary was not found in $PATH.".format(exe))
            return function(*args, **kwargs)

        return call

    return wrap


def which_bin(exes):
    """A function that needs one of several programs."""

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if salt.utils.path.which_bin(exes) is None:
                raise CommandNotFoundError("None of provided binaries({}) was found in $PATH.".format(["'{}'".format(exe) for exe in exes]))
            return function(*args, **kwargs)

        return call

    return wrap
