"""Wheel functions, which brine has as runners."""
from salt import _brine


class WheelClient:
    """Calls wheel functions."""

    def __init__(self, opts=None):
        self.opts = opts or {}

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, **kwargs):
        return _brine.run(fun, *(arg or []), **(kwarg or {}))

    def call_func(self, fun, **kwargs):
        return _brine.run(fun, **kwargs)


Wheel = WheelClient
