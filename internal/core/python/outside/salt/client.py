"""Clients: functions on this machine and on the targets of the roster."""
import re

from salt import _brine
from salt.exceptions import SaltClientError

# How a target is given to brine, by the kind of its expression.
FLAGS = {
    "glob": [], "pcre": ["-E"], "list": ["-L"], "grain": ["-G"], "grain_pcre": ["-P"], "pillar": ["-I"],
    "pillar_pcre": ["-J"], "compound": ["-C"], "nodegroup": ["-N"], "range": ["-R"], "ipcidr": ["-S"],
}


class Caller:
    """Calls execution functions on this machine."""

    def __init__(self, c_path=None, mopts=None):
        self.opts = mopts or {}

    def cmd(self, fun, *args, **kwargs):
        return _brine.call(fun, *args, **kwargs)

    function = cmd


class LocalClient:
    """Calls execution functions on the targets of the roster."""

    def __init__(self, c_path=None, mopts=None, **kwargs):
        self.opts = mopts or {}

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def _words(self, tgt, fun, arg, tgt_type, kwarg, timeout, ret):
        if tgt_type not in FLAGS:
            raise SaltClientError("unknown kind of target: {}".format(tgt_type))
        if isinstance(tgt, (list, tuple)):
            tgt = ",".join(tgt)
        flags = list(FLAGS[tgt_type])
        if timeout:
            flags.append("--timeout={}".format(int(timeout)))
        if ret:
            flags.append("--return={}".format(ret))
        return flags, [tgt, fun] + _brine.arguments(arg, kwarg)

    def cmd(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", jid="", full_return=False, kwarg=None, **kwargs):
        """Returns what each target returned, by its id."""
        flags, words = self._words(tgt, fun, arg, tgt_type, kwarg, timeout, ret)
        report = _brine.report("ssh", words, ["--static"] + flags)
        if full_return:
            return {name: {"ret": value} for name, value in report.items()}
        return report

    def cmd_iter(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", kwarg=None, **kwargs):
        """Yields {id: {"ret": ...}} for each target, when all have returned."""
        for name, value in self.cmd(tgt, fun, arg, timeout, tgt_type, ret, kwarg=kwarg).items():
            yield {name: {"ret": value}}

    cmd_iter_no_block = cmd_iter

    def run_job(self, tgt, fun, arg=(), tgt_type="glob", ret="", timeout=None, jid="", kwarg=None, **kwargs):
        """Starts a job and returns its jid and the ids of its targets."""
        flags, words = self._words(tgt, fun, arg, tgt_type, kwarg, timeout, ret)
        status, out, err = _brine.text(_brine.command("ssh", "--async", *(flags + ["--"] + words)))
        started = re.search(r"job ID: (\d{20})", out)
        if not started:
            raise SaltClientError(err.strip() or out.strip())
        job = _job(started.group(1))
        return {"jid": started.group(1), "minions": job.get("Minions", [])}

    def cmd_async(self, tgt, fun, arg=(), tgt_type="glob", ret="", jid="", kwarg=None, **kwargs):
        return self.run_job(tgt, fun, arg, tgt_type, ret, kwarg=kwarg)["jid"]

    def get_cache_returns(self, jid):
        """Returns {id: {"ret": ...}} of the targets that have returned."""
        return {name: {"ret": ret.get("return")} for name, ret in _job(jid).get("Result", {}).items()}


def _job(jid):
    return _brine.report("run", ["jobs.list_job", jid])


def get_local_client(c_path=None, mopts=None, **kwargs):
    return LocalClient(c_path, mopts)
