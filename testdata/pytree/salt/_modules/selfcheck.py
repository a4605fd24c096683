"""Calls what the tree has."""
import os

CALLS = [
    ("programs.path", ["no-such-program"]), ("programs.known", ["sh", "no-such-program"]),
    ("hostinfo.parse", []), ("hostinfo.summary", []),
    ("pkgpin.newest", [["1.9", "1.10", "1.2"]]), ("pkgpin.matches", [">=1.5", ["1.2", "1.6", "1.7"]]), ("pkgpin.compare", ["1.0", "1.0.1"]), ("pkgpin.never", []),
    ("tmpl.text", ["ada"]), ("tmpl.data", ["n"]), ("tmpl.shown", [{"a": [1]}]), ("tmpl.dumped", [{"a": [1]}]),
    ("secretish.write", ["k", {"v": 1}]), ("secretish.read", ["k"]), ("secretish.forget", ["k"]), ("secretish.read", ["k", "gone"]), ("secretish.read", ["k"]),
    ("secretish.levels", []), ("oldstyle.numbers", [2]), ("oldstyle.keys", [{"b": 1, "a": 2}]), ("oldstyle.host", ["https://example.com/x"]), ("oldstyle.quiet", []),
    ("netinfo.check", ["10.0.0.7"]), ("difftool.nested", []), ("difftool.flat", []), ("difftool.split", ["cmd.run(ls -l, shell=sh, timeout=5)"]),
    ("difftool.caller", []), ("difftool.wrapped", []), ("api.get", ["/"]), ("kvfile.get", ["relative", "a"]),
]


def run(directory):
    """Return what each function returns, or raises."""
    path = os.path.join(directory, "kv.json")
    with open(os.path.join(directory, "resolv.conf"), "w") as handle:
        handle.write("# a comment\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n")
    more = [
        ("kvfile.set", [path, "a", 1]), ("kvfile.set", [path, "a", 1]), ("kvfile.get", [path, "a"]), ("kvfile.list", [path]), ("kvfile.rm", [path, "a"]),
        ("netinfo.resolver", [os.path.join(directory, "resolv.conf")]),
    ]
    out = []
    for name, args in CALLS + more:
        if name not in __salt__:
            out.append([name, "is not there"])
            continue
        try:
            out.append([name, __salt__[name](*args)])
        except Exception as exc:  # whatever it is
            out.append([name, "{}: {}".format(type(exc).__name__, exc)])
    out.append(["grains", __grains__.get("role"), __grains__.get("answer")])
    out.append(["pillar", __pillar__.get("derived")])
    out.append(["utils", __utils__["naming.slug"]("A Name")])
    return out
