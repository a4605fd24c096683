#!/usr/bin/python3
"""Record what PyYAML 6.0 over libyaml 0.2.5 says, for the tests of yamlsalt.

    /usr/bin/python3 record.py            writes load.json and dump.json
    /usr/bin/python3 record.py answer     answers lines of JSON on stdin (see below)

The loader is PyYAML's CSafeLoader with the behaviour that Salt 3006 gives it:
text for timestamps and python/unicode, leading zeros dropped from ints, a
dictionary class, duplicate keys refused, and merge entries that are dropped by
the text of their key.
"""
import datetime
import json
import random
import sys
from collections import OrderedDict

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, SequenceNode

INT = "tag:yaml.org,2002:int"
CONTEXT = "while constructing a mapping"


class Loader(yaml.CSafeLoader):
    dictclass = dict

    def plain_or_ordered(self, node):
        data = self.dictclass()
        yield data
        data.update(self.construct_mapping(node))

    def omap(self, node):
        if self.dictclass is dict:
            yield from yaml.CSafeLoader.construct_yaml_omap(self, node)
        else:
            yield from self.plain_or_ordered(node)

    def construct_scalar(self, node):
        v = node.value
        if node.tag == INT and v != "0" and v[:1] == "0" and v[:2] not in ("0b", "0x"):
            node.value = v.lstrip("0") or "0"
        return super().construct_scalar(node)

    def construct_mapping(self, node, deep=False):
        if not isinstance(node, MappingNode):
            raise ConstructorError(None, None, "expected a mapping node, but found " + node.id, node.start_mark)
        self.flatten_mapping(node)
        out = self.dictclass()
        for kn, vn in node.value:
            k = self.construct_object(kn, deep=deep)
            try:
                hash(k)
            except TypeError:
                raise ConstructorError(CONTEXT, node.start_mark, "found unacceptable key %s" % (kn.value,), kn.start_mark)
            v = self.construct_object(vn, deep=deep)
            if k in out:
                raise ConstructorError(CONTEXT, node.start_mark, "found conflicting ID '%s'" % (k,), kn.start_mark)
            out[k] = v
        return out

    def flatten_mapping(self, node):
        pending, merge = list(node.value), []
        node.value = []
        for kn, vn in pending:
            if kn.tag != "tag:yaml.org,2002:merge":
                if kn.tag == "tag:yaml.org,2002:value":
                    kn.tag = "tag:yaml.org,2002:str"
                node.value.append((kn, vn))
            elif isinstance(vn, MappingNode):
                self.flatten_mapping(vn)
                merge += vn.value
            elif isinstance(vn, SequenceNode):
                for sub in vn.value:
                    if not isinstance(sub, MappingNode):
                        raise ConstructorError(CONTEXT, node.start_mark, "expected a mapping for merging, but found " + sub.id, sub.start_mark)
                    self.flatten_mapping(sub)
                for sub in reversed(vn.value):
                    merge += sub.value
            else:
                raise ConstructorError(CONTEXT, node.start_mark, "expected a mapping or list of mappings for merging, but found " + vn.id, vn.start_mark)
        own = [kn.value for kn, _ in node.value]
        node.value = [x for x in merge if x[0].value not in own] + node.value


class OrderedLoader(Loader):
    dictclass = OrderedDict


for cls in (Loader, OrderedLoader):
    cls.add_constructor("tag:yaml.org,2002:map", cls.plain_or_ordered)
    cls.add_constructor("tag:yaml.org,2002:omap", cls.omap)
    cls.add_constructor("tag:yaml.org,2002:python/unicode", lambda self, node: node.value)
    cls.add_constructor("tag:yaml.org,2002:timestamp", lambda self, node: self.construct_scalar(node))


def load(text, ordered=False):
    try:
        return repr(yaml.load(text, OrderedLoader if ordered else Loader))
    except Exception as exc:
        return "!%s: %s" % (type(exc).__name__, exc)


# What Salt's dumpers add to PyYAML's: OrderedDict as a map in its order, and
# null for what has no representer.
def ordered(dumper, data):
    return dumper.represent_dict(list(data.items()))


class Safe(yaml.CSafeDumper):
    pass


class Full(yaml.CDumper):
    pass


