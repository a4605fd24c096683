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


def render(opts=None, functions=None, *args, **kwargs):
    return _brine.helper().renderers()


def raw_mod(opts, name, functions, mod="modules", *args, **kwargs):
    """Returns the functions of one module, by name."""
    known = _brine.helper().functions[{"states": "state", "runners": "runner"}.get(mod, "exec")]
    return {key: known[key] for key in known.keys() if key.split(".")[0] == name}


def grains(opts=None, *args, **kwargs):
    return dict(_brine.grains())
