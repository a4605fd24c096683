#!/usr/bin/python3
"""Record what Python's operators and formatting do: writes python-ops.json.

Run with Python 3.11. Values are written as JSON with tags: {"i": "1"} is an
int, {"f": "1.5"} a float, {"b": "00ff"} bytes, {"t": [...]} a tuple,
{"s": [...]} a set, {"d": [[k, v], ...]} a dict, {"r": [0, 5, 1]} a range; an
exception is {"e": ["TypeError", "text"]}.
"""
import json
import operator
import os
import random

random.seed(20240607)


def enc(v):
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, int):
        return {"i": str(v)}
    if isinstance(v, float):
        return {"f": repr(v)}
    if isinstance(v, bytes):
        return {"b": v.hex()}
    if isinstance(v, list):
        return [enc(x) for x in v]
    if isinstance(v, tuple):
        return {"t": [enc(x) for x in v]}
    if isinstance(v, (set, frozenset)):
        return {"s": [enc(x) for x in v]}
    if isinstance(v, dict):
        return {"d": [[enc(k), enc(x)] for k, x in v.items()]}
    if isinstance(v, range):
        return {"r": [v.start, v.stop, v.step]}
    raise TypeError(type(v))


cases = []
seen = set()


def rec(name, fn, *args):
    a = [enc(x) for x in args]
    key = name + json.dumps(a)
    if key in seen:
        return
    seen.add(key)
    try:
        out = fn(*args)
        if isinstance(out, complex) or isinstance(out, range) and abs(out.step) > 2**62:
            return
        out = enc(out)
    except MemoryError:
        return  # the bounds are ours
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, KeyError, IndexError, LookupError) as e:
        if "complex" in str(e) or "Exceeds" in str(e):
            return  # there are no complex numbers here, and another bound
        out = {"e": [type(e).__name__, str(e)]}
    cases.append([name, a, out])


ints = [0, 1, -1, 2, 7, -7, 10, 255, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**20, -(10**25)]
floats = [0.0, -0.0, 0.5, 1.5, -2.5, 3.14159, 1e16, 1e-5, 1e300, -1e-300, 123456789.125, float("inf"), float("-inf"), float("nan"), 2.675, 0.1]
others = ["", "a", "Zé", b"", b"ab", None, True, False, [], [1, "a"], [2], (), (1, 2), (3,), set(), {1, 2}, {2, 3}, {}, {"a": 1}, {"b": 2}, range(3), range(5, 1, -2)]
binary = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
          "%": operator.mod, "**": operator.pow,
          "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
          "in": lambda a, b: a in b}
for op, fn in binary.items():
    for a in ints + floats:
        for b in ints + floats:
            if random.random() > 0.1:
                continue
            if op == "**":
                try:
                    if abs(a) > 1 and abs(b) > 300 and isinstance(a, int) and isinstance(b, int):
                        continue
                except TypeError:
                    pass
            rec(op, fn, a, b)
    mixed = others + [3, -2, 2.5]
    for a in mixed:
        for b in mixed:
            if random.random() < 0.25:
                rec(op, fn, a, b)
for fn, name in [(operator.neg, "neg"), (operator.pos, "pos"), (abs, "abs"), (len, "len"), (list, "list"), (int, "int"), (float, "float"), (bool, "bool"), (str, "str"), (repr, "repr")]:
    for a in ints + floats + others:
        rec(name, fn, a)
for s in ["0", " 42 ", "-17", "+5", "1_000", "1__0", "_1", "1_", "0x1f", "0b11", "0o17", "١٢", "12a", "", " ", "-", "1.5", "9" * 40, "1e5", "٣.٥", "0_0", "00", "007", "\u20035\u2003", "½", "²", "z", "Z9"]:
    rec("int", int, s)
    rec("float", float, s)
    for base in (0, 2, 8, 10, 16, 36, 1, 37):
        rec("intbase", int, s, base)
for s in ["1.5", ".5", "5.", "-1e10", "1E-400", "1e400", "inf", "-Infinity", "nan", "NaN", "+nan", "1_0.0_1", "1._5", "_1.5", "0x1p3", "1e", "1e+", "infinit", " 3.5\n", "1 2", "--1", "1e5_0", "e5"]:
    rec("float", float, s)
    rec("int", int, s)
