"""Reports, and whether they are good."""
import salt.runner
import salt.utils.jid


def total(*numbers, **kwargs):
    """Add numbers; fails above the limit."""
    limit = kwargs.get("limit", 10)
    out = sum(numbers)
    if out > limit:
        __context__["retcode"] = 1
    return out


def through(number):
    runner = salt.runner.RunnerClient(__opts__)
    return [runner.cmd("report.total", [number, 1]), salt.utils.jid.is_jid(salt.utils.jid.gen_jid())]
