"""Loaders: the functions of brine."""
from salt import _brine


def minion_mods(opts=None, *args, **kwargs):
    return _brine.Functions(lambda name, args, kwargs: _brine.call(name, *args, **kwargs))


def runner(opts=None, *args, **kwargs):
    from salt.runner import RunnerClient

    return RunnerClient(opts).functions


def grains(opts=None, *args, **kwargs):
    return _brine.call("grains.items")