for f in floats + [round(random.uniform(-1e4, 1e4), 4) for _ in range(60)] + [25.0, 35.0, 0.15, 0.25, 1.005, 1e22, 15.5]:
    for n in (None, 0, 1, 2, 3, -1, -2, 10, 400, -400):
        rec("round", round, f, n)
for i in ints + [5, 15, 25, 149, 150, 250, -15, -25]:
    for n in (None, 0, 2, -1, -2, -30):
        rec("round", round, i, n)

# Subscripts and slices.
boxes = ["hello", "Zé日本", b"bytes", [0, 1, 2, 3, 4], (0, 1, 2), range(2, 20, 3), {"a": 1, 2: "b"}, {1, 2}, 5, None, ""]
for b in boxes:
    for k in [0, 1, -1, 4, 5, -5, -6, 10**30, True, None, "a", 1.5, 2, (1,), [1], {}]:
        rec("item", lambda x, y: x[y], b, k)
parts = [None, 0, 1, 2, 3, -1, -2, 7, -7, 10**20, -(10**20)]
steps = [None, 1, 2, -1, -2, 3, -10, 10**20]
for b in boxes[:6]:
    for _ in range(60):
        lo, hi, st = random.choice(parts), random.choice(parts), random.choice(steps)
        rec("slice", lambda x, a, c, d: x[a:c:d], b, lo, hi, st)
for b in boxes:
    rec("slice", lambda x, a, c, d: x[a:c:d], b, 1, 2, 0)
    rec("slice", lambda x, a, c, d: x[a:c:d], b, "a", 2, 1)

# repr of floats and text.
for _ in range(250):
    f = random.choice([random.uniform(-1, 1), random.uniform(-1e10, 1e10), random.random() * 10 ** random.randint(-320, 308), float(random.randint(0, 10**18)), round(random.uniform(0, 100), random.randint(0, 6))])
    rec("repr", repr, f)
chars = "ab'\"\\\n\t\r\x00\x1f\x7f\x80\x85\xa0\xadéß\u0300\u200b\u2028\ufeff日\U0001f600\ue000\U000e0001 "
for _ in range(200):
    rec("repr", repr, "".join(random.choice(chars) for _ in range(random.randint(0, 8))))
for _ in range(60):
    rec("repr", repr, bytes(random.choice([39, 34, 92, 10, 9, 13, 0, 65, 127, 128, 255]) for _ in range(random.randint(0, 6))))

# sorted
for _ in range(120):
    pool = random.choice([[3, 1, 2, 2.5, True, 10**20, -1.0], ["b", "A", "a", "é", ""], [(1, "a"), (1, "b"), (0,)], [1, "a", None, 2, [1]], [[2], [1, 2], []]])
    rec("sorted", lambda x, r: sorted(x, reverse=r), [random.choice(pool) for _ in range(random.randint(0, 12))], random.choice([True, False]))
rec("sorted", lambda x, r: sorted(x, reverse=r), [random.randint(0, 50) for _ in range(200)], True)

# printf-style
verbs = "sraduioxXeEfFgGc%yb"
for _ in range(900):
    spec = "%" + "".join(random.choice("-+ #0") for _ in range(random.choice([0, 0, 0, 1, 2])))
    spec += random.choice(["", "", "", "5", "10", "1", "20"]) + random.choice(["", "", "", ".0", ".2", ".5", ".", ".10"]) + random.choice(["", "", "l", "h"])
    spec += random.choice(verbs if random.random() < 0.3 else "sdxfge")
    arg = random.choice([random.choice(ints), random.choice(floats), random.choice(others[:12]), "text", -5, 42, 1.5])
    fmt = random.choice(["", "x", "é"]) + spec + random.choice(["", "|"])
    rec("%", operator.mod, fmt, random.choice([arg, (arg,), (arg,)]))