Safe.add_representer(OrderedDict, ordered)
Full.add_representer(OrderedDict, ordered)
Safe.add_representer(None, lambda d, _: d.represent_scalar("tag:yaml.org,2002:null", "NULL"))


def dump(v, o):
    o = dict(o)
    cls = Full if o.pop("full", False) else Safe
    if o.pop("ignore_aliases", False):
        cls = type("NoAlias", (cls,), {"ignore_aliases": lambda self, data: True})
    o.setdefault("allow_unicode", True)
    o.setdefault("default_flow_style", None)
    return yaml.dump(v, Dumper=cls, **o)


# Values as JSON: a dictionary of one key names a type.
def encode(v, seen=None):
    seen = {} if seen is None else seen
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, int):
        return {"int": str(v)}
    if isinstance(v, float):
        return {"float": repr(v)}
    if isinstance(v, bytes):
        return {"bytes": v.hex()}
    if isinstance(v, datetime.datetime):
        return {"datetime": v.isoformat()}
    if isinstance(v, datetime.date):
        raise TypeError
    if id(v) in seen and not isinstance(v, tuple):
        return {"ref": seen[id(v)]}
    seen[id(v)] = len(seen)
    if isinstance(v, list):
        return {"list": [encode(x, seen) for x in v]}
    if isinstance(v, tuple):
        return {"tuple": [encode(x, seen) for x in v]}
    if isinstance(v, (set, frozenset)):
        return {"set": [encode(x, seen) for x in sorted(v, key=repr)]}
    name = "odict" if isinstance(v, OrderedDict) else "dict"
    return {name: [[encode(k, seen), encode(x, seen)] for k, x in v.items()]}


def decode(j, made=None):
    made = [] if made is None else made
    if not isinstance(j, dict):
        return j
    (kind, x), = j.items()
    if kind == "int":
        return int(x)
    if kind == "float":
        return float(x)
    if kind == "bytes":
        return bytes.fromhex(x)
    if kind == "datetime":
        return datetime.datetime.fromisoformat(x)
    if kind == "ref":
        return made[x]
    if kind == "list":
        out = []
        made.append(out)
        out += [decode(y, made) for y in x]
    elif kind == "tuple":
        made.append(None)
        out = tuple(decode(y, made) for y in x)
    elif kind == "set":
        made.append(None)
        out = set(decode(y, made) for y in x)
    else:
        out = OrderedDict() if kind == "odict" else {}
        made.append(out)
        for k, v in x:
            k = decode(k, made)
            out[k] = decode(v, made)
    return out


# answer serves a test that makes its own questions: a line {"load": text,
# "ordered": bool} or {"dump": value, "options": {...}}, and a line back.
def answer():
    for line in sys.stdin:
        q = json.loads(line)
        if "load" in q:
            a = load(q["load"], q.get("ordered", False))
        else:
            try:
                a = dump(decode(q["dump"]), q.get("options", {}))
            except Exception as exc:
                a = "!%s: %s" % (type(exc).__name__, exc)
        print(json.dumps(a), flush=True)


