"""Ordered dicts."""
from collections import OrderedDict


class DefaultOrderedDict(OrderedDict):
    """An ordered dict that makes what is missing."""

    def __init__(self, factory=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.default_factory = factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = self.default_factory()
        return self[key]


HAS_OD = True
