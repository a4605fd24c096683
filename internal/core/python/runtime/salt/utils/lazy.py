"""Dicts that are filled when they are asked."""
from collections.abc import MutableMapping


def verify_fun(lazy_obj, fun):
    """Raises where a function is missing."""
    from salt.exceptions import CommandExecutionError, SaltInvocationError

    if not fun:
        raise SaltInvocationError("Must specify a function to run!\nex: manage.up")
    if fun not in lazy_obj:
        raise CommandExecutionError("'{}' is not available.".format(fun))


class LazyDict(MutableMapping):
    """Calls _load(key) and _load_all() of a subclass, which fill _dict."""

    def __init__(self):
        self.clear()

    def clear(self):
        self._dict = {}
        self.loaded = False

    def _missing(self, key):
        return False

    def missing_fun_string(self, name):
        return "'{}' is not available.".format(name)

    def __getitem__(self, key):
        if key not in self._dict and not self.loaded:
            self._load(key)
        return self._dict[key]

    def __setitem__(self, key, value):
        self._dict[key] = value

    def __delitem__(self, key):
        del self._dict[key]

    def __len__(self):
        if not self.loaded:
            self._load_all()
        return len(self._dict)

    def __iter__(self):
        if not self.loaded:
            self._load_all()
        return iter(self._dict)
