#!/usr/bin/python3
"""Records oracle-salt.json: what Salt's own filters give. Salt itself is not
needed: expected values are computed with what Salt calls (re, hashlib, base64,
uuid, shlex, itertools, random, json, posixpath, ipaddress, pprint), or are the
examples of Salt's documentation.

Run with Python 3.11: /usr/bin/python3 record_salt.py
"""
import base64
import collections
import hashlib
import hmac
import ipaddress
import itertools
import json
import os
import posixpath
import pprint
import random
import re
import shlex
import uuid

CASES = []


def want(expr, value):
    CASES.append({"t": "{{ (" + expr + ")|repr }}", "o": repr(value)})


def fails(expr, typ, msg):
    CASES.append({"t": "{{ (" + expr + ")|repr }}", "e": [typ, msg]})


def prints(text, out):
    CASES.append({"t": text, "o": out})


def q(s):
    return json.dumps(s, ensure_ascii=True).replace("\\u2028", "\\u2028")


# Text
for s in ["a b", "plain", "it's", "", "a/b=c:d@e%f+g,h.i-j_k", "$x", "é", "a\nb", "'", "~x", "a*b"]:
    want(f"{q(s)}|quote", shlex.quote(s))
for s in ["a.b*c", "https://example.com?foo=bar%20baz", "é_-#& ~", "", "a\nb\tc", "[x]{1,2}^$|()\\"]:
    want(f"{q(s)}|regex_escape", re.escape(s))
RX = [("abcd", r"^(.*)BC(.*)$", re.I), ("abcdefabcdef", r"BC(.*)", re.I), ("abcdefabcdef", r"BC(.*)", 0), ("web12", r"([a-z]+)([0-9]+)", 0), ("a-web12", r"([a-z]+)([0-9]+)", 0),
      ("foo bar", r"(?P<x>\w+) (?P<y>\w+)", 0), ("aXb", r"(?<=a)X(?=b)", 0), ("abab", r"(ab)\1", 0), ("abc", r"(x)?abc", 0), ("a\nb", r"^b", re.M), ("a\nb", r"^b", 0), ("a\nb$", r"a$", 0),
      ("Straße", r"(\w+)", 0), ("日本語", r"(.)(.)", 0), ("abc", r"(?i)(B)", 0), ("k=v", r"(?P<k>.)=(?P<v>.)", 0), ("aaa", r"a{2}", 0), ("1.2.3", r"(\d+)\.(\d+)", 0), ("x", r"[^\W\d_]", 0), ("foo.bar", r"\Afoo\.bar\Z", 0),
      ("foobar", r"foo(?!baz)(.*)", 0), ("tel 555-1234", r"(\d{3})-(\d{4})", 0), ("a,b;c", r"[,;]", 0), ("abc", r"(?:a)(b)(?P<c>c)", 0)]
for text, rx, fl in RX:
    kw = (", ignorecase=true" if fl & re.I else "") + (", multiline=true" if fl & re.M else "")
    m = re.search(rx, text, fl)
    want(f"{q(text)}|regex_search({q(rx)}{kw})", m.groups() if m else None)
    m = re.match(rx, text, fl)
    want(f"{q(text)}|regex_match({q(rx)}{kw})", m.groups() if m else None)
    want(f"{q(text)} is match({q(rx)}{kw})", bool(m))
SUBS = [("yes, this is a TEST", r" ([a-z])", r"__\1", re.I), ("lets replace spaces", r"\s+", "__", 0), ("web12", r"([a-z]+)([0-9]+)", r"\2-\1", 0), ("abc", r"(?P<x>b)", r"[\g<x>]", 0), ("aaa", "", "-", 0),
        ("a1b2", r"\d", r"\g<0>\g<0>", 0), ("x\ny", r"^", "> ", re.M), ("abc", r"z", "q", 0), ("a.b", r"\.", r"\\", 0), ("aXbX", r"(?<!a)X", "Y", 0), ("tab", "b", r"\n", 0), ("x*", r"x*", "-", 0), ("baac", r"x*", "-", 0), ("日本", r"(.)", r"\1 ", 0)]
for text, rx, repl, fl in SUBS:
    kw = (", ignorecase=true" if fl & re.I else "") + (", multiline=true" if fl & re.M else "")
    want(f"{q(text)}|regex_replace({q(rx)}, {q(repl)}{kw})", re.sub(rx, repl, text, flags=fl))
fails("'http://127.0.0.1'|http_query(method='GET')", "RuntimeError", None)
fails("nope|http_query", "UndefinedError", "'nope' is undefined")
fails("5|regex_search('a')", "TypeError", "expected string or bytes-like object, got 'int'")
fails("'a'|regex_match('(')", "re.error", None)
fails("'a'|regex_search", "TypeError", "regex_search() missing 1 required positional argument: 'rgx'")
fails("nope|regex_search('a')", "UndefinedError", "'nope' is undefined")
NS = uuid.UUID("91633EBF-1C86-5E33-935A-28061F4B480E")
for s in ["example", "random", "", "é", "a b"]:
    want(f"{q(s)}|uuid", str(uuid.uuid5(NS, s)))
    for h in ("md5", "sha1", "sha256", "sha512"):
        want(f"{q(s)}|{h}", hashlib.new(h, s.encode()).hexdigest())
    want(f"{q(s)}|base64_encode", base64.b64encode(s.encode()).decode())
    want(f"{q(base64.b64encode(s.encode()).decode())}|base64_decode", s)
    want(f"{q(s)}|hmac_compute('k')", hmac.new(b"k", s.encode(), hashlib.sha256).hexdigest())
    want(f"{q(s)}|to_bytes", s.encode())
