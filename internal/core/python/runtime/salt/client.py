"""Clients: calls on this machine, and on the controller of others."""
from salt import _brine


class Caller:
    """Calls execution functions here."""

    def __init__(self, c_path=None, mopts=None):
        self.opts = mopts or {}

    def cmd(self, fun, *args, **kwargs):
        return _brine.call(fun, *args, **kwargs)

    function = cmd


class LocalClient:
    """Calls execution functions on targets, for runners."""

    def __init__(self, c_path=None, mopts=None, **kwargs):
        self.opts = mopts or {}

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def cmd(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", jid="", full_return=False, kwarg=None, **kwargs):
        """Returns what each target returned, by its id."""
        given = {"arg": list(arg), "kwarg": kwarg, "tgt_type": kwargs.get("expr_form", tgt_type), "ret": ret}
        if timeout:
            given["timeout"] = timeout
        report = _brine.run("salt.execute", tgt, fun, **given)
        if full_return:
            return {name: {"ret": value} for name, value in report.items()}
        return report

    def cmd_iter(self, tgt, fun, *args, **kwargs):
        """Yields {id: {"ret": ...}} for each target, when all have returned."""
        for name, value in self.cmd(tgt, fun, *args, **kwargs).items():
            yield {name: {"ret": value}}

    cmd_cli = cmd_iter_no_block = cmd_iter


def get_local_client(c_path=None, mopts=None, **kwargs):
    return LocalClient(c_path, mopts)
