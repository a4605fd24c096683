"""Record what Salt's serializers write and read: record.py SALT_TREE > serial.json

Needs Salt's source on PYTHONPATH, and python3-msgpack, python3-toml and
python3-yaml.
Bytes are written as {"b": hex}.
"""
import json
import sys

from salt.serializers import configparser, keyvalue, msgpack, plist, python, tomlmod, yamlex

MODULES = {"configparser": configparser, "keyvalue": keyvalue, "msgpack": msgpack, "plist": plist, "python": python, "toml": tomlmod, "yamlex": yamlex}


def plain(v):
    return {"b": v.hex()} if isinstance(v, bytes) else v


WRITE = [
    ("configparser", {"a": {"X": 1, "y": True, "z": "two\nlines"}, "DEFAULT": {"d": 0.5}}, {}),
    ("configparser", {"a": {"x": "1"}}, {"defaults": {"home": "/srv"}}),
    ("configparser", {"a": {"x": "%(home)s/x %% y"}}, {"defaults": {"home": "/srv"}}),
    ("configparser", {"a": {"x": "50% off"}}, {}),
    ("configparser", {"a": {"x": "50% off"}}, {"interpolation": None}),
    ("configparser", {"a": {"x": None}}, {}),
    ("configparser", {"a": {"x": None, "y": "z"}}, {"allow_no_value": True}),
    ("configparser", {"a": {"x": "1"}}, {"delimiters": [":"]}),
    ("configparser", {"a": 1}, {}),
    ("configparser", [1], {}),
    ("configparser", {}, {}),
    ("keyvalue", {"a": 1, "b": "x y", "c": None}, {}),
    ("keyvalue", [["a", "b"], ["c", "d e"]], {"separator": ": ", "line_ending": "\r\n"}),
    ("keyvalue", {"a": "x y", "b": ""}, {"quoting": True}),
    ("keyvalue", {"a": 1}, {"quoting": True}),
    ("keyvalue", [["a"]], {}),
    ("keyvalue", [["a", "b", "c"]], {}),
    ("keyvalue", "text", {}),
    ("msgpack", {"a": [1, -1, 127, 128, 255, 256, 65536, 4294967296, -33, -129, -40000, -3000000000]}, {}),
    ("msgpack", [None, True, False, 1.5, "", "é" * 20, "x" * 300], {}),
    ("msgpack", {"k%d" % i: i for i in range(20)}, {}),
    ("msgpack", 18446744073709551615, {}),
    ("msgpack", 18446744073709551616, {}),
    ("plist", {"b": 1, "a": [True, False, 1.5, "x<&>y", ""], "c": {}, "d": []}, {}),
    ("plist", {"b": 1, "a": 2}, {"sort_keys": False}),
    ("plist", {"a": None}, {}),
    ("plist", {"a": "\x01"}, {}),
    ("plist", "text", {}),
    ("plist", {"b": 1, "a": [True, False, 1.5, "é", "x" * 20, -1, 300, 70000, 5000000000], "c": {}, "d": [1, 1, "b"]}, {"fmt": "FMT_BINARY"}),
    ("plist", {"k%03d" % i: i for i in range(300)}, {"fmt": "FMT_BINARY"}),
    ("plist", 18446744073709551615, {"fmt": "FMT_BINARY"}),
    ("python", {"b": [1, 2], "a": "x" * 70, "c": {"d": None}}, {}),
    ("python", {"b": list(range(30))}, {"width": 40}),
    ("toml", {"b": 1, "a": ["x", None, True, 1.5], "n": None, "c": {"d": {"e": [1, [2, None]]}, "n": None}, "t": [{"a": 1}, {"b": None}]}, {}),
    ("toml", {"t": [{"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": [{"g": 1}]}, {"h": [{"i": 1}]}], "x": {"y": {"z": {}}, "w": [{"v": {"u": 1}}]}}, {}),
    ("toml", {"a": {"b": 1}, "c": {"d": 2, "e": {"f": 3}}, "g": {"h": 4}, "i": []}, {}),
    ("toml", {}, {}),
    ("toml", {"a b": "x\"y\n", "é": "ü"}, {}),
    ("yamlex", {"b": 1, "a": [1, {"c": None}]}, {}),
]

READ = [
    ("configparser", "[DEFAULT]\nhome = /srv\n[a]\nX: 1\n# c\ny = one\n  two\n\n  three\nz=%(home)s/z %%\n", {}),
    ("configparser", "[a]\nx = %(nope)s\n", {}),
    ("configparser", "[a]\nx = %(nope)s\n", {"defaults": {"nope": "n"}}),
    ("configparser", "[a]\nx = 50%\n", {}),
    ("configparser", "[a]\nx = %(y\n", {}),
    ("configparser", "[a]\nx = %(x)s\n", {}),
    ("configparser", "[a]\nx = 50%\n", {"interpolation": None}),
    ("configparser", "x = 1\n", {}),
    ("configparser", "[a]\nx\n", {}),
    ("configparser", "[a]\nx\n", {"allow_no_value": True}),
    ("configparser", "[a]\nx=1\nx=2\n", {}),
    ("configparser", "[a]\nx=1\nx=2\n", {"strict": False}),
    ("configparser", "[a]\nx=1\n[a]\ny=2\n", {}),
    ("configparser", "[a]\nx=1 ; c\ny=2;3\n", {"inline_comment_prefixes": [";"]}),
    ("configparser", "[a] tail\n[b]c]\n=1\n", {}),
    ("configparser", "", {}),
    ("keyvalue", "a=1\nb=x=y\n", {}),
    ("keyvalue", "a\n", {}),
    ("keyvalue", "a='x'\nb=\"y\"\nc='\n", {"quoting": False}),
    ("msgpack", {"b": "85a161c0a162c3a1630fa164cb3ff8000000000000a16592a178c40179"}, {}),
    ("msgpack", {"b": "81a13101"}, {}),
    ("msgpack", {"b": "c0c0"}, {}),
    ("yamlex", "a: !aggregate x\na: !aggregate [y]\nb: 1\n", {}),
]


def unplain(v):
    return bytes.fromhex(v["b"]) if isinstance(v, dict) and "b" in v and len(v) == 1 else v


def record(call, args, options):
    try:
        return {"out": plain(call(args, **options))}
    except Exception as exc:
        return {"error": str(exc)}


def deep(v):
    if isinstance(v, dict):
        return {k: deep(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [deep(x) for x in v]
    return plain(v)


out = {"write": [], "read": []}
for name, data, options in WRITE:
    out["write"].append({"format": name, "data": data, "options": dict(options), **record(MODULES[name].serialize, data, dict(options))})
for name, text, options in READ:
    r = record(MODULES[name].deserialize, unplain(text), dict(options))
    out["read"].append({"format": name, "text": text, "options": dict(options), **deep(r)})
json.dump(out, sys.stdout, indent=1)
