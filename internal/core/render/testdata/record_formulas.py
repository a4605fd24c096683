#!/usr/bin/python3
"""Records formulas/expected.json: what Jinja2 3.1.2 and PyYAML make of the SLS
below formulas/salt on the machines of formulas/machines.json, with the
functions, tags and filters of Salt 3006 that they use written out here.

Run with a Python that has both: /usr/bin/python3 record_formulas.py
"""
import collections
import copy
import fnmatch
import json
import os
import re

import jinja2
import jinja2.ext
import jinja2.sandbox
import yaml
from jinja2 import nodes
from markupsafe import Markup

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "formulas")
ROOT = os.path.join(HERE, "salt")


class Loader(yaml.SafeLoader):
    """SafeLoader with the changes of Salt's."""

    def construct_int(self, node):
        if node.value != "0" and node.value.startswith("0") and not node.value.startswith(("0b", "0x")):
            node.value = node.value.lstrip("0") or "0"
        return self.construct_yaml_int(node)


Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_int)
Loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)


def load(text):
    return yaml.load(text, Loader)


class Dumper(yaml.SafeDumper):
    pass


for kind in (collections.OrderedDict,):
    Dumper.add_representer(kind, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", list(v.items())))
Dumper.add_representer(jinja2.runtime.Undefined, lambda d, v: d.represent_scalar("tag:yaml.org,2002:null", "NULL"))


def format_yaml(value, flow_style=True):
    text = yaml.dump(value, Dumper=Dumper, default_flow_style=flow_style, allow_unicode=True).strip()
    if text.endswith("\n..."):
        text = text[:-4]
    return Markup(text)


def format_json(value, sort_keys=True, indent=None):
    return Markup(json.dumps(value, default=str, ensure_ascii=False, sort_keys=sort_keys, indent=indent).strip())


def traverse(data, key, default=None, delimiter=":"):
    at = data
    for part in key.split(delimiter):
        if isinstance(at, list):
            try:
                at = at[int(part)]
            except (ValueError, IndexError):
                found = [x for x in at if isinstance(x, dict) and part in x]
                if not found:
                    return default
                at = found[0][part]
        elif isinstance(at, dict):
            if part not in at:
                return default
            at = at[part]
        else:
            return default
    return at


def update(dest, upd, merge_lists=False):
    for k, v in upd.items():
        old = dest.get(k)
        if isinstance(old, dict) and isinstance(v, dict):
            dest[k] = update(old, v, merge_lists)
        elif isinstance(old, list) and isinstance(v, list) and merge_lists:
            dest[k] = old + [x for x in v if x not in old]
        else:
            dest[k] = v
    return dest


def aggregate(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return {k: aggregate(a[k], v) if k in a else v for k, v in b.items()}
    return copy.copy(b)


def merge(a, b, strategy="smart", renderer="yaml", merge_lists=False):
    if strategy == "smart":
        strategy = "recurse"
    if strategy == "recurse":
        return update(copy.deepcopy(a), b, merge_lists)
    if strategy == "overwrite":
        a = dict(a)
        a.update(b)
        return a
    if strategy == "aggregate":
        return aggregate(a, b)
    raise ValueError(strategy)


def regex_replace(txt, rgx, val, ignorecase=False, multiline=False):
    flag = (re.I if ignorecase else 0) | (re.M if multiline else 0)
    return re.compile(rgx, flag).sub(val, txt)


class Serializer(jinja2.ext.Extension):
    tags = {"load_yaml", "load_json", "load_text", "import_yaml", "import_json", "import_text"}

    def parse(self, parser):
        tok = parser.stream.current
        kind = tok.value.split("_")[1]
        if tok.value.startswith("import"):
            node = parser.parse_import()
            body = nodes.Filter(nodes.Name(node.target, "load"), "load_" + kind, [], [], None, None)
            return [node, nodes.Assign(nodes.Name(node.target, "store"), body).set_lineno(tok.lineno)]
        next(parser.stream)
        parser.stream.expect("name:as")
        target = parser.parse_assign_target()
        body = parser.parse_statements(("name:endload",), drop_needle=True)
        return nodes.AssignBlock(target, nodes.Filter(None, "load_" + kind, [], [], None, None), body).set_lineno(tok.lineno)


class Files(jinja2.BaseLoader):
    """Finds templates below the root; those that begin with ./ from the
    directory of the SLS, as Salt does."""

    def __init__(self, base):
        self.base = base

    def get_source(self, environment, template):
        if template.startswith("./"):
            template = os.path.normpath(os.path.join(self.base, template))
        path = os.path.join(ROOT, template)
        if not os.path.exists(path):
            raise jinja2.TemplateNotFound(template)
        environment.globals.update(
            tplfile=template, tpldir=os.path.dirname(template) or ".", tpldot=os.path.dirname(template).replace("/", "."))
        with open(path) as f:
            return f.read(), path, None


def machine(name, spec):
    grains, pillar, opts = spec["grains"], spec["pillar"], spec["opts"]

    def config_get(key, default="", delimiter=":", merge=None):
        if merge:
            out = {}
            for source in (pillar, grains, opts):
                v = traverse(source, key, None, delimiter)
                if isinstance(v, dict):
                    update(out, copy.deepcopy(v))
                elif v is not None:
                    out = v
            return out if out else default
        missing = object()
        for source in (opts, grains, pillar):
            v = traverse(source, key, missing, delimiter)
            if v is not missing:
                return copy.deepcopy(v)
        return default

    def filter_by(lookup, grain="os_family", merge=None, default="default", base=None):
        ret = None
        have = traverse(grains, grain)
        for each in have if isinstance(have, list) else [have]:
            for key in lookup:
                if fnmatch.fnmatchcase(str(each), str(key)):
                    ret = lookup[key]
                    break
            if ret is not None:
                break
        if ret is None:
            ret = lookup.get(default)
        if merge:
            if ret is None:
                ret = merge
            else:
                update(ret, copy.deepcopy(merge))
        return ret

    class Module(dict):
        __getattr__ = dict.__getitem__

    flat = {
        "config.get": config_get,
        "grains.filter_by": filter_by,
        "grains.get": lambda key, default="", delimiter=":": traverse(grains, key, default, delimiter),
        "pillar.get": lambda key, default="", delimiter=":": traverse(pillar, key, default, delimiter),
        "slsutil.merge": merge,
        "log.debug": lambda *a: True,
    }
    salt = Module(flat)
    for full, fn in flat.items():
        mod, fun = full.split(".")
        salt.setdefault(mod, Module())[fun] = fn
    return grains, pillar, opts, salt


def render(path, sls, parts, extra=None):
    grains, pillar, opts, salt = parts
    tpldir = os.path.dirname(path) or "."
    env = jinja2.sandbox.SandboxedEnvironment(
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", Serializer],
        undefined=jinja2.StrictUndefined, loader=Files(tpldir))
    env.filters.update(
        load_yaml=lambda t: load(str(t)), load_json=lambda t: json.loads(str(t)), load_text=str,
        yaml=format_yaml, json=format_json, traverse=traverse, regex_replace=regex_replace,
        yaml_dquote=lambda t: Markup(json.dumps(t)), yaml_squote=lambda t: Markup("'" + t.replace("'", "''") + "'"),
        yaml_encode=lambda v: Markup(json.dumps(v)),
        to_bool=lambda v: v.lower() in ("yes", "1", "true") if isinstance(v, str) else bool(v),
        unique=lambda v: list(dict.fromkeys(v)))
    slspath = tpldir
    ctx = dict(
        grains=grains, pillar=pillar, opts=opts, salt=salt, sls=sls, saltenv="base", env="base", proxy={},
        tplpath=path, tplfile=path, tpldir=tpldir, tpldot=tpldir.replace("/", "."), tplroot=tpldir.split("/")[0],
        slspath=slspath, slsdotpath=slspath.replace("/", "."), slscolonpath=slspath.replace("/", ":"),
        sls_path=slspath.replace("/", "_"))
    ctx.update(extra or {})
    env.globals.update(ctx)
    with open(os.path.join(ROOT, path)) as f:
        text = f.read()
    out = env.from_string(text).render(**ctx)
    return out + "\n" if text.endswith("\n") else out


def main():
    with open(os.path.join(HERE, "machines.json")) as f:
        machines = json.load(f)
    out = {}
    for name, spec in machines.items():
        at = out[name] = {}
        for folder, _, files in sorted(os.walk(ROOT)):
            for file in sorted(files):
                path = os.path.relpath(os.path.join(folder, file), ROOT)
                if not path.endswith(".sls"):
                    continue
                sls = path[:-4].removesuffix("/init").replace("/", ".")
                text = render(path, sls, machine(name, copy.deepcopy(spec)))
                at[sls] = {"text": text, "data": load(text)}
        data = at["webd.config.file"]["data"]
        args = {k: v for a in data["webd-config-file-managed"]["file.managed"] for k, v in a.items()}
        path = args["source"].removeprefix("salt://")
        text = render(path, "", machine(name, copy.deepcopy(spec)), dict(args["context"], source=args["source"]))
        at["webd.conf"] = {"text": text, "data": None}
    with open(os.path.join(HERE, "expected.json"), "w") as f:
        json.dump(out, f, indent=1, default=str)
        f.write("\n")


main()
