"""Runners: functions on the controller."""
from salt import _brine


class RunnerClient:
    """Calls runner functions."""

    def __init__(self, opts=None):
        self.opts = opts or {}
        self.functions = _brine.Functions(lambda name, args, kwargs: self.cmd(name, args, kwarg=kwargs))

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, print_event=True, full_return=False):
        return _brine.report("run", [fun] + _brine.arguments(arg, kwarg))

    def cmd_sync(self, low, timeout=None, full_return=False):
        return self.cmd(low["fun"], low.get("arg"), kwarg=low.get("kwarg"))
