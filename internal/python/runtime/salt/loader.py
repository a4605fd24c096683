"""Loaders: the functions of the run."""
from salt import _brine


def minion_mods(opts=None, *args, **kwargs):
    return _brine.helper().functions["exec"]


def states(opts=None, *args, **kwargs):
    return _brine.helper().functions["state"]


def runner(opts=None, *args, **kwargs):
    return _brine.helper().functions["runner"]


def utils(opts=None, *args, **kwargs):
    return _brine.helper().utils


def grains(opts=None, *args, **kwargs):
    helper = _brine.helper()
    helper.wants("__grains__")
    return dict(helper.data["grains"])
