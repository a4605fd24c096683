# Writes functions.txt.gz and the names of internal/core/absent: facts about Salt, from
# a checkout of Salt 3006 that is named on the command line.
import ast
import gzip
import os
import sys

HOOKS = {"mod_init", "mod_watch", "mod_aggregate", "mod_run_check", "mod_run_check_cmd", "mod_beacon"}


def modules(kind):
    root = os.path.join(sys.argv[1], "salt", kind)
    for entry in sorted(os.listdir(root)):
        path = os.path.join(root, entry)
        if os.path.isdir(path):
            path = os.path.join(path, "__init__.py")
        if entry == "__init__.py" or not path.endswith(".py") or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            yield entry.removesuffix(".py"), ast.parse(f.read())


def names(base, tree):
    """The names under which a module serves, and its functions."""
    virtual, alias = {base}, {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if getattr(target, "id", "") == "__virtualname__" and isinstance(node.value, ast.Constant):
                    virtual = {node.value.value}
                if getattr(target, "id", "") == "__func_alias__":
                    alias = ast.literal_eval(node.value)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__virtual__":
            found = {r.value.value for r in ast.walk(node) if isinstance(r, ast.Return) and isinstance(r.value, ast.Constant) and isinstance(r.value.value, str)}
            virtual = found if virtual == {base} and found else virtual | found
    functions, same = {}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            a = node.args
            args = [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs] + ["*"] * bool(a.vararg) + ["**"] * bool(a.kwarg)
            # What the state system passes by itself is nobody's argument.
            functions[alias.get(node.name, node.name)] = [x for x in args if x not in ("sfun", "__reqs__")]
            same[node.name] = alias.get(node.name, node.name)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                name = getattr(target, "id", "_")
                if name.startswith("_"):
                    continue
                if isinstance(node.value, ast.Call) and "alias_function" in ast.unparse(node.value.func):
                    functions[alias.get(name, name)] = functions.get(same.get(node.value.args[0].id), [])
                elif isinstance(node.value, ast.Name) and node.value.id in same:
                    functions[alias.get(name, name)] = functions[same[node.value.id]]
    return sorted(virtual), functions


here = os.path.dirname(os.path.abspath(__file__))

# "of KIND MODULE FILE", then a line for each function: its name and its arguments. Of
# modules that brine does not have, only those of states are there.
ours = {kind: {n.removesuffix(".md") for n in os.listdir(os.path.join(here, "../../../../docs/reference", folder))}
        for kind, folder in (("execution", "modules"), ("runner", "runners"), ("wheel", "wheel"))}
lines = []
for kind, folder in (("state", "states"), ("execution", "modules"), ("runner", "runners"), ("wheel", "wheel")):
    found = []
    for base, tree in modules(folder):
        virtual, functions = names(base, tree)
        found += [(v, base, functions) for v in virtual if kind == "state" or v in ours[kind]]
    for v, base, functions in sorted(found, key=lambda x: x[:2]):
        lines.append(f"of {kind} {v} {base}\n")
        lines += [" ".join([f, *args]) + "\n" for f, args in sorted(functions.items()) if kind != "state" or f not in HOOKS]
with open(os.path.join(here, "functions.txt.gz"), "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="", compresslevel=9) as out:
    out.write("".join(lines).encode())

# The modules of the kinds that have no functions, by the names that configuration has.
FOLDERS = {
    "renderer": "renderers", "pillar": "pillar", "sdb": "sdb", "roster": "roster", "returner": "returners", "outputter": "output",
    "grains": "grains", "top": "tops", "fileserver": "fileserver", "beacon": "beacons", "matcher": "matchers",
    "serializer": "serializers", "loghandler": "log_handlers", "executor": "executors", "cache": "cache", "engine": "engines",
    "thorium": "thorium", "queue": "queues", "auth": "auth", "token": "tokens", "netapi": "netapi", "proxy": "proxy",
}
absent = os.path.join(here, "..", "..", "..", "..", "internal", "core", "absent", "salt.txt")
with open(absent, "w", encoding="utf-8") as out:
    out.write("# Modules of Salt 3006 by kind, from cmd/internal/reference/salt/record.py.\n")
    for kind, folder in FOLDERS.items():
        found = set()
        for base, tree in modules(folder):
            virtual = [n.value.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__virtualname__" and isinstance(n.value, ast.Constant)]
            virtual = virtual or [base]
            if kind == "netapi":
                virtual = [base]  # its __virtualname__ is the name of the directory
            # Files of matchers are named TYPE_match.
            found.update(n.removesuffix("_match") for n in virtual)
        out.write(" ".join([kind, *sorted(found)]) + "\n")
