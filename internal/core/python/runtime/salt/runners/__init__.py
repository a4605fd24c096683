"""Names of runners; functions come from brine."""
from salt import _dynamic


def _find(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import importlib

    return importlib.import_module(__name__ + "." + name)


_dynamic.dynamic(__name__, _find)
