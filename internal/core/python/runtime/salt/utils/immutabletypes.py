"""Values that do not change."""
import copy
from collections.abc import Mapping, Sequence, Set


class ImmutableDict(Mapping):
    """A dict that does not change."""

    def __init__(self, items):
        self._items = items

    def __getitem__(self, key):
        return freeze(self._items[key])

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return "<{} {!r}>".format(type(self).__name__, self._items)

    def copy(self):
        return copy.deepcopy(self._items)

    def __deepcopy__(self, memo):
        return copy.deepcopy(self._items, memo)


class ImmutableList(Sequence):
    """A list that does not change."""

    def __init__(self, items):
        self._items = items

    def __getitem__(self, index):
        return freeze(self._items[index])

    def __len__(self):
        return len(self._items)

    def __add__(self, other):
        return self._items + list(other)

    def __radd__(self, other):
        return list(other) + self._items

    def __eq__(self, other):
        return list(self) == list(other)

    def __hash__(self):
        return hash(tuple(self._items))

    def __repr__(self):
        return "<{} {!r}>".format(type(self).__name__, self._items)

    def copy(self):
        return copy.deepcopy(self._items)

    def __deepcopy__(self, memo):
        return copy.deepcopy(self._items, memo)


class ImmutableSet(Set):
    """A set that does not change."""

    def __init__(self, items):
        self._items = items

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def copy(self):
        return copy.deepcopy(self._items)

    def __deepcopy__(self, memo):
        return copy.deepcopy(self._items, memo)


def freeze(value):
    """Returns a value that does not change."""
    for kind, frozen in ((dict, ImmutableDict), (list, ImmutableList), (set, ImmutableSet)):
        if isinstance(value, kind):
            return frozen(value)
    return value
