"""Contexts."""
import contextlib


@contextlib.contextmanager
def func_globals_inject(func, **overrides):
    """Gives a function other globals for a while."""
    space = func.__globals__
    saved = {key: space[key] for key in overrides if key in space}
    space.update(overrides)
    try:
        yield
    finally:
        for key in overrides:
            if key in saved:
                space[key] = saved[key]
            else:
                space.pop(key, None)


class NamespacedDictWrapper(dict):
    """The dict that is under a key, or a path of keys, of another one."""

    def __init__(self, data, keys, override_name=None):
        super().__init__()
        self._data = data
        self._keys = (keys,) if isinstance(keys, str) else tuple(keys)

    def _own(self):
        found = self._data
        for key in self._keys:
            found = found[key]
        return found

    def __getitem__(self, key):
        return self._own()[key]

    def __setitem__(self, key, value):
        self._own()[key] = value

    def __delitem__(self, key):
        del self._own()[key]

    def __contains__(self, key):
        return key in self._own()

    def __iter__(self):
        return iter(self._own())

    def __len__(self):
        return len(self._own())

    def __eq__(self, other):
        return self._own() == other

    def __repr__(self):
        return repr(self._own())

    __hash__ = None

    def get(self, key, default=None):
        return self._own().get(key, default)

    def pop(self, *args):
        return self._own().pop(*args)

    def setdefault(self, key, default=None):
        return self._own().setdefault(key, default)

    def update(self, *args, **kwargs):
        self._own().update(*args, **kwargs)

    def keys(self):
        return self._own().keys()

    def values(self):
        return self._own().values()

    def items(self):
        return self._own().items()

    def copy(self):
        return dict(self._own())
