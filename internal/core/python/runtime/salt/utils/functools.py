"""Functions."""
import functools
import types


def namespaced_function(function, global_dict, defaults=None, preserve_context=None):
    space = dict(function.__globals__)
    space.update(global_dict)
    return types.FunctionType(function.__code__, space, name=function.__name__, argdefs=defaults or function.__defaults__, closure=function.__closure__)


def alias_function(function, name, doc=None):
    copy = types.FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    copy.__dict__.update(function.__dict__)
    copy.__doc__ = doc or "alias of {}".format(function.__name__)
    return copy


partial = functools.partial