SCALARS = r"""
yes|Yes|YES|yEs|no|No|NO|on|On|ON|oN|off|Off|OFF|true|True|TRUE|tRUE|false|False|FALSE|y|Y|n|N|null|Null|NULL|nULL|~|~~
0|00|000|07|007|012|0600|0644|0899|08|09|0_7|0_|00_|+0|-0|+7|-7|+07|-07|-0600|+0600|1_000|1__0|1_|_1|-1_000|0b101|0b|0b_|0b1_0|0b2|-0b11|+0b11|00b1
0x1F|0xff|0x|0x_|0xG|-0xA|+0xA|0X1F|0o600|0O7|0o|10:20|1:30|01:30|1:60|1:59|1:5|1:05:9|190:20:30|-1:30|+1:30|1_0:30|0:30|1:|:30|1:300|1:30:
1.5|1.|.5|-.5|+.5|+1.5|-1.5|1.5e3|1.5e+3|1.5E-3|1e3|1e+3|1E+3|.5e+3|1.e+3|1_0.5|1._5|1.5_|._5|.|..|...x|.e+3|1.5e|1.5e+|1.5e+_|190:20:30.15|1:30.|1:60.5|-1:30.5|0:30.5|01.5|00.5|1.2.3|1,000|1e|e3
.inf|.Inf|.INF|.iNF|+.inf|-.inf|-.INF|.nan|.NaN|.NAN|.Nan|+.nan|-.nan|inf|nan|Infinity|-inf
2024-01-31|2024-1-31|2024-01-31T10:20:30Z|2024-01-31 10:20:30|2024-1-1 1:02:03.5 +1:00|2024-01-31t10:20:30.123-05|2024-13-45|20240131|2024-01|2001-12-14t21:59:43.10-05:00|2024-01-31T10:20|2024-01-31Z|2024-01-31 10:20:30 Z|2024-01-31 10:20:30  +1|99999-01-01
=|==|<<|<<<|<|9223372036854775807|9223372036854775808|-9223372036854775808|-9223372036854775809|123456789012345678901234567890|0x8000000000000000|0xffffffffffffffffff|1e400|1.0e+400|-1.0e+400|1.7976931348623157e+308|5.0e-324|0.1|100.0|1e16|1.0e+16|123456789.123456789
50%|a b|a  b|a#b|a:b|a: |-a|--|- |?a|? |:a|a,b|[|]|{}|[]|a]|http://x.y/z?q=1#f|/etc/salt|C:\x|salt://a/b|10.0.0.1|10.0.0.0/8|1.2.3.4:80|::1|fe80::1|aa:bb:cc|12:34:56:78:9a:bc|12:34:56|00:11:22|é|日本|😀|a\tb|it's|"q"|'q'|'it''s'|"a\nb"|"\x41\u00e9\U0001F600"|"\a\b\e\f\n\r\t\v\0\ \"\/\\\N\_\L\P"
!!str 0600|!!str|!!str yes|!!int "7"|!!int 0600|!!int -0600|!!int x|!!int ""|!!int " 7 "|!!int 1_0|!!int 1:30|!!int 1:x|!!float 1|!!float x|!!float ""|!!float 1_0.5|!!float 1:30|!!float inf|!!float "0x10"|!!bool yes|!!bool x|!!bool TRUE|!!null x|!!null|!!timestamp 2001|!!timestamp x|!!binary aGk=|!!binary aGk|!!binary a|!!binary aGkx|!!binary "é"|!!binary "a G\nk ="|!!binary ""|!!binary "!!!!"|!!binary aGk=aGk=|!!python/unicode x|!!python/unicode 1|!!python/str x|!!python/tuple [1]|!!python/object:os.x {}|!custom 5|!custom [1]|!custom|!|! 12|! yes|!<tag:yaml.org,2002:int> 07|!<!> a|!<x> a|!!merge x|!!value x|!!map x|!!seq x|!!set x|!!omap x|!!pairs x|!!yaml x
!!map [a]|!!seq {a: b}|!!set {a}|!!set {}|!!set [a]|!!omap [a: 1, b: 2]|!!omap {a: 1}|!!omap []|!!omap [a]|!!omap [{a: 1, b: 2}]|!!pairs [a: 1, a: 2]|!!pairs {a: 1}|!!pairs [1]|!!str [a]|!!str {a: b}|!!str {=: b}|!!int {=: 5}|!!null [a]|!!bool {}|!!float []|!!binary []|!!timestamp {}
"""