want("'3652b285-26ad-588e-a5dc-c2ee65edc804' == ('random'|uuid)", True)
want("'get salted'|hmac('shared secret', 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ=')", True)
want("'get salted'|hmac('shared secret', 'x')", False)
for s in ["Z2V0IHNhbHRlZA==", "YQ==\n", "Y Q = =", "//79", "YWJj=", "!YQ==", "YWJjZA==xyz"]:
    raw = base64.b64decode(s)
    try:
        raw = raw.decode()
    except UnicodeDecodeError:
        pass
    want(f"{q(s)}|base64_decode", raw)
fails("'YQ'|base64_decode", "Error", "Incorrect padding")
fails("'Y'|base64_decode", "Error", "Invalid base64-encoded string: number of data characters (1) cannot be 1 more than a multiple of 4")
for f in ("md5", "uuid", "base64_encode", "to_bytes"):
    fails(f"5|{f}", "TypeError", "expected str, bytes, or bytearray not <class 'int'>")
    fails(f"nope|{f}", "UndefinedError", "'nope' is undefined")
want("5|random_hash|length", 32)
want("5|random_hash('sha512')|length", 128)
want("5|rand_str|length", 32)
fails("5|random_hash('nope')", "AttributeError", "module 'hashlib' has no attribute 'nope'")
want("8|random_str|length", 8)
for v, out in [("'5'", 5), ("'5.5'", 5.5), ("'x'", "x"), ("' 7 '", 7), ("5.9", 5), ("'1e3'", 1000.0), ("''", ""), ("true", 1)]:
    want(f"{v}|to_num", out)
    want(f"{v}|str_to_num", out)
