"""What templates show."""
from collections import OrderedDict


class PrintableDict(OrderedDict):
    """An ordered dict that prints as a dict does."""

    def __repr__(self):
        return repr(dict(self))

    __str__ = __repr__