for f, a in [("%(a)s-%(b)d", {"a": 1, "b": 2.9}), ("%(a)s", {}), ("%(a)s", {"b": 1}), ("%(a(b)c)s", {"a(b)c": 3}), ("%(a", {"a": 1}), ("%s %s", ("a",)), ("%s", ("a", "b")), ("%", ()),
             ("100%%", ()), ("%d%%", 5), ("%*d|%-*d|", (5, 1, 4, 2)), ("%.*f", (2, 3.14159)), ("%*d", ("x", 1)), ("%.*f", (-3, 1.5)), ("%(a)s %(a)r", {"a": "é\n"}), ("x", {}), ("x", []), ("x", "y"), ("x", 1),
             ("%s", [1, 2]), ("%s", {"a": 1}), ("%s %s", [1, 2]), ("%(x)*d", {"x": 1}), ("%c%c", (65, "b")), ("%c", 1114112), ("%c", "ab"), ("%c", ""), ("%c", 1.5), ("%i", True), ("%5s|%-5s|%.2s", ("é", "日本", "日本語")),
             ("%s", ((),)), ("%s", ()), ("%99999999999d", 1), ("%.99999999999f", 1.5), ("%d", "3"), ("%x", "3"), ("%x", 1.0), ("%f", None), ("%d", None), ("%d", 1e30), ("%d", -1.9), ("%o", -9), ("%#x", -255), ("%010.4f", -3.14159), ("%+.1e", 12345.678), ("%G", 1e-10), ("%#g", 1.0), ("%g", 100000.0), ("%g", 1000000.0), ("%g", 0.0001), ("%g", 0.00001), ("%s%%%s", (1, 2)), ("%-08d|", 5), ("% d", 5), ("%+ d", 5), ("% s", "a"), ("%05s", "a"), ("%b", 1), (b"%s %d".decode(), ("a", 1))]:
    rec("%", operator.mod, f, a)

# format()
types = ["", "", "s", "d", "b", "o", "x", "X", "c", "n", "e", "E", "f", "F", "g", "G", "%", "z", "k", "é"]
for _ in range(1400):
    spec = random.choice(["", "", "", "<", ">", "^", "=", "*<", "é^", "0>", "x=", " >"])
    spec += random.choice(["", "", "", "+", "-", " "]) + random.choice(["", "", "", "", "z"]) + random.choice(["", "", "", "#"]) + random.choice(["", "", "0"])
    spec += random.choice(["", "", "1", "8", "15", "30"]) + random.choice(["", "", "", ",", "_"]) + random.choice(["", "", "", ".0", ".1", ".3", ".12", "."])
    spec += random.choice(types) if random.random() < 0.7 else ""
    arg = random.choice([random.choice(ints), random.choice(ints), random.choice(floats), random.choice(floats), "text", "日本", "", True, False, None, [1], (1,), {"a": 1}, b"x", 1234567, 1234567.891, 0.000123])
    rec("format", format, arg, spec)
for a, s in [(1, ",,"), (1, ",_"), (1, "_,"), (1, "__"), (1, "5x5"), (1, "99999999999999999999"), (1.5, ".99999999999999999999f"), ("a", "5d"), ("a", "=5"), (65, "c"), (1114112, "c"), (-1, "c"), (10**30, "e"), (10**400, "e"), (3.0, ".1"), (1e16, ""), (1e15, ""), (123456789.0, ".3"), (0.1, ".0%"), (float("nan"), "010"), (float("-inf"), "+010"), (1e100, ",.0f"), (1234.5, "012,"), (-1234.5, "012,.1f"), (255, "#_b"), (12345, "+,"), (0, "#x"), (-0.0, "z.1f"), (-0.001, "z.1f"), (0.5, "n"), (1000, "n"), ("abc", ".2"), ("abc", "^7.2"), ("abc", "05"), (5, "<05"), (5, "^05"), ("a", "\u00e9<3")]:
    rec("format", format, a, s)

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python-ops.json")
with open(out, "w") as f:
    f.write("[\n")
    f.write(",\n".join(json.dumps(c, ensure_ascii=True, separators=(",", ":")) for c in cases))
    f.write("\n]\n")
print(len(cases), "cases,", os.path.getsize(out), "bytes")
