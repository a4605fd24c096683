"""Runners."""
from salt import _brine


class RunnerClient:
    """Calls runner functions."""

    def __init__(self, opts=None):
        self.opts = opts or {}

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, **kwargs):
        return _brine.helper().functions["runner"][fun](*(arg or []), **(kwarg or {}))