DOCS = [
    "", " ", "\n\n", "# only a comment\n", "---\n", "--- \n...\n", "...", "key", "a\nb", "a: b", "a:\n  b: c\n", "- a\n- b\n", "a:\n- b\n- c\n", "a:\n  - b\n  - c\nd: e\n",
    "a: &x b\n*x : y", "a: *u", "a:\n\tb: c", "x: a: b", "@a: b", "a: `b", "%x", "a: {{ b }}", "{{ a }}: b", "a: {{ b }}/c", "a: 1\n---\nb: 2", "? a\n: b", "{? a : b}", "[a, b",
    'a: "x', "a: 'x", "- a\nb: c", "a: |\n\tx", "a: &", "a: !<x", "a\nb: c", "{a: 1, a: 2}", "a: 1\nb: 2\na: 3\n", "x:\n  a: 1\n  a: 2\n", "1: a\ntrue: b\n", "1: a\n1.0: b\n", "1: a\n'1': b\n",
    "yes: a\non: b\n", "{[1]: 2}", "{{1: 2}: 3}", "? [a, {b: c}]\n: d", "? {a: b}\n: c", "? !!set {a}\n: c", "~: a", "? \n: a", "{: a}", 'a: "\\q"', "\x01", "a: \x7f", "a: b\x00c", "é: \x01", "a: [}", "a: {]", "--- a\n--- b", "--- a\n...\n--- b", "a\n...\nb", "a\n...\n",
    "a: >\n x\n   y", "&a &b c", "a: &a\n  *b", "- - - x", "a: ,b", "a: [,]", "a: -", "- -- ", "<<: {a: 1}\na: 2", "<<: {a: 1}\nb: 2", "b: 2\n<<: {a: 1, b: 3}\nc: 4", "<<: [{a: 1}, {b: 2}]\nc: 3", "<<: [{a: 1}, {a: 2}]", "<<: 5", "<<: [5]", "<<: [{a: 1}, 5]", "<<: {<<: {a: 1}, b: 2}\nc: 3", "<<: {a: 1}\n<<: {b: 2}", "<<: {a: 1}\n<<: {a: 2}",
    "x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n", "x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: [*x, *y]}", "x: {<<: *x}", "a: <<", "- <<", "a: =", "=: a", "? <<\n: {a: 1}", "'<<': {a: 1}", "!!merge x: {a: 1}", "!!str <<: {a: 1}",
    "a: b\n c: d", 'a: "b" c', '"a" b: c', "a: |3x\n y", "a: |0\n y", "*a b", "!a!b c", "[&a 1, &a 2]", "a: &x 1\nb: &x 2\n", "[? : b]", "[? ]", "[? ,a]", "[? a]", "[? a : b]", "[: b]", ": b", "{: b}", "{a: :b}", "{a:b}", "[a:b]", "[a?b]", "[a ?b]", '["a":b]', '{"a":b}', "{a: b:c}", "[?a]", "{?a: b}", "[a:,b]", "{a:}", "[a: b, c: d]", "[a: b: c]", "{? }", "{? ,a: b}", "{a, b: c, d}",
    "%TAG ! x\n---\n!a b", "%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1", "%YAML 1.1\na", "%YAML 1.1\n---\na", "%YAML 1.2\n---\na", "%YAML 1.3\n---\na", "%YAML 2.0\n---\na", "%YAML 1\n---", "%YAML 1.1 x\n---", "%TAG\n---", "%TAG !a!b x\n---", "%TAG !a x\n---", "%TAG ! \n---", "%TAG ! %zz\n---", "%YAML 1.1\n%YAML 1.1\n---", "%TAG ! a\n%TAG ! b\n---", "%YAML 1.1111111111\n---", "% YAML", "%FOO", "# c\n%YAML 1.1\n---\na", "a: %b", "%a: b",
    "# c\n...\nx", 'a: "b\n\tc"', "a: b\n\tc", "a: [b\n\tc]", "a: [\n\tb]", "- a\n -b", "-\ta", "-\t- a", "a:\tb", "?\ta\n:\tb", "a: &x", "&x", "!!map", "[[[", "a: |\n  b\n c", "a: >-\n  b\n\n  c\n   d\n  e\n\n", "a: |+\n\n", "|\n a", "a: |2\n   b", "- |\n a\n- b", "{a: |}", "[*a]", "*a : b", '"a\n---\nb"', "\ufeffa: b", "a: \ufeffb", "a\u2028b: c", "a\x85b: c", '"\x85"', "a: b #c\n#d", "a: b#c", "[a,b]#c", '"a"#c: d', "a: !!str,b", "[!!str,b]", "!!str[a]", "a: &a!b c", "&a&b c", "a: *b:c", "&b a: *b", "!!", "!a!", "!%41 b", "!%zz a", "!<%zz> b", "!%C3%A9 x", "!%ff x", "!%C3x x",
    "&x a: &y b\n? *x\n: *y", "- !!map\n  a: b\n  c: d", "a:\n- b\n-c\n", "a:\n- b\nc: d\n- e", 'a: "b"\n  c: d', "- a: b\n  - c", "x:\n  y: 1\n z: 2", "x: [a\ny: b", "{a: b\nc: d}", "{a b: c, d}", "- [a, b]: c", "? - a\n: b", "{a: 1,}", "{,}", "[a,,b]", "[a,]", "a: 'b'c", '"a":b', "a : b", "a :b", "-", "?", ":", "- \n- a", "{}", "[]", "{}: a", 'foo: "\\x4"', 'foo: "\\ud800"', 'foo: "\\U00110000"', 'a: "\\\n  b"', 'a: "x \\\n  y"', 'a: "x\n\n  y"', "a: 'it''s'", "k: 'a\n\n  b'", 'a: "' + "x" * 1100 + '": b', "x" * 1030 + ": b", "x" * 1000 + ": b", "{" + "x" * 1030 + ": b}", "a: 'b\n...\n'", "a: ! \nb: c", "a:\n  - b\n - c", "a: - b", "a: ? b", "- - a\n -b", "a: b\n- c", "---\n---\n", "a: |\n    x\n  y\nz", "a: |\n\n    x\n  y", "a: |  \n    \n  x", "a: > # c\n x", "a: >x", "a: |-+\n x", "a: |9\n x", "a: |-2\n   x\n", "a: |2-\n   x\n", "a: |+\n x\n\n\nb: c", "a: >+\n x\n\n\nb: c", "a: >\n x\n y\n\n z\n", "a: >\n\n x\n", "a: >\n  x\n   y\n  z\n", "a: >\n  x\n\n   y\n\n  z\n", "a: >\n\tx", "a: |\n x\n\ty", "a: |", "a: |\nb: c", "- |\n- a", "a: |\n x\n# comment\nb: c", "a: |\n  x\n # comment\nb: c",
    "a\r\nb: c\r\n", "a: b\r\nc: d\r\n", "a: |\r\n  x\r\n  y\r\n", "a: b\rc: d", "a: b # c\r\n", "a:    b   \n", "a: b\n\n\n# c\n\nc: d", "   a: b", "  a: b\n  c: d", "  a: b\n c: d", " - a\n - b", "a: [1, 2, [3, {b: c}]]", "a: {b: [1, {c: d}], e: f}", "a: [\n  1,\n  2\n]", "a: {\n  b: c,\n  d: e\n}\nf: g", "a: [b, c] d", "a: {b: c} d", "a: [b]: c", "[a]: b", "a: b: ", "a: 'b': c", "a: \"b\": c", "'a': b", '"a": b', "'a' : b", "a: b:c", "a: b :c", "a: #b", "a: '#b'", "a:#b", "a: @", "a: `", "a: %", "a: |x", "a: &x b\nc: *x", "a: &x {b: c}\nd: *x", "a: &x\n  b: c\nd: *x\n", "a: &x [b]\nc: [*x, *x]", "&x [*y]", "- &x a\n- *x\n- &x b\n- *x",
    "web:\n  pkg.installed:\n    - name: nginx\n  service.running:\n    - enable: True\n    - require:\n      - pkg: web\n", "include:\n  - a\n  - .b\n\nx:\n  cmd.run:\n    - name: echo \"a: b\" | grep 'x'\n    - unless: test -f /x && exit 1\n", "x:\n  file.managed:\n    - contents: |\n        line 1\n          line 2\n\n        line 3\n    - mode: 0644\n", "x:\n  cmd.run:\n    - name: >\n        echo a\n        b\n    - env:\n      - A: 1\n", "x:\n  cmd.run:\n  - name: x\n   - y: z", "x:\n cmd.run:\n   - name: a\n  - b: c", "x:\n  cmd.run:\n    - name: echo: bad", "x:\n  cmd.run\n    - name: y", "x:\n  cmd.run:\n    name: y\n    - z", "x: cmd.run: y", "x:\n  - a\n  b: c", "x:\n  a: b\n  - c", "a: b\n  - c", "a:\n  b\n  c: d", "a: 'x\n  y'\nb: c", "a: 'x\ny'\nb: c", 'a: "x\ny"\nb: c', "- a\n- b: c\n  d: e\n-\n  - f\n- {}\n", "a: 'b\\nc'", "a: \"b\\\n    \\  c\"", "a:\n\n\n  b", "a: b\n  c\n  d\ne: f", "a: b\n\n  c\nd: e", "a: b # x\n  c", "a: 'b' # x\nc: d", "*: a", "'*': a", "*a: b", "base:\n  *:\n    - a", "base:\n  'G@os:Debian':\n    - match: compound\n    - a\n", "!include x", "a: !include x", "a: !!python/object/apply:os.system [ls]", "key: >-\n  {{ x }}\n", "{% if x %}\na: b\n{% endif %}", "a: {% x %}", "a: b}", "a: }", "a: ]", "a: b]", "}", "]", "a: 'b", "a: b'c", "a: b\"c\"", "a: \\n", "a: \"\\/\"", "\"\\'\"", "a: [\"b\" \"c\"]", "a: [b\n  c]", "[a\n#x\n,b]", "[a #x\n,b]", "[a#x\n,b]", "a: [b, #c\n d]", "a: {b: #c\n d}", "{a: b, ? c, d: e}", "{a: {b: {c: d}}}", "a: [b]c", "[a][b]", "{a}{b}", "'a' 'b'", "a: !!str &x b", "a: &x !!str 5\nb: *x", "a: !!str !!int 5", "a: &x &y 5", "a: *x *y", "- &x\n- b", "&x : a", "&x a : b\nc: *x", "!!int 5: a", "? |\n  x\n: y", "? >-\n  x\n: - y", "? a\n? b\n: c", "? a\n: b\n? a\n: c", "a: ? b\n   : c", "- ? a\n  : b", "-  a:  b\n   c:  d", "- - a\n  - b\n- c", "-\n - a\n- b", "a:\n -b", "a: -b", "a: - b\n", "--- |\n x\n", "--- a: b", "--- - a", "---a: b", "a: ---", "---\n- a\n...\n# x\n", "a: b\n--- \n", "\t", "\ta: b", "a: b\t\n", "a: \tb", "a\t: b", " \t\n", "a:\n  \tb", "a:\n  b: c\n\t", "a:\n  b: c\n\td: e", "a: 'b\tc'", "a: b\tc", "- \ta", "[\ta,\tb\t]",
]


