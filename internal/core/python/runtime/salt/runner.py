"""Runners."""
from salt import _brine


class RunnerClient:
    """Calls runner functions."""

    def __init__(self, opts=None):
        self.opts = opts or {}

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, **kwargs):
        return _brine.run(fun, *(arg or []), **(kwarg or {}))


class Runner(RunnerClient):
    """Calls the runner function that the options name."""

    def run(self):
        return self.cmd(self.opts["fun"], self.opts.get("arg"))
