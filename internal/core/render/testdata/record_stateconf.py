"""Records what Salt's stateconf renderer makes of the cases in stateconf.json.

usage: record_stateconf.py stateconf.json

Salt 3006, Jinja2 and PyYAML must be importable. A case is a list of SLS files
that one run renders one after the other; their "want" is written anew: Python's
repr of the data, or the text of the error.
"""
import importlib
import io
import json
import sys

import jinja2
import yaml

import salt.renderers.stateconf as stateconf


def template(text, saltenv, sls, context, argline="", **kws):
    env = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)
    text = text if isinstance(text, str) else text.read()
    return io.StringIO(env.from_string(text).render({"sls": sls, "saltenv": saltenv, **context}))


def data(text, saltenv, sls, argline="", **kws):
    return yaml.safe_load(text.read()) or {}


def run(case):
    module = importlib.reload(stateconf)
    module.__opts__.update(case.get("opts", {}))
    module.__init__(module.__opts__)
    for f in case["files"]:
        source = f["text"]
        if "-p" in f["args"].split():
            source = yaml.safe_load(source)
        else:
            source = io.StringIO(source)
        try:
            out = module.render(
                source, "base", f["sls"], argline=f["args"],
                renderers={"jinja": template, "yaml": data, "json": data},
            )
            f["want"] = repr(out)
        except Exception as exc:
            f["want"] = "%s: %s" % (type(exc).__name__, exc)


def main(path):
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)
    for case in cases:
        run(case)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(cases, f, indent=1, ensure_ascii=False)
        f.write("\n")


main(sys.argv[1])