def mutate(rng, text):
    bits = ["\n", " ", "  ", ":", ": ", "-", "- ", "[", "]", "{", "}", ",", "'", '"', "#", " #", "|", ">", "&a ", "*a", "!", "!!str ", "?", "? ", "\t", "%", "@", "<<: ", "a", "1", "é", "\\", "---", "...", "\n  ", "\n- "]
    for _ in range(rng.randint(1, 3)):
        i = rng.randint(0, len(text))
        c = rng.random()
        if c < 0.5:
            text = text[:i] + rng.choice(bits) + text[i:]
        elif c < 0.8:
            j = min(len(text), i + rng.randint(1, 4))
            text = text[:i] + text[j:]
        else:
            j = min(len(text), i + rng.randint(1, 12))
            k = rng.randint(0, len(text))
            text = text[:k] + text[i:j] + text[k:]
    return text


def scalars():
    return [s for s in SCALARS.strip("\n").replace("\n", "|").split("|") if s]


WORDS = ["a", "b c", "yes", "no", "null", "~", "", " ", "1", "01", "1.5", "x: y", "x:y", "- a", "-a", "#a", "a #b", "a#b", "[a]", "{a}", "a, b", "'a'", '"a"', "it's", "a\nb", "a\n", "\na", "a\n\nb\n\n", "a\n b", " a", "a ", "\ta", "a\t", "é", "日本語", "😀", "\x00", "\x07", "\x1b[0m", "\x85", "\xa0", "\u2028", "\ufeff", "\ufffe", "\\", "a\\b", "%a", "@a", "`a", "!a", "&a", "*a", "|", ">", "?", "? a", "?a", ":", ":a", "a:", "-", "--", "---", "--- a", "...", "... a", "=", "<<", "0x1F", "0o7", "1:30", "2024-01-31", "2024-01-31 10:20:30", ".inf", ".nan", "1e3", "1_000", "off", "Yes", "y", "NULL", "word " * 30, "word  " * 20, "x" * 200, "word " * 15 + "x" * 100, "it's " * 25, "é " * 60, "a\nb " * 20, "/etc/salt/minion.d/*.conf", "salt://a/b", "http://x.y:80/z?q#f", "C:\\Windows", "a b: c", "a\r\nb", "a\rb", "  ", "\n", "\n\n", "a\n\n", "a\x1fb", "é" * 100, "a: b\nc: d\n", "word " * 15 + "\n" + "word " * 20, "tab\tbed " * 15, "\"quoted\" " * 12, "!", "a" * 127, "a" * 128, "a" * 129, "key with spaces " * 9, "\u200b", "\ue000", "\U0010ffff", "%", "50%", "true", "None", "a  b", "a   " * 40, "'", '"', "''", "a'", "a\n'b'", "a\n\tb", "- ", "a\u2028b", "a\x85b", "x\\ny " * 30, "trailing \nspace", "lead\n  ing", "\\ " * 50]


