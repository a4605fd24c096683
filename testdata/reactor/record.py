"""Has Salt's own reactor compile and call reactions to events, with clients that only
note what they are called with. It reads cases.json, and writes what was called to
salt.json.

PYTHONPATH=SALT:STUBS python3 -W ignore record.py
"""
import inspect
import json
import os
import shutil
import sys
import tempfile

import salt.client
import salt.config
import salt.minion
import salt.runner
import salt.utils.process
import salt.utils.reactor
import salt.wheel

HERE = os.path.dirname(os.path.abspath(__file__))
calls = []


def plain(x):
    return json.loads(json.dumps(x, default=str))


def named(fun, args, kwargs):
    """Arguments by name, without those that are the function's own defaults."""
    params = inspect.signature(fun).parameters
    out = dict(zip(params, args))
    out.update(kwargs)
    return {k: v for k, v in out.items() if not k.startswith("__") and (k not in params or params[k].default != v)}


class Local:
    def cmd_async(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, timeout=None, **rest):
        call = {"kind": "local", "fun": fun, "tgt": tgt, "tgt_type": tgt_type, "arg": list(arg), "kwarg": kwarg or {}}
        if ret:
            call["ret"] = ret
        calls.append(plain(call))


class Caller:
    def cmd(self, fun, *args, **kwargs):
        calls.append(plain({"kind": "caller", "fun": fun, "arg": list(args), "kwarg": kwargs}))


class OnMaster:
    """A client of functions on the master, which notes what its real one would call."""

    def __init__(self, kind, real):
        self.kind, self.real, self.functions = kind, real, real.functions

    def low(self, fun, low):
        arg, kwarg = low.get("arg", ()), low.get("kwarg", {})
        kwarg = named(self.functions[fun], arg, kwarg)
        calls.append(plain({"kind": self.kind, "fun": fun, "arg": [], "kwarg": kwarg}))


class Pool:
    def __init__(self, *args, **kwargs):
        pass

    def fire_async(self, func, args=None, kwargs=None):
        func(*(args or ()))
        return True


def main():
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
        cases = json.load(f)
    out = {}
    for case in cases:
        root = tempfile.mkdtemp()
        try:
            for path, text in case["files"].items():
                full = os.path.join(root, "salt", path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as f:
                    f.write(text)
            conf = os.path.join(root, "master")
            with open(conf, "w", encoding="utf-8") as f:
                json.dump({
                    "root_dir": root, "file_roots": {"base": [os.path.join(root, "salt")]}, "file_client": "local", "id": "ctl", "user": "root",
                    "reactor": json.loads(json.dumps(case["reactor"]).replace("ROOT", root + "/salt")), "pki_dir": root + "/pki", "cachedir": root + "/cache", "log_file": root + "/log",
                }, f)
            opts = salt.config.master_config(conf)
            opts["file_client"] = "local"
            del calls[:]
            reactor = salt.utils.reactor.Reactor(opts)
            salt.utils.process.ThreadPool = Pool
            wrap = salt.utils.reactor.ReactWrap(opts)
            cache = wrap.client_cache
            cache.clear()
            cache["local"], cache["caller"] = Local(), Caller()
            cache["runner"] = OnMaster("runner", salt.runner.RunnerClient(opts))
            cache["wheel"] = OnMaster("wheel", salt.wheel.Wheel(opts))
            reactor.wrap = wrap
            data = dict(case["data"])
            names = reactor.list_reactors(case["tag"])
            chunks = reactor.reactions(case["tag"], data, names)
            reactor.call_reactions(chunks)
            out[case["name"]] = list(calls)
        finally:
            shutil.rmtree(root)
    text = json.dumps(out, indent=1, sort_keys=True)
    with open(os.path.join(HERE, "salt.json"), "w", encoding="utf-8") as f:
        f.write(text.replace("\t", " ") + "\n")
    print(len(out), "cases")


if __name__ == "__main__":
    sys.exit(main())
