"""Clients: calls on this machine."""
from salt import _brine


class Caller:
    """Calls execution functions here."""

    def __init__(self, c_path=None, mopts=None):
        self.opts = mopts or {}

    def cmd(self, fun, *args, **kwargs):
        return _brine.call(fun, *args, **kwargs)

    function = cmd