def value(rng, depth, shared):
    c = rng.random()
    if depth <= 0 or c < 0.45:
        c = rng.random()
        if c < 0.7:
            return rng.choice(WORDS)
        return rng.choice([None, True, False, 0, 1, -5, 10**20, 1.0, 1.5, -0.0, 1e16, 1e-5, 1e300, float("inf"), float("-inf"), float("nan"), b"hi", b"\xff" * 70, (), ("a", 1), {"a"}, datetime.datetime(2024, 1, 31, 10, 20, 30), datetime.datetime(2024, 1, 31, 10, 20, 30, 500)])
    if shared and c < 0.52:
        return rng.choice(shared)
    n = rng.choice([0, 1, 1, 2, 3, 4])
    if c < 0.7:
        v = [value(rng, depth - 1, shared) for _ in range(n)]
    else:
        v = OrderedDict() if c < 0.8 else {}
        for _ in range(n):
            k = rng.choice(WORDS) if rng.random() < 0.9 else rng.choice([None, True, 1, 1.5, (1, "a"), b"k"])
            v[k] = value(rng, depth - 1, shared)
    shared.append(v)
    return v


OPTIONS = [{}, {}, {}, {"default_flow_style": False}, {"default_flow_style": False}, {"default_flow_style": True}, {"indent": 4}, {"indent": 4, "default_flow_style": False}, {"width": 40}, {"width": 1000000}, {"width": 1000000, "default_flow_style": True}, {"sort_keys": False}, {"allow_unicode": False}, {"explicit_start": True}, {"explicit_start": True, "explicit_end": True}, {"full": True}, {"default_style": '"'}, {"default_style": "'"}, {"default_style": "|"}, {"default_style": ">"}, {"canonical": True}, {"line_break": "\r\n"}, {"ignore_aliases": True}]


