"""Runs a master of Salt with its reactor, and a minion that sends events to it by event.send, and
notes which jobs, runner and wheel functions each event leads to. It reads master_cases.json,
and writes the events and what was called to master_salt.json.

PYTHONPATH=SALT:STUBS python3 -W ignore master.py SALT/scripts DIRECTORY [NAME...]

With names, only these events are sent, and the recordings of the others stay.
"""
import json
import os
import subprocess
import sys
import time

import salt.config
import salt.utils.event

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = float(os.environ.get("QUIET", "6"))  # seconds between an event and the start of the next sender


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def call_of(tag, data, root):
    """The call that an event tells of, in the form of salt.json."""
    parts = tag.split("/")
    if parts[0] != "salt" or parts[-1] != "new" or parts[1] not in ("job", "run", "wheel"):
        return None
    args, kwarg = [], {}
    for a in data.get("arg", data.get("fun_args", [])):
        if isinstance(a, dict) and a.pop("__kwarg__", False):
            kwarg.update(a)
        elif parts[1] != "job" and isinstance(a, dict):
            kwarg.update(a)
        else:
            args.append(a)
    kind = {"job": "local", "run": "runner", "wheel": "wheel"}[parts[1]]
    fun = data["fun"][len(kind) + 1:] if data["fun"].startswith(kind + ".") else data["fun"]
    if kind == "wheel" and args:  # its events have arguments by their place
        kwarg["match"] = args.pop(0)
    out = {"kind": kind, "fun": fun, "arg": args, "kwarg": {k: v for k, v in kwarg.items() if not k.startswith("__")}, "user": data["user"]}
    if kind == "local":
        out.update(tgt=data["tgt"], tgt_type=data["tgt_type"])
    return json.loads(json.dumps(out).replace(root, "/ROOT"))


def main():
    scripts, root, names = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
    with open(os.path.join(HERE, "master_cases.json"), encoding="utf-8") as f:
        cases = json.load(f)
    for path, text in cases["files"].items():
        write(os.path.join(root, "salt", path), text.replace("/ROOT", root))
    common = {"root_dir": root, "user": "root", "log_level_logfile": "warning"}
    write(root + "/conf/master", json.dumps(dict(
        common, interface="127.0.0.1", publish_port=24505, ret_port=24506, auto_accept=True, worker_threads=3, id="ctl", file_client="local",  # for caller
        file_roots={"base": [root + "/salt"]}, reactor=json.loads(json.dumps(cases["reactor"]).replace("/ROOT", root)))))
    write(root + "/conf/minion", json.dumps(dict(common, id="web1", master="127.0.0.1", master_port=24506, publish_port=24505, grains_cache=True)))
    run = lambda name, *args: [sys.executable, "-W", "ignore", os.path.join(scripts, name), "-c", root + "/conf", *args]
    started = [subprocess.Popen(run("salt-master"), start_new_session=True)]
    try:
        bus = salt.utils.event.get_event("master", opts=salt.config.master_config(root + "/conf/master"), listen=True)
        started.append(subprocess.Popen(run("salt-minion"), start_new_session=True))
        for end in (time.time() + 300,):
            while time.time() < end:
                e = bus.get_event(wait=5, full=True, tag="salt/minion/web1/start")
                if e:
                    break
            else:
                raise SystemExit("the minion does not start")
        out, calls = {}, []  # calls that come late are those of the event before
        noted = root + "/noted"
        for case in [c for c in cases["events"] if not names or c["name"] in names] + [{"tag": "end", "data": {}, "name": None}]:
            sender = subprocess.Popen(run("salt-call", "event.send", case["tag"], json.dumps(case["data"]), "--out=quiet"))
            event, quiet = None, time.time() + 120
            while time.time() < quiet:
                e = bus.get_event(wait=1, full=True)
                if event is None and os.path.exists(noted):
                    with open(noted, encoding="utf-8") as f:
                        calls.append({"kind": "caller", "fun": "file.write", "text": f.read().strip()})
                    os.remove(noted)
                if not e:
                    continue
                if e["tag"] == case["tag"]:
                    event = json.loads(json.dumps(e["data"], default=str))
                    event.pop("_stamp", None)
                    calls = []
                    if case["name"]:
                        out[case["name"]] = {"data": event, "calls": calls}
                    quiet = time.time() + QUIET
                call = call_of(e["tag"], e["data"], root)
                if call and call["fun"] != "saltutil.find_job":
                    calls.append(call)
            sender.wait()
            if event is None:
                raise SystemExit(case["tag"] + ": the event did not come")
            print(case["name"], len(calls), flush=True)
    finally:
        for p in started:
            p.terminate()
        for p in started:
            try:
                p.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
    if names:
        with open(os.path.join(HERE, "master_salt.json"), encoding="utf-8") as f:
            out = dict(json.load(f), **out)
    write(os.path.join(HERE, "master_salt.json"), json.dumps(out, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