fails("none|to_num", "TypeError", "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
for v, out in [("'0xabcd'", True), ("'xyzt'", False), ("'ff'", True), ("15", False), ("''", False), ("none", False), ("' 1f '", True)]:
    want(f"{v}|is_hex", out)
for v, out in [("'abcd'", False), ("'ab cd'", True), ("''", False), ("'a\\n'", True), ("'a\\u2003'", True)]:
    want(f"{v}|contains_whitespace", out)
for v, kw, out in [("'web1'", "whitelist=['web*']", True), ("'web1'", "whitelist='db*'", False), ("'web1'", "blacklist=['web[0-9]']", False), ("'web1'", "whitelist=['web.'], blacklist=['db']", True), ("'web1'", "['web1'], ['w.*1']", False), ("'a'", "", True), ("'abc'", "whitelist=['a.c']", True), ("'abcd'", "whitelist=['a.c']", False), ("'a'", "whitelist=[], blacklist=[]", True), ("'a'", "blacklist=['(']", True)]:
    want(f"{v}|check_whitelist_blacklist({kw})", out)
fails("'a'|check_whitelist_blacklist(5)", "TypeError", "Expecting iterable whitelist, but got int (5)")
for s in ["camelsWillLoveThis", "CamelCase", "HTTPServer", "getHTTPResponse2XX", "already_snake", "A", "aB", "ABCd", "FooBarBaz", "x1Y2Z", "foo bar", ""]:
    r = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", s)).lower()
    want(f"{q(s)}|to_snake_case", r)
for s in ["snake_case_for_the_win", "a", "", "_x", "foo_BAR", "a__b"]:
    w = s.split("_")
    want(f"{q(s)}|to_camelcase", w[0] + "".join(x.capitalize() for x in w[1:]))
    w[0] = w[0].capitalize()
    want(f"{q(s)}|to_camelcase(uppercamel=true)", "".join([w[0]] + [x.capitalize() for x in w[1:]]))
for a, out in [("'2G'", 2 << 30), ("'30MB'", 30 << 20), ("'30MB', handle_metric=true", 30000000), ("'64KiB'", 65536), ("'1.5k'", 1536), ("'10'", 10), ("10", 10), ("'10', default_unit='M'", 10 << 20), ("'x'", 0), ("'1 TB'", 1 << 40), ("'1Y'", 1 << 80), ("'5 B'", 5), ("'5bb'", 0), ("''", 0), ("'1.2.3M'", 0), ("'1KIB'", 1024), ("'2kb', handle_metric=true", 2000), ("'-5M'", 0)]:
    v, _, kw = a.partition(", ")
    want(f"{v}|human_to_bytes({kw})", out)

# Lists
L = [3, 1, 3, 2, 1]
want("[3,1,3,2,1]|unique", [3, 1, 2])
want("[[1],[1],[2]]|unique", [[1], [2]])
want("['a','A',1,true,1.0,none]|unique", ["a", "A", 1, None])
want("(1,2,1)|unique|sort", [1, 2])
want("'aab'|unique|sort", ["a", "b"])
want("[1,2,3]|min", 1)
want("[1,2,3]|max", 3)
want("'hello'|max", "o")
want("['b','A']|min", "A")
fails("[]|min", "ValueError", "min() arg is an empty sequence")
fails("[{'a':1}]|max(attribute='a')", "TypeError", "lst_max() got an unexpected keyword argument 'attribute'")
fails("[1,'a']|max", "TypeError", "'>' not supported between instances of 'str' and 'int'")
fails("5|min", "TypeError", "'int' object is not iterable")
want("[1,2,3]|avg", 2.0)
want("[1,2,6]|avg", 3.0)
want("5|avg", 5.0)
want("'2.5'|avg", 2.5)
want("[0.5,1]|avg", 0.75)
fails("[]|avg", "ZeroDivisionError", "division by zero")
fails("['a']|avg", "TypeError", "unsupported operand type(s) for +: 'int' and 'str'")
for f, out in [("union", [1, 2, 3, 4]), ("intersect", [2, 3]), ("difference", [1]), ("symmetric_difference", [1, 4])]:
    want(f"[1,2,3]|{f}([2,3,4])", out)
    want(f"([1,2,3]|{f}([2,3,4]))|join(', ')", ", ".join(map(str, out)))
    want(f"(1,2,3)|{f}((2,3,4))|sort", out)
    want(f"[]|{f}([])", [])
want("[[1],[2]]|union([[2],[3]])", [[1], [2], [3]])
want("[[1],[2]]|intersect([[2]])", [[2]])
want("[1,1,2]|difference([2])", [1])
fails("[1]|union((2,))", "TypeError", 'can only concatenate list (not "tuple") to list')
fails("[1]|union(5)", "TypeError", 'can only concatenate list (not "int") to list')
fails("5|intersect([1])", "TypeError", "'int' object is not iterable")
for v, a, b in [("[1]", True, True), ("(1,)", False, True), ("{}", False, True), ("'a'", False, False), ("5", False, False), ("none", False, False), ("range(2)", False, True), ("[1]|map('abs')", False, True)]:
    want(f"({v})|is_list", a)
    want(f"({v})|is_iter", b)
    want(f"({v}) is list", a)
want("[1,2,3]|is_sorted", True)
want("[1,3,2]|is_sorted", False)
want("['foo','Foo','bar','Bar']|sorted_ignorecase", sorted(["foo", "Foo", "bar", "Bar"], key=str.lower))
want("['yes', 0, False, 'True']|exactly_n_true(2)", True)
want("['yes', 0]|exactly_n_true(2)", False)
want("['yes', False, 0, None]|exactly_one_true", True)
want("[1,1]|exactly_one_true", False)
want("[]|exactly_n_true(0)", True)
for a, out in [("[3,[4,2]]|flatten", [3, 4, 2]), ("[3,[4,[2]]]|flatten(levels=1)", [3, 4, [2]]), ("[3,none,[4,[2]]]|flatten(levels=1, preserve_nulls=true)", [3, None, 4, [2]]), ("[1,none,'None','null',[none]]|flatten", [1]), ("[1,[2,[3,[4]]]]|flatten(0)", [1, [2, [3, [4]]]]), ("['ab',['cd']]|flatten", ["ab", "cd"]), ("[{'a':1},[2]]|flatten", ["a", 2]), ("(1,(2,))|flatten", [1, 2])]:
    want(a, out)
want("'abcd'|substring_in_list(['this','is','an abcd example'])", True)
want("'zz'|substring_in_list(['this'])", False)
want("[1,2,3]|compare_lists([1,2,4])", {"new": [4], "old": [3]})
want("[1]|compare_lists([1])", {})
want("[[1]]|compare_lists([[2]])", {"new": [[2]], "old": [[1]]})
for seed in ("static", "x", "seed é"):
    h = hashlib.sha512(seed.encode()).hexdigest()
    for items, k in [([1, 2, 3, 4, 5], 2), (list("abcdefghij"), 10), (list(range(100)), 30), (list(range(400)), 3), ([1], 1), ([1, 2], 0)]:
        want(f"{items!r}|random_sample({k}, seed={q(seed)})", random.Random(h).sample(items, k))
        want(f"{items!r}|random_shuffle({q(seed)})", random.Random(h).sample(items, len(items)))
want("[1,2,3]|random_sample(2)|length", 2)
want("[1,2,3]|random_shuffle|sort", [1, 2, 3])
want("'abc'|random_shuffle|sort", ["a", "b", "c"])
fails("[1]|random_sample(2)", "ValueError", "Sample larger than population or is negative")
fails("{'a':1}|random_shuffle", "TypeError", "Population must be a sequence.  For dicts or sets, use sorted(d).")
for s in ("ABCD", [1, 2, 3], "", "AA"):
    for r in range(0, 4):
        want(f"{s!r}|combinations({r})|list", list(itertools.combinations(s, r)))
        want(f"{s!r}|combinations_with_replacement({r})|list", list(itertools.combinations_with_replacement(s, r)))
        want(f"{s!r}|permutations({r})|list", list(itertools.permutations(s, r)))
    want(f"{s!r}|permutations|list", list(itertools.permutations(s)))
    want(f"{s!r}|product([1,2])|list", list(itertools.product(s, [1, 2])))
    want(f"{s!r}|product(repeat=2)|list", list(itertools.product(s, repeat=2)))
    want(f"{s!r}|zip([1,2])|list", list(zip(s, [1, 2])))
    want(f"{s!r}|zip_longest([1,2])|list", list(itertools.zip_longest(s, [1, 2])))
    want(f"{s!r}|zip_longest([1,2], 'x', fillvalue=0)|list", list(itertools.zip_longest(s, [1, 2], "x", fillvalue=0)))
    want(f"{s!r}|compress([1,0,1,1])|list", list(itertools.compress(s, [1, 0, 1, 1])))
fails("'ab'|combinations(-1)", "ValueError", "r must be non-negative")
fails("5|zip([1])", "TypeError", None)
prints("{% for one, two in 'ABC'|combinations(2) %}{{ one~two }} {% endfor %}", "AB AC BC ")

# Dicts
D = {"bar": {"baz": [1, 2]}}
want("{}|set_dict_key_value('bar:baz', 42)", {"bar": {"baz": 42}})
want("{}|set_dict_key_value('bar.baz.qux', 42, delimiter='.')", {"bar": {"baz": {"qux": 42}}})
want("{'a':1}|set_dict_key_value('a:b', 2)", {"a": {"b": 2}})
want("{'bar':{'baz':[1,2]}}|append_dict_key_value('bar:baz', 42)", {"bar": {"baz": [1, 2, 42]}})
want("{}|append_dict_key_value('bar:baz:qux', 42)", {"bar": {"baz": {"qux": [42]}}})
want("{'bar':{'baz':[1,2]}}|extend_dict_key_value('bar:baz', [42,42])", {"bar": {"baz": [1, 2, 42, 42]}})
want("{}|extend_dict_key_value('bar:baz:qux', [42])", {"bar": {"baz": {"qux": [42]}}})
want("{'bar':{'baz':{'qux':1}}}|update_dict_key_value('bar:baz', {'quux':3})", {"bar": {"baz": {"qux": 1, "quux": 3}}})
want("{}|update_dict_key_value('bar:baz:qux', {'quux':3})", {"bar": {"baz": {"qux": {"quux": 3}}}})
want("{}|set_dict_key_value('a:b', 1, ordered_dict=true)", {"a": collections.OrderedDict([("b", 1)])})
fails("{'a':5}|append_dict_key_value('a', 1)", "SaltInvocationError", "The last key contains a <class 'int'>, which cannot append.")
fails("{'a':5}|extend_dict_key_value('a', [1])", "SaltInvocationError", "The last key contains a <class 'int'>, which cannot extend.")
fails("{}|extend_dict_key_value('a', 5)", "SaltInvocationError", "Cannot extend <class 'list'> with a <class 'int'>.")
fails("{'a':5}|update_dict_key_value('a', {})", "SaltInvocationError", "The last key contains a <class 'int'>, which cannot update.")
fails("{}|update_dict_key_value('a', 5)", "SaltInvocationError", "Cannot update <class 'dict'> with a <class 'int'>.")
T = "{'a1': {'b1': {'c1': 'foo'}}, 'a2': 'bar', 'l': [{'x': 1}, 5], 7: 'n'}"
for k, out in [("'a1:b1', 'default'", {"c1": "foo"}), ("'a2:b2', 'default'", "default"), ("'a1:b1:c1'", "foo"), ("'zz'", None), ("'l:0:x'", 1), ("'l:x'", 1), ("'l:1'", 5), ("'l:9', 'd'", "d"), ("'a1/b1/c1', delimiter='/'", "foo"), ("'7'", "n"), ("['a1','b1']", {"c1": "foo"})]:
    want(f"{T}|traverse({k})", out)
want("{'a':'b'}|compare_dicts({'a':'c'})", {"a": {"old": "b", "new": "c"}})
want("{'a':1}|compare_dicts({'b':2})", {"b": {"old": "", "new": 2}, "a": {"new": "", "old": 1}})
want("{'a':1}|compare_dicts({'a':1})", {})
want("{'a':'\\u0414'}|json_encode_dict", {b"a": "\u0414".encode()})
want("{'a':[1,'x',('y',{'z':'w'})]}|json_decode_dict", {b"a": [1, b"x", [b"y", {b"z": b"w"}]]})
want("[1,2,3]|json_encode_list", [1, 2, 3])
want("['a',['b']]|json_decode_list", [b"a", [b"b"]])
want("['+--+--+','| a | b |','+--+--+','| 1 | x |','| 2 | 2.5 |','']|mysql_to_dict('a')", {1: {"a": 1, "b": "x"}, 2: {"a": 2, "b": 2.5}})
JQ = "{'machines': [{'name': 'a', 'state': 'running', 'cpu': 4}, {'name': 'b', 'state': 'stopped', 'cpu': 2}, {'name': 'c', 'state': 'running', 'cpu': 8}], 'z': {'k2': {'v': 1}, 'k1': {'v': 2}}, 'n': none, 'f': 1.5, 's': 'text'}"
for e, out in [("machines[?state=='running'].name", ["a", "c"]), ("machines[*].cpu", [4, 2, 8]), ("machines[].cpu", [4, 2, 8]), ("machines[0].name", "a"), ("machines[-1].name", "c"), ("machines[:2].name", ["a", "b"]), ("machines[::-1].name", ["c", "b", "a"]), ("length(machines)", 3), ("z.*.v", [1, 2]), ("keys(z)", ["k2", "k1"]), ("values(z)[*].v", [1, 2]),
               ("max_by(machines, &cpu).name", "c"), ("min_by(machines, &cpu).name", "b"), ("sort_by(machines, &cpu)[*].name", ["b", "a", "c"]), ("sum(machines[*].cpu)", 14), ("avg(machines[*].cpu)", 14 / 3), ("machines[?cpu > `3`].name", ["a", "c"]), ("machines[?cpu >= `2` && state != 'stopped'].name", ["a", "c"]), ("machines[?!(state=='running')].name", ["b"]),
               ("machines[*].[name, cpu]", [["a", 4], ["b", 2], ["c", 8]]), ("machines[*].{n: name, c: cpu}", [{"n": "a", "c": 4}, {"n": "b", "c": 2}, {"n": "c", "c": 8}]), ("nope", None), ("nope.x[0]", None), ("n", None), ("f", 1.5), ("s", "text"), ("join(',', machines[*].name)", "a,b,c"), ("contains(s, 'ex')", True), ("starts_with(s, 'te')", True), ("type(f)", "number"), ("to_string(f)", "1.5"), ("to_number('12')", 12), ("not_null(n, nope, s)", "text"), ("reverse(machines[*].name)", ["c", "b", "a"]), ("machines | [0].name", "a"), ("`[1, 2.5, \"x\"]`", [1, 2.5, "x"]), ("'raw'", "raw"), ('"s"', "text"), ("@.s", "text"), ("map(&name, machines)", ["a", "b", "c"]), ("merge(z.k1, `{\"w\": 3}`)", {"v": 2, "w": 3}), ("ceil(f)", 2), ("floor(f)", 1), ("abs(`-3`)", 3), ("max([`1`, `3`])", 3), ("sort(['b','a'])", ["a", "b"]), ("to_array(s)", ["text"]), ("s || 'x'", "text"), ("n || 'x'", "x"), ("n && 'x'", None), ("ends_with(s, 't')", True), ("machines[?name=='a' || name=='b'] | length(@)", 2), ("[s, f]", ["text", 1.5]), ("{a: s}", {"a": "text"}), ("machines[99]", None), ("s[0]", None), ("machines[?contains(name, 'a')] | [0].cpu", 4), ("z.[k1.v, k2.v]", [2, 1])]:
    want(f"{JQ}|json_query({json.dumps(e)})", out)
want("[1, 2, 3, 4, [5, 6]]|json_query('[]')", [1, 2, 3, 4, 5, 6])
want("[[1],[[2]],3]|json_query('[][]')", [1, 2, 3])
want("{1: 'x', 'a': 2.0}|json_query('a')", 2.0)
fails("{}|json_query('a[')", "IncompleteExpressionError", None)
fails("{}|json_query('a b')", "ParserError", None)
fails("{}|json_query('a[?')", "IncompleteExpressionError", None)
fails("{}|json_query('#')", "LexerError", None)
fails("{}|json_query('')", "EmptyExpressionError", None)
fails("{}|json_query('length(`5`)')", "JMESPathTypeError", "In function length(), invalid type for value: 5, expected one of: ['string', 'array', 'object'], received: \"number\"")
fails("{}|json_query('length(@, @)')", "ArityError", "Expected 1 argument for function length(), received 2")
fails("{}|json_query('nope(@)')", "UnknownFunctionError", "Unknown function: nope()")

# Serializers
DATA = "{'foo': true, 'bar': 42, 'baz': [1, 2, 3], 'qux': 2.0}"
prints("{{ %s|json }}" % DATA, json.dumps({"foo": True, "bar": 42, "baz": [1, 2, 3], "qux": 2.0}, sort_keys=True))
prints("{{ %s|json(false) }}" % DATA, json.dumps({"foo": True, "bar": 42, "baz": [1, 2, 3], "qux": 2.0}))
prints("{{ %s|json(indent=2) }}" % DATA, json.dumps({"foo": True, "bar": 42, "baz": [1, 2, 3], "qux": 2.0}, sort_keys=True, indent=2))
prints("{{ 'é<'|json }}", '"é<"')
prints("{{ 'é<'|tojson }}", '"\\u00e9\\u003c"')
prints("{{ {'b':1,'a':2}|tojson(2) }}", '{\n  "b": 1,\n  "a": 2\n}')
prints("{{ {'b':1,'a':2}|tojson(sort_keys=true) }}", '{"a": 2, "b": 1}')
want("[1]|json ~ ''", "[1]")
fails("{1:2,'a':3}|json", "TypeError", "'<' not supported between instances of 'str' and 'int'")
prints("{{ %s|yaml }}" % DATA, "{bar: 42, baz: [1, 2, 3], foo: true, qux: 2.0}")
prints("{{ %s|yaml(false) }}" % DATA, "bar: 42\nbaz:\n- 1\n- 2\n- 3\nfoo: true\nqux: 2.0")
prints("{{ odict([('b', 1), ('a', 2)])|yaml }}", "{b: 1, a: 2}")
prints("{{ none|yaml }} {{ 'x'|yaml }} {{ 5|yaml }}", "null x 5")
prints("{{ {'b': [1], 'a': 'x'}|python }}", pprint.pformat({"b": [1], "a": "x"}))
prints("{{ {'k': ['v' * 40, 'w' * 40]}|python }}", pprint.pformat({"k": ["v" * 40, "w" * 40]}))
prints("{{ {'name': 'thing', 'changes': true}|dict_to_sls_yaml_params }}", "- name: thing\n- changes: true")
prints("{{ {'a': {'b': 1}}|dict_to_sls_yaml_params(true) }}", "[{a: {b: 1}}]")
prints("{{ {'root_node': {'foo': true, 'bar': 42, 'baz': [1, 2, 3], 'qux': 2.0}}|xml }}", '<?xml version="1.0" ?>\n<root_node foo="True" bar="42" qux="2.0">\n <baz>1</baz>\n <baz>2</baz>\n <baz>3</baz>\n</root_node>\n')
prints("{{ {'a': {'b': {'c': '<&>\"'}}}|xml }}", '<?xml version="1.0" ?>\n<a>\n <b c="&lt;&amp;&gt;&quot;"/>\n</a>\n')
prints("{{ {'a': 'x<'}|xml }}", '<?xml version="1.0" ?>\n<a>x&lt;</a>\n')
prints("{{ {'a': [{'b': 1}]}|xml }}" if False else "{{ {'r': {'i': [{'n': 1}, {'n': 2}]}}|xml }}", '<?xml version="1.0" ?>\n<r>\n <i n="1"/>\n <i n="2"/>\n</r>\n')
fails("5|xml", "TemplateRuntimeError", "Value is not a dict or list. Cannot render as XML")
want("'{foo: it works}'|load_yaml", {"foo": "it works"})
want("'{\"bar\": 1.5}'|load_json", {"bar": 1.5})
want("'x'|load_text", "x")
want("''|load_yaml", None)
fails("'{'|load_json", "TemplateRuntimeError", "Unable to load json from {")
fails("5|load_json", "TemplateRuntimeError", "Unable to load json from 5")
for s in ["a\"b", "yes: \"no\"", "é\n\t\\", "", "plain"]:
    pass
prints("{{ 'a\"b\\n'|yaml_dquote }}", '"a\\"b\\n"')
prints("{{ \"a'b\"|yaml_squote }}", "'a''b'")
prints("{{ 'é'|yaml_dquote }}", '"\\xE9"')
for v, out in [("'x'", '"x"'), ("5", "5"), ("true", "true"), ("none", "null"), ("1.5", "1.5"), ("'true'", '"true"')]:
    prints("{{ %s|yaml_encode }}" % v, out)
fails("[1]|yaml_encode", "TypeError", "yaml_encode() only works with YAML scalar data; failed for <class 'list'>")
want("'x'|sequence", ["x"])
want("['x']|sequence", ["x"])
want("('x',)|sequence", ("x",))
want("{'a':1}|sequence", {"a": 1})
want("none|sequence", [None])
want("'foo'|skip", "")
for v, out in [("'yes'", True), ("'TRUE'", True), ("'1'", True), ("'no'", False), ("''", False), ("1", True), ("0", False), ("-1", False), ("none", False), ("true", True), ("[]", False), ("[0]", True), ("{}", False), ("{'a':1}", True), ("1.5", False), ("(1,)", False), ("nope", False)]:
    want(f"{v}|to_bool", out)
want("[1,2,1,3,4]|method_call('index', 1, 1, 3)", 2)
want("['web01.example.com']|map('method_call', 'split', '.', 1)|list", [["web01", "example.com"]])
want("'a'|method_call('nope')", None)
want("'a,b'|method_call('split', sep=',')", ["a", "b"])

# Dates
want("1457456400|strftime", "2016-03-08")
want("1457456400|date_format('%d.%m.%Y %H:%M')", "08.03.2016 17:00")
want("'1457456400'|strftime('%Y')", "2016")
want("'1457456400.5'|strftime('%f')", "500000")
want("'2002/12/25'|strftime('%y')", "02")
want("'2002-12-25 10:30'|strftime('%d %H:%M')", "25 10:30")
want("'2002-12-25T10:30:00'|strftime('%j %S')", "359 00")
want("'@1040814000'|strftime('%Y-%m-%d')", "2002-12-25")
want("'12/25/2002'|strftime", "2002-12-25")
want("'25 Dec 2002'|strftime", "2002-12-25")
want("'tomorrow'|strftime", "2024-03-01")
want("'+1 day'|strftime('%d %H')", "01 13")
want("'2024-01-31 +1 month'|strftime", "2024-03-02")
want("none|strftime('%H:%M')", "13:05")
fails("'gibberish'|strftime", "ValueError", "Unable to parse gibberish")
fails("nope|strftime", "UndefinedError", "'nope' is undefined")

# Networks
ADDRS = ["192.168.0.1", "10.0.0.1", "8.8.8.8", "127.0.0.1", "169.254.1.1", "224.0.0.1", "240.0.0.1", "0.0.0.0", "255.255.255.255", "fe80::1", "::1", "::", "2001:db8::1", "2606:4700::1111", "ff02::1", "fec0::1", "fc00::1", "::ffff:1.2.3.4", "192.168.1.0/24", "10.0.0.5/8", "2001:db8::/32", "01.2.3.4", "1.2.3", "1.2.3.4/33", "foo", "", "1.2.3.4/255.255.255.0", "192.0.0.170", "100.64.0.1", "198.18.0.1"]
PROPS = {"global": "is_private", "public": "is_private", "private": "is_private", "link-local": "is_link_local", "loopback": "is_loopback", "multicast": "is_multicast", "reserved": "is_reserved", "unspecified": "is_unspecified", "site-local": "is_site_local"}
OLD_PRIVATE = [ipaddress.ip_network(n) for n in "0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29 192.0.0.170/31 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32 ::1/128 ::/128 ::ffff:0:0/96 100::/64 2001::/23 2001:2::/48 2001:db8::/32 2001:10::/28 fc00::/7 fe80::/10".split()]


def check(a, version=None, option=None):
    try:
        ip = ipaddress.ip_address(a)
    except ValueError:
        try:
            ip = ipaddress.ip_interface(a)
        except ValueError:
            return None
    if version and ip.version != version:
        return None
    if option:
        addr = ip.ip if hasattr(ip, "ip") else ip
        prop = PROPS[option]
        if prop == "is_private":
            ok = any(addr in n for n in OLD_PRIVATE if n.version == addr.version)
        else:
            ok = getattr(addr, prop, False)
        if option in ("global", "public"):
            ok = not ok
        if not ok:
            return None
    return str(ip)


for a in ADDRS:
    want(f"{a!r}|is_ip", check(a) is not None)
    want(f"{a!r}|is_ipv4", check(a, 4) is not None)
    want(f"{a!r}|is_ipv6", check(a, 6) is not None)
    want(f"{a!r}|ipv4", check(a, 4))
    want(f"{a!r}|ipv6", check(a, 6))
    want(f"{a!r}|ipaddr", check(a))
    for o in PROPS:
        want(f"{a!r}|is_ip(options='{o}')", check(a, None, o) is not None)
for o in [None] + list(PROPS):
    kw = f"options='{o}'" if o else ""
    v4 = [check(a, 4, o) for a in ADDRS if check(a, 4, o)]
    v6 = [check(a, 6, o) for a in ADDRS if check(a, 6, o)]
    want(f"{ADDRS!r}|ipv4({kw})", v4)
    want(f"{ADDRS!r}|ipv6({kw})", v6)
    want(f"{ADDRS!r}|ipaddr({kw})", v4 + v6)
want("['192.168.0.1','foo','bar','fe80::']|ipaddr", ["192.168.0.1", "fe80::"])
want("'192.168.0.1'|is_ip('private, global')", False)
want("'192.168.0.1'|is_ip('nonsense')", True)
want("5|ipaddr", None)
want("none|is_ip", False)
for n in ["192.168.0.1/30", "192.168.0.0/29", "10.0.0.0/31", "10.0.0.1/32", "10.0.0.1", "2001:db8::/126", "2001:db8::/127", "::1"]:
    net = ipaddress.ip_network(n, strict=False)
    want(f"{n!r}|network_hosts", [str(h) for h in net.hosts()])
    want(f"{n!r}|network_size", net.num_addresses)
    want(f"{n!r}|ip_host", str(ipaddress.ip_interface(n)))
want("'192.168.0.1/8'|network_size", 16777216)
want("'2001:db8::/32'|network_size", 2**96)
want("['10.0.0.0/30','x','10.1.0.0/30']|network_hosts", [["10.0.0.1", "10.0.0.2"], ["10.1.0.1", "10.1.0.2"]])
want("['10.0.0.0/30']|network_size", [4])
want("'foo'|network_hosts", None)
want("['10.0.0.1','fe80::1']|ip_host(version=4)", ["10.0.0.1/32"])
fails("'10.0.0.0/4'|network_hosts", "MemoryError", None)
want("['fe80::1','10.0.0.1','x']|ipwrap", ["[fe80::1]", "10.0.0.1", "x"])
want("'::1'|ipwrap", "[::1]")
want("['192.0.2.1','foo','bar','fe80::','2001:db8::1/64']|ipwrap", ["192.0.2.1", "foo", "bar", "[fe80::]", "[2001:db8::1]/64"])
want("'32GB'|human_to_bytes", 34359738368)
want("'32GB'|human_to_bytes(handle_metric=true)", 32000000000)
want("'32'|human_to_bytes(default_unit='GiB')", 34359738368)
prints("{% for one, two in 'ABCD'|zip_longest('xy', fillvalue='-') %}{{ one~two }} {% endfor %}", "Ax By C- D- ")
prints("{% for val in 'ABCDEF'|compress([1,0,1,0,1,1]) %}{{ val }} {% endfor %}", "A C E F ")
prints("{% for one, two in 'ABCD'|product('xy') %}{{ one~two }} {% endfor %}", "Ax Ay Bx By Cx Cy Dx Dy ")
want("'10.0.0.1'|ipwrap", "10.0.0.1")
want("['192.168.0.5','10.0.0.1','fe80::1']|filter_by_networks(['192.168.0.0/24','fe80::/64'])", ["192.168.0.5", "fe80::1"])
want("{'lo':['127.0.0.1'],'eth0':['10.0.0.5','::1']}|filter_by_networks(['10.0.0.0/8'])", {"lo": [], "eth0": ["10.0.0.5"]})
want("['10.0.0.1']|filter_by_networks([])", [])
want("['10.0.0.1']|filter_by_networks(none)", ["10.0.0.1"])
fails("['10.0.0.1']|filter_by_networks(['10.0.0.1/8'])", "ValueError", "10.0.0.1/8 has host bits set")
want("'00:16:3E'|gen_mac|length", 17)
want("('00:50'|gen_mac).startswith('00:50:')", True)
want("'00:11:22:33:44:55'|mac_str_to_bytes", bytes.fromhex("001122334455"))
want("'001122334455'|mac_str_to_bytes", bytes.fromhex("001122334455"))
want("'00-11-22-33-44-ff'|mac_str_to_bytes", bytes.fromhex("0011223344ff"))
fails("'00'|mac_str_to_bytes", "ValueError", "Invalid MAC address")
want("'web'|dns_check(port=443)", "10.0.0.2")
want("'web'|dns_check", "fe80::1")
want("'web'|dns_check(ipv6=false)", "10.0.0.1")
want("'web'|dns_check(ipv6=true)", "10.0.0.1")
want("'web'|connection_check(443)", "10.0.0.2")
want("'web'|dns_check(443, attempt_connect=false)", "fe80::1")
fails("'zz'|dns_check", "SaltSystemExit", "DNS lookup or connection check of 'zz' failed.")
fails("'zz'|dns_check(safe=true)", "SaltClientError", "DNS lookup or connection check of 'zz' failed.")

# Paths and files
for p in [("/etc/salt/", "pillar", "device1.sls"), ("a", "b"), ("/a", "/b"), ("a/../b", "c"), ("/", "x"), ("//a", "b"), ("",), ("a", ""), ("", "a"), ("/a/", "..", "b")]:
    parts = [posixpath.normpath(x) for x in p]
    r = posixpath.normpath(posixpath.join(parts[0], *[x.lstrip("/") for x in parts[1:]]))
    want(f"{p[0]!r}|path_join({', '.join(map(repr, p[1:]))})", r)
fails("5|path_join('a')", "TypeError", "expected str, bytes, or bytearray not <class 'int'>")
want("'sh'|which", "/bin/sh")
want("'nope'|which", None)
want("none|which", None)
want("'root'|get_uid", 0)
want("'nobody-here'|get_uid", None)
want("'/etc/motd'|file_hashsum", hashlib.sha256(b"hello\n").hexdigest())
want("'/etc/motd'|file_hashsum('md5')", hashlib.md5(b"hello\n").hexdigest())
want("'/etc/motd'|file_hashsum(form='sha3_256')", hashlib.sha3_256(b"hello\n").hexdigest())
fails("'/etc/motd'|file_hashsum('nope')", "ValueError", "Invalid hash type: nope")
fails("'/nope'|file_hashsum", "FileNotFoundError", "[Errno 2] No such file or directory: '/nope'")
want("'/etc'|list_files|sort", ["/etc", "/etc/bin", "/etc/empty", "/etc/latin", "/etc/motd", "/etc/sub", "/etc/sub/a.txt"])
for f, t, b, e in [("motd", True, False, False), ("empty", True, False, True), ("bin", False, True, False), ("latin", True, True, False), ("nope", False, False, False)]:
    want(f"'/etc/{f}'|is_text_file", t)
    want(f"'/etc/{f}'|is_bin_file", b)
    want(f"'/etc/{f}'|is_binary_file", b)
    want(f"'/etc/{f}'|is_empty", e)
    want(f"'/etc/{f}'|is_empty_file", e)

# Tests and globals
want("1 is equalto(1)", True)
want("[{'value': 1}, {'value': 3}]|selectattr('value', 'equalto', 3)|list", [{"value": 3}])
want("[{'value': 'a'}, {'value': 'b'}, {'value': 'c'}]|selectattr('value', 'match', '[b-e]')|list", [{"value": "b"}, {"value": "c"}])
want("odict([('b', 1), ('a', 2)])", collections.OrderedDict([("b", 1), ("a", 2)]))
want("odict(a=1)", collections.OrderedDict(a=1))
want("odict([('b', 1)]).items()", collections.OrderedDict(b=1).items())
want("odict() == {}", True)
fails("raise('stop here')", "TemplateError", "stop here")
want("show_full_context().l312", [3, 1, 2])
want("show_full_context() is mapping", True)

VARS = {"l312": [3, 1, 2]}
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oracle-salt.json")
with open(path, "w") as f:
    f.write('{"vars": %s, "cases": [\n' % json.dumps(VARS))
    f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    f.write("\n]}\n")
print(len(CASES), "cases", os.path.getsize(path))