def dumps(rng, n):
    cases = []
    for w in WORDS:
        cases += [(w, {}), ([w], {"default_flow_style": False}), ({w: w}, {}), ({"k": {"k": w}}, {"default_flow_style": False}), ([w, w], {"default_flow_style": True}), ([w], {"allow_unicode": False, "default_flow_style": False})]
    while len(cases) < n:
        shared = [] if rng.random() < 0.7 else [["s"], {"t": "u"}, []]
        cases.append((value(rng, rng.randint(1, 5), shared), rng.choice(OPTIONS)))
    out = []
    for v, o in cases:
        # Without the identity that Python gives equal constants.
        v = decode(encode(v))
        try:
            want = dump(v, o)
        except Exception as exc:
            want = "!%s: %s" % (type(exc).__name__, exc)
        out.append({"value": encode(v), "options": o, "want": want})
    return out


def main():
    rng = random.Random(3006)
    texts = DOCS + ["v: " + s for s in scalars()] + ["[" + s + "]" for s in scalars()]
    base = [d for d in DOCS if 4 < len(d) < 200]
    texts += [mutate(rng, rng.choice(base)) for _ in range(500)]
    cases, seen = [], set()
    for t in texts:
        if t in seen:
            continue
        seen.add(t)
        cases.append({"text": t, "want": load(t)})
        if "{" in t or "omap" in t or "<<" in t:
            cases.append({"text": t, "ordered": True, "want": load(t, True)})
    with open("load.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    with open("dump.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in dumps(rng, 1400)) + "\n]\n")
    print(len(cases), "load cases")


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["answer"] else main()
