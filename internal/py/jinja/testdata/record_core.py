#!/usr/bin/python3
"""Records oracle-core.json: what Jinja2 3.1.2, set up as Salt 3006 sets it up,
makes of templates that exercise the core language.

Run with a Python that has Jinja2 3.1.2: /usr/bin/python3 record_core.py
"""
import collections
import itertools
import json
import sys
import traceback

import jinja2
import jinja2.ext
import jinja2.sandbox


class PrintedDict(collections.OrderedDict):
    """Prints as Salt's finalizer makes dicts print."""

    def __str__(self):
        return "{" + ", ".join(
            f"{k!r}: {v!r}" if isinstance(v, str) else f"{k!r}: {v!s}" for k, v in self.items()
        ) + "}"

    def __repr__(self):
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.items()) + "}"


def finalize(data):
    if isinstance(data, dict):
        return PrintedDict([(k, finalize(v)) for k, v in data.items()])
    if isinstance(data, (list, tuple, set)):
        return data.__class__([finalize(v) for v in data])
    return data


def echo(*args, **kwargs):
    return repr(args) + repr(kwargs)


def boom(*args):
    raise ValueError("boom")


def ident(x):
    return x


def unjson(v):
    if isinstance(v, dict):
        if list(v) == ["__tuple__"]:
            return tuple(unjson(x) for x in v["__tuple__"])
        return {k: unjson(x) for k, x in v.items()}
    if isinstance(v, list):
        return [unjson(x) for x in v]
    return v


def record(case):
    opts = dict(case.get("opts", {}))
    plain = opts.pop("allow_undefined", False)
    env = jinja2.sandbox.SandboxedEnvironment(
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        loader=jinja2.DictLoader(case.get("files", {})),
        undefined=jinja2.Undefined if plain else jinja2.StrictUndefined,
        finalize=finalize,
        **opts,
    )
    ctx = unjson(case.get("vars", {}))
    ctx.update(echo=echo, boom=boom, ident=ident)
    env.globals.update(ctx)
    try:
        t = case["t"]
        out = env.from_string(t).render(**ctx)
        if t.endswith("\n"):
            out += "\n"
        case["o"] = out
    except RecursionError as e:
        case["e"] = ["RecursionError", "maximum recursion depth exceeded", 0]
    except Exception as e:
        trace = traceback.extract_tb(sys.exc_info()[2])
        lines = [x[1] for x in trace if x[2] in ("top-level template code", "template", "<module>")]
        # The first frame is this script's own.
        lines = [x[1] for x in trace if x[2] in ("top-level template code", "template")]
        msg = str(e)
        line = lines[-1] if lines else 0
        if isinstance(e, jinja2.TemplateSyntaxError):
            line = e.lineno
        case["e"] = [type(e).__name__, msg, line]
    return case


CASES = []


def add(t, group=None, **kw):
    case = {"t": t}
    case.update(kw)
    CASES.append(record(case))


def many(*ts, **kw):
    for t in ts:
        add(t, **kw)


DATA = {
    "one": 1, "two": 2.5, "s": "abc", "e": "", "l": [3, 1, 2], "d": {"a": 1, "b": {"c": [1, 2]}},
    "t": {"__tuple__": [1, "x", None]}, "n": None, "yes": True, "no": False, "deep": [[1, [2, 3]], [4, [5, 6]]],
    "tree": [{"n": "a", "c": [{"n": "b", "c": []}, {"n": "c", "c": [{"n": "d", "c": []}]}]}, {"n": "e", "c": []}],
    "users": [{"name": "zoe", "uid": 7}, {"name": "adam", "uid": 5}, {"name": "bob", "uid": 5}],
    "html": "<a href=\"x\">'&'</a>", "items": {"items": 1, "keys": 2}, "u": "Gr\u00fc\u00dfe \u2192 \u65e5",
}
D = {"vars": DATA}

# expressions
many(
    "{{ 1 }} {{ 1.0 }} {{ 1.50 }} {{ 1e3 }} {{ 1E-7 }} {{ 1e22 }} {{ 123456789012345678901234567890 }}",
    "{{ 0x1F }} {{ 0o17 }} {{ 0b101 }} {{ 1_000 }} {{ 1_0.5_0 }} {{ 00 }} {{ 0_0 }}",
    "{{ 012 }}", "{{ 1__0 }}", "{{ 0xg }}", "{{ 1.2.3 }}", "{{ 1.e3 }}", "{{ .5 }}", "{{ 5. }}",
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }}",
    "{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ (-2) ** 2 }} {{ 2 ** 100 }}",
    "{{ 1 + 2 * 3 - 4 / 2 }} {{ (1 + 2) * 3 }} {{ - 3 }} {{ + 3 }} {{ - - 3 }} {{ not true }} {{ not not 0 }}",
    "{{ 1 + 2 ~ 'x' }}", "{{ 1 ~ 2 + 3 }}", "{{ 'a' ~ 1 * 2 ~ none ~ 1.5 ~ true }}", "{{ 1 ~ 2 == '12' }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 3 > 2 > 1 == 1 }} {{ 1 == 1.0 == true }}",
    "{{ 1 in [1,2] }} {{ 3 not in [1,2] }} {{ 'a' in 'abc' }} {{ 'a' in {'a': 1} }} {{ not 1 in [1] }} {{ 1 in (1,) in [true] }}",
    "{{ 'a' 'b' \"c\" }} {{ 'a' 'b' | upper }} {{ ('x' 'y').upper() }}",
    r"{{ 'a\tb\\n\x41\u00e9\U0001F600\101\'\"' }} {{ '\d\w' }} {{ 'a\
b' }} {{ '\N{BULLET}' }}",
    r"{{ '\xg' }}", r"{{ '\u12' }}", r"{{ '\U00110000' }}", r"{{ '\N{nope}' }}", r"{{ '\é' }}", r"{{ 'é\n' }}",
    "{{ 'unclosed }}", "{{ \"it's\" }} {{ 'say \"x\"' }} {{ ['it\\'s', 'a\"b', 'c\\'\"d'] }}",
    "{{ [] }} {{ [1,] }} {{ [1, [2, ['a']]] }} {{ () }} {{ (1,) }} {{ 1, 2 }} {{ (1) }} {{ (1, 2,) }} {{ {} }} {{ {'a': 1, 2: 'b',} }}",
    "{{ {'a': 1, 'a': 2} }} {{ {1: 'x', true: 'y', 1.0: 'z'} }} {{ {(1,2): 3} }}", "{{ {[1]: 2} }}", "{{ {{}: 2} }}",
    "{{ s[0] }}{{ s[-1] }}{{ s[1:] }}{{ s[:1] }}{{ s[::-1] }}{{ s[::2] }}{{ l[0] }}{{ l[-1] }}{{ l[1:2] }}{{ t[0] }}{{ t[1:] }}",
    "{{ l[5:] }}{{ l[-10:2] }}{{ l[::0] }}", "{{ l['x':] }}", "{{ d[1:2] }}", "{{ l[0,1] is defined }}",
    "{{ d.a }}{{ d['a'] }}{{ d.b.c[1] }}{{ d.b['c'].0 }}{{ l.0 }}{{ l.2 }}{{ d.b.c.0 }}",
    "{{ d.items() }} {{ items.items is callable }} {{ items['items'] }} {{ items.keys is callable }} {{ items['keys'] }}",
    "{{ d.nope is defined }} {{ d['nope'] is defined }} {{ l[9] is defined }} {{ s.nope is defined }} {{ one.nope is defined }} {{ n.x is defined }}",
    "{{ d.nope }}", "{{ d['nope'] }}", "{{ l[9] }}", "{{ s.nope }}", "{{ one.nope }}", "{{ n.x }}", "{{ n['x'] }}", "{{ d[1] }}", "{{ d[none] }}", "{{ t.x }}",
    "{{ d.nope.x }}", "{{ nope.x }}", "{{ nope['x'] }}", "{{ nope() }}", "{{ nope + 1 }}", "{{ 1 + nope }}", "{{ nope ~ 'x' }}", "{{ -nope }}",
    "{{ not nope }}", "{{ nope and 1 }}", "{{ 1 and nope }}", "{{ 0 and nope }}", "{{ nope or 1 }}", "{{ nope == 1 }}", "{{ 1 == nope }}", "{{ 1 != nope }}", "{{ nope < 1 }}",
    "{{ 1 in nope }}", "{{ nope in [1] }}", "{{ nope in [] }}", "{{ nope in 'abc' }}", "{{ nope in {} }}", "{{ nope in {'a': 1} }}", "{{ nope is none }}", "{{ nope is defined }}", "{{ nope is undefined }}",
    "{{ nope[1:] }}", "{{ d[nope] }}", "{{ l[nope] }}", "{{ [nope] }}", "{{ (nope,) }}", "{{ {'a': nope} }}", "{{ {nope: 1} }}", "{{ echo(nope) }}", "{{ nope if false else 2 }}", "{{ 1 if nope }}",
    "{{ 'x' if false }}|{{ ('x' if false) is defined }}", "{{ ('x' if false).y }}", "{{ ('x' if false) + 1 }}", "{{ ('x' if false) or 'z' }}", "{% for i in ('x' if false) %}{% endfor %}ok", "{{ [('x' if false)] }}", "{{ ('x' if false) == ('y' if false) }}",
    "{{ 1 if 2 if 0 else 3 else 4 }}", "{{ 1 if true else 2 if true else 3 }}", "{{ 'a' if s == 'abc' }}", "{{ (1 if no else 2) + 1 }}",
    "{{ 1 and 2 }} {{ 0 and 2 }} {{ 0 or 'x' }} {{ 1 or 2 }} {{ '' or none }} {{ not 1 or 2 }} {{ 1 and 0 or 3 }} {{ not (1 and 0) }}",
    "{{ true }} {{ True }} {{ false }} {{ False }} {{ none }} {{ None }} {{ TRUE is defined }}",
    "{{ echo() }} {{ echo(1) }} {{ echo(1, a=2) }} {{ echo(*[1,2]) }} {{ echo(**{'a': 1}) }} {{ echo(0, *(1,2), b=3, **{'c': 4}) }} {{ echo(1,) }} {{ echo(*'ab') }}",
    "{{ echo(a=1, *[2]) }}", "{{ echo(*[1], *[2]) }}", "{{ echo(**{}, **{}) }}", "{{ echo(a=1, 2) }}", "{{ echo(**{}, 1) }}", "{{ echo(1 2) }}", "{{ echo(class=1, if=2) }}",
    "{{ boom() }}", "\n\n{{ boom() }}", "{{ s() }}", "{{ none() }}", "{{ 5() }}", "{{ l.append(4) }}{{ l }}", "{{ s.upper }}" if False else "{{ s.upper() }}",
    "{{ ''.__class__ }}", "{{ ''.__class__.__mro__ }}", "{{ ''['__class__'] }}", "{{ ''.__nope__ }}", "{{ ''.__class__ is defined }}", "{{ d._x is defined }}", "{{ echo.__globals__ }}", "{{ l.__len__() }}", "{{ {'_x': 1}._x }}", "{{ {'__class__': 1}['__class__'] }}",
    "{{ s is string }} {{ l is iterable }} {{ d is mapping }} {{ one is number }} {{ one is not string }} {{ not one is string }} {{ 4 is divisibleby 2 }} {{ 4 is divisibleby(3) }} {{ 1 is eq 1 }} {{ 1 is ==(1) }}",
    "{{ 4 is divisibleby 2 and true }} {{ 4 is odd or 3 is odd }} {{ s is string is string }}",
    "{{ s is in ['abc'] }} {{ s is in 'xabcx' }} {{ 1 is sameas true }} {{ true is sameas true }} {{ none is none }}",
    "{{ s | upper | lower | title }} {{ -1 | abs }} {{ (-1) | abs }} {{ 1 + -2 | abs }} {{ 'a' ~ 'b' | upper }} {{ l | first + 1 }} {{ l | length > 2 }} {{ [1,2] | join('-') ~ 'x' }}",
    "{{ s.upper().lower()[0] }} {{ (s ~ 'd')[1:].upper() }} {{ [1,2,3][1] }} {{ {'a': 'b'}.a }} {{ {'a': 'b'}['a'] }} {{ 'x'.join(['a','b']) }} {{ (1,2)[0] }}",
    "{{ d|attr('a') is defined }} {{ s|attr('upper') is defined }}", "{{ l|nofilter }}", "{{ 1 is notest }}", "{% if no %}{{ 1|nofilter }}{% endif %}ok", "{% if yes %}\n{{ 1|nofilter }}{% endif %}ok", "{{ 1|nofilter if no }}", "{{ (1 is notest) if yes }}", "{% for x in l %}{{ x|nofilter }}{% endfor %}",
    "{{ u }} {{ u[0:3] }} {{ u|length }} {{ [u] }}", "{{ 'é'.upper() }}", "{{ été }}", "{% set été = 1 %}{{ été }}", "{{ a² }}", "{{ 1 $ 2 }}", "{{ 'a' ! }}", "{{ ? }}", "{{ `x` }}", "{{ a; b }}", "{{ @ }}", "{{ é$ }}",
    **D)
many(
    "{{ }}", "{{", "{{ 1", "{{ 1 }", "{{ (1 }}", "{{ 1) }}", "{{ [1) }}", "{{ {1: }}", "{{ {1 2} }}", "{{ [1 2] }}", "{{ 1 2 }}", "{{ a b }}", "{{ a. }}", "{{ a.'x' }}", "{{ a[ }}", "{{ a[] }}", "{{ a[1 2] }}", "{{ |x }}", "{{ a| }}", "{{ a|1 }}", "{{ a is }}", "{{ a is 1 }}", "{{ a if }}", "{{ a not b }}", "{{ not }}", "{{ 1 + }}", "{{ * 2 }}", "{{ a = 1 }}", "{{ ~ }}", "{{ a ~ }}", "{{ f(a=) }}", "{{ f(=1) }}", "{{ f(, ) }}", "{{ f(a b) }}", "{{ f(**) }}",
    "{% %}", "{%", "{% if", "{% if %}", "{% if 1", "{% if 1 %}", "{% if 1 %}{% else %}", "{% if 1 %}{% elif %}", "{% elif 1 %}", "{% else %}", "{% endif %}", "{% endfor %}", "{% for %}", "{% for x %}", "{% for x in %}", "{% for x in y %}", "{% for 1 in y %}{% endfor %}", "{% for x.y in z %}{% endfor %}", "{% for x in y %}{% endif %}", "{% for x in [] %}{% if 1 %}{% endfor %}{% endif %}", "{% set %}", "{% set x %}", "{% set x = %}", "{% set 1 = 2 %}", "{% set x.y = 1 %}", "{% set x[0] = 1 %}", "{% set none = 1 %}", "{% set x, none = 1, 2 %}", "{% set (a, 1) = 1, 2 %}", "{% set 'x' = 1 %}", "{% set [a] = 1 %}", "{% set {} = 1 %}", "{% set x = 1 }}", "{% macro %}", "{% macro m %}", "{% macro m( %}", "{% macro m(1) %}{% endmacro %}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro none() %}{% endmacro %}", "{% macro m(a b) %}{% endmacro %}", "{% macro m() %}", "{% call %}", "{% call x %}{% endcall %}", "{% call x.y %}{% endcall %}", "{% call(1) x() %}{% endcall %}", "{% filter %}", "{% filter nofilter %}{% endfilter %}", "{% block %}", "{% block 1 %}", "{% block a-b %}{% endblock %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% block a %}x", "{% block a required %}x{% endblock %}", "{% extends %}", "{% for i in [1] %}{% extends 'x' %}{% endfor %}", "{% include %}", "{% import %}", "{% import 'x' %}", "{% import 'x' as %}", "{% import 'x' as 1 %}", "{% from %}", "{% from 'x' %}", "{% from 'x' import %}", "{% from 'x' import _a %}", "{% from 'x' import a as %}", "{% from 'x' import a b %}", "{% from 'x' import a, %}", "{% from 'x' import 1 %}", "{% with %}", "{% with a %}{% endwith %}", "{% with a = %}{% endwith %}", "{% with 1 = 2 %}{% endwith %}", "{% autoescape %}", "{% do %}", "{% print %}", "{% raw %}", "{% raw %}x", "{% endraw %}", "{% break %}" if False else "{% nope %}", "{% 1 %}", "{% 'x' %}", "{% if 1 %}{% nope %}{% endif %}", "{% for x in y %}{% endfo %}{% endfor %}", "\n\n{% if 1 %}\n{% for x in [1] %}\n{% endif %}", "{# x", "{#", "a\n{# x\n\n", "a #} b", "{% debug %}", "{% trans %}x{% endtrans %}", "{% if 1 %}}{% endif %}", "{% for loop in [1] %}{% endfor %}", "{% for x in [1] %}{% set loop = 1 %}{% endfor %}", "{% macro m(caller) %}{{ caller() }}{% endmacro %}", "{% set a.b.c = 1 %}", "{{ a.b.1.c.2 }}", "}} %} #}", "{ { x } } {%% }", "{% if 1 -%} a {%- endif +%} b", "{{- 1 -}}", "{{+ 1 }}", "{{-1}}", "{{ 1 -}} x", "{{ 1 +}} x", "{%- set x = 1 -%} {{ x }}", "{#- c -#} x", "x {#- c +#} y", "{% raw -%} {{ x }} {%- endraw %} y", "x {%- raw %} {% endraw -%} y", "{% raw %}{% raw %}{% endraw %}", "{%raw%}{{ a }}{%endraw%}", "{%   raw   %} a {%   endraw   %}", "{% rawx %}", "{% raw x %}",
)
# statements
many(
    "{% set x = 1 %}{{ x }}", "{% set x, y = 1, 2 %}{{ x }}{{ y }}", "{% set (x, y) = [1, 2] %}{{ x }}{{ y }}", "{% set x, (y, z) = 1, (2, 3) %}{{ x }}{{ y }}{{ z }}", "{% set x, y = 'ab' %}{{ x }}{{ y }}", "{% set x, = [1] %}{{ x }}", "{% set x = 1, 2 %}{{ x }}", "{% set x = 1, %}{{ x }}", "{% set a = b = 1 %}",
    "{% set x, y = 1 %}", "{% set x, y = [1] %}", "{% set x, y = [1,2,3] %}", "{% set x, y = {'a': 1, 'b': 2} %}{{ x }}{{ y }}", "{% set x, y = nope %}", "{% set x, y = none %}",
    "{% set x %}a{{ 1 }}b{% endset %}[{{ x }}]", "{% set x | upper %}abc{% endset %}{{ x }}", "{% set x | replace('a', 'b') | upper %}aac{% endset %}{{ x }}", "{% set x | length %}abc{% endset %}{{ x + 1 }}", "{% set a, b %}xy{% endset %}{{ a }}-{{ b }}", "{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y is defined }}", "{% set x = 'a' %}{% set x %}{{ x }}b{% endset %}{{ x }}",
    "{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}", "{% set ns = namespace(a=1, b='x') %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}", "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }} {{ ns }}", "{% set ns = namespace() %}{{ ns.x }}", "{% set d.x = 1 %}", "{% set nope.x = 1 %}", "{% set ns = namespace(items=1) %}{{ ns.items }} {{ ns['items'] }}", "{% set ns = namespace() %}{% set ns.a %}x{{ 1 }}{% endset %}{{ ns.a }}", "{% set ns = namespace(a=[1]) %}{% do ns.a.append(2) %}{{ ns.a }} {{ ns.a is defined }} {{ ns.b is defined }}", "{% set ns = namespace() %}{% set ns.x, y = 1, 2 %}",
    "{{ x }}{% set x = 1 %}", "{% if no %}{% set x = 1 %}{% endif %}{{ x is defined }}", "{% if yes %}{% set x = 1 %}{% endif %}{{ x }}", "{% if yes %}{% set s = 'new' %}{% endif %}{{ s }}", "{% if no %}{% set s = 'new' %}{% endif %}{{ s }}", "{% if no %}{% set s = 'new' %}{% else %}{% set s = 'else' %}{% endif %}{{ s }}", "{% if no %}{% elif yes %}{% set s = 'elif' %}{% endif %}{{ s }}",
    "{% for i in l %}{% set s = i %}{{ s }}{% endfor %}{{ s }}", "{% for i in l %}{{ s }}{% set s = i %}{{ s }}{% endfor %}{{ s }}", "{% set x = 0 %}{% for i in l %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", "{% for i in l %}{% if i == 1 %}{% set x = i %}{% endif %}{{ x is defined }}{% endfor %}", "{% for i in l %}{% if loop.first %}{% set s = 'n' %}{% endif %}{{ s }}{% endfor %}", "{% for i in l %}{% endfor %}{{ i is defined }}", "{% set i = 9 %}{% for i in l %}{{ i }}{% endfor %}{{ i }}", "{% for s in s %}{{ s }}{% endfor %}{{ s }}", "{% for x in l %}{% for x in [7,8] %}{{ x }}{% endfor %}{{ x }}{% endfor %}",
    "{% with %}{% set a = 1 %}{{ a }}{% endwith %}{{ a is defined }}", "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}", "{% with s = s ~ 'x' %}{{ s }}{% endwith %}{{ s }}", "{% set a = 5 %}{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}", "{% with a, b = 1, 2 %}{{ a }}{{ b }}{% endwith %}" if False else "{% with a = 1 %}{% with b = a %}{{ b }}{% endwith %}{% endwith %}", "{% with a = nope.x %}{% endwith %}",
    "{% for x in [] %}x{% else %}empty{% endfor %}", "{% for x in l %}x{% else %}empty{% endfor %}", "{% for x in l if x > 1 %}{{ x }}{% endfor %}", "{% for x in l if x > 10 %}{{ x }}{% else %}none{% endfor %}", "{% for x in l if x > 1 %}{{ loop.index }}/{{ loop.length }}{{ x }} {% endfor %}", "{% for x in l if x is odd %}{{ loop.last }}{{ loop.nextitem is defined }}{{ x }} {% endfor %}", "{% for x in l if nope %}{% endfor %}", "{% for x in nope if 1 %}{% endfor %}", "\n{% for x in nope %}\n{% endfor %}", "{% for x in none %}{% endfor %}", "{% for x in 5 %}{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}", "{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% if not loop.first %}{{ loop.previtem }}{% endif %}{% if not loop.last %}{{ loop.nextitem }}{% endif %} {% endfor %}", "{% for x in l %}{{ loop.previtem }}{% endfor %}", "{% for x in l %}{{ loop.nextitem }}{% endfor %}", "{% for x in [1,1,2,2,1] %}{{ loop.changed(x) }}{% endfor %}", "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{% for x in l %}{{ loop.cycle() }}{% endfor %}", "{% for x in l %}{{ loop }}{% endfor %}", "{% for x in l %}{{ loop.nope }}{% endfor %}", "{% for x in l %}{{ loop(x) }}{% endfor %}", "{{ loop }}", "{% for x in l %}{% endfor %}{{ loop is defined }}", "{% for x in l %}{% for y in 'ab' %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}", "{% for x in 'ab' %}{% set outer = loop %}{% for y in 'cd' %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}", "{% for x in l|map('string') %}{{ loop.index }}{{ loop.length }}{{ loop.revindex }}{{ x }} {% endfor %}", "{% for x in l|map('string') %}{{ x }}{{ loop.last }}{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}", "{% for a, (b, c) in deep %}{{ a }}{{ b }}{{ c }};{% endfor %}", "{% for a, b in deep %}{{ a }}{{ b }};{% endfor %}", "{% for (a, b) in deep %}{{ a }}{{ b }};{% endfor %}", "{% for a, b in l %}{% endfor %}", "{% for a, b in [[1]] %}{% endfor %}", "{% for a, b in [[1,2,3]] %}{% endfor %}", "{% for a, b in ['xy', 'zw'] %}{{ a }}{{ b }}{% endfor %}", "{% for x in 1, 2, 3 %}{{ x }}{% endfor %}", "{% for x in range(3) %}{{ x }}{% endfor %}{% for x in range(5, 0, -2) %}{{ x }}{% endfor %}", "{% for x in range(100001) %}{% endfor %}", "{% for c in s %}{{ c }}.{% endfor %}", "{% for x in l|sort %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% continue %}{% else %}else{% endfor %}", "{% for x in l %}{% break %}{% else %}else{% endfor %}", "{% for x in l %}{% for y in l %}{% break %}{% endfor %}{{ x }}{% endfor %}", "{% for x in l %}{% if x > 2 %}{% set y = x %}{% continue %}{% endif %}{{ y is defined }}{% endfor %}",
    "{% set m = [1,2] %}{% for x in m %}{{ x }}{% if x < 3 %}{% do m.append(3) %}{% endif %}{% endfor %}{{ m }}", "{% set m = {'a': 1} %}{% for x in m %}{% do m.update({'b': 2}) %}{% endfor %}", "{% set m = {'a': 1, 'b': 2} %}{% for x in m %}{% do m.update({x: 3}) %}{% endfor %}{{ m }}", "{% set m = {'a': 1, 'b': 2} %}{% for k, v in m.items() %}{% do m.pop(k) %}{% endfor %}{{ m }}",
    "{% for x in tree recursive %}{{ x.n }}{{ loop.depth }}{{ loop.depth0 }}{% if x.c %}[{{ loop(x.c) }}]{% endif %}{% endfor %}", "{% for x in tree recursive %}{{ x.n }}{{ loop.index }}{{ loop.last }}({{ loop(x.c) }}){% else %}-{% endfor %}", "{% for x in tree if x.n != 'e' recursive %}{{ x.n }}{{ loop(x.c) }}{% endfor %}", "{% set p = 'q' %}{% for x in tree recursive %}{{ p }}{{ x.n }}{% set p = x.n %}{{ loop(x.c) }}{% endfor %}", "{% for x in tree recursive %}{{ loop(nope) }}{% endfor %}", "{% for x in tree recursive %}\n{{ x.zz }}{% endfor %}", "{% for x in tree recursive %}{{ loop() }}{% endfor %}",
    "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}", "{% if nope is defined %}a{% else %}b{% endif %}", "{% if '' %}a{% elif [] %}b{% elif {} %}c{% elif 0.0 %}d{% elif () %}e{% elif none %}f{% else %}g{% endif %}", "{% if 1 %}{% if 0 %}{% else %}x{% endif %}{% endif %}", "{% if 1, %}x{% endif %}", "{% if not l %}a{% else %}b{% endif %}", "{% if 1 %}{% endif %}", "{% if 1: %}x{% endif %}", "{% if nope.x %}{% endif %}", "{% if 1 %}\n{% elif nope %}\n{% endif %}", "{% if 0 %}\n\n{% elif nope %}\n{% endif %}",
    "{% do l.append(9) %}{{ l }}", "{% do 1 %}", "{% do nope %}ok", "{% do nope.x %}", "{% do l.append(1), l.append(2) %}{{ l }}", "{% print 1 %}", "{% print 1, 'a' %}",
    "{% filter upper %}abc{{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}aac{% endfilter %}", "{% filter length %}abc{% endfilter %}", "{% filter indent(2) %}a\nb{% endfilter %}", "{% filter upper %}{% set q = 1 %}{{ q }}{% endfilter %}{{ q is defined }}", "{% set x = 'b' %}{% filter replace('a', x) %}a{% endfilter %}", "{% filter upper %}{% for x in l %}a{{ x }}{% endfor %}{% endfilter %}",
    "{% autoescape true %}{{ html }}{% endautoescape %}{{ html }}", "{% autoescape false %}{{ html }}{% endautoescape %}", "{% autoescape true %}{{ html|safe }}{{ '<b>' ~ html|safe }}{% endautoescape %}", "{% autoescape yes %}{{ html }}{{ 1 }}{{ [html] }}{% endautoescape %}", "{% autoescape true %}{% set x %}<b>{{ '<' }}{% endset %}{{ x }}{% endautoescape %}{{ x }}", "{% autoescape true %}{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m('<') }}{% endautoescape %}{{ m('<') }}", "{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{% autoescape true %}{{ m('<') }}{% endautoescape %}", "{{ html|e }} {{ html|e|e }} {{ (html|e) + '<' }} {{ html|escape|safe }}", "{{ '<b>' ~ (html|e) }}", "{{ ('%s'|safe) % '<' }} {{ ('a'|safe) ~ '<' }} {{ '<' + ('a'|safe) }}", "{{ [html|e] }} {{ {'a': 'b'|e} }}",
    "{% macro m() %}x{% endmacro %}{{ m() }}{{ m }}", "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(a=1) }}{{ m(b=1, a=0) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}", "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}{{ m() }}", "{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}", "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}", "{% macro m(a=b, b=1) %}{{ a }}{% endmacro %}{{ m() }}", "{% macro m(a=b, b=1) %}{{ a }}{% endmacro %}{{ m(2) }}", "{% macro m(a=[]) %}{% do a.append(1) %}{{ a }}{% endmacro %}{{ m() }}{{ m() }}", "{% macro m(x) %}{{ s }}{{ x }}{% endmacro %}{% set s = 'late' %}{{ m(1) }}", "{% macro m() %}{{ zz }}{% endmacro %}{% set zz = 1 %}{{ m() }}{% set zz = 2 %}{{ m() }}", "{% macro m() %}{{ zz }}{% endmacro %}{{ m() }}{% set zz = 1 %}", "{% macro m() %}{% set q = 1 %}{{ q }}{% endmacro %}{{ m() }}{{ q is defined }}", "{% set q = 5 %}{% macro m() %}{% set q = q + 1 %}{{ q }}{% endmacro %}{{ m() }}{{ m() }}{{ q }}", "{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}{{ m is defined }}", "{% macro a() %}{% macro b() %}b{% endmacro %}{{ b() }}{% endmacro %}{{ a() }}{{ b is defined }}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% macro m(a, b=1, *c) %}{% endmacro %}",
    "{% macro m(a, b=1) %}{% endmacro %}{{ m.name }} {{ m.arguments }} {{ m.catch_kwargs }} {{ m.catch_varargs }} {{ m.caller }} {{ m.nope is defined }} {{ m.defaults is defined }}", "{% macro m(a) %}{{ caller() }}{{ kwargs }}{{ varargs }}{% endmacro %}{{ m.name }} {{ m.arguments }} {{ m.catch_kwargs }} {{ m.catch_varargs }} {{ m.caller }}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}x{{ s }}{% endcall %}", "{% macro m(x) %}{% for i in l %}{{ caller(i, x) }}{% endfor %}{% endmacro %}{% call(a, b) m('q') %}{{ a }}{{ b }};{% endcall %}", "{% macro m() %}{{ caller(1) }}{% endmacro %}{% call(a, b=2) m() %}{{ a }}{{ b }}{% endcall %}", "{% macro m() %}{{ caller(1) }}{% endmacro %}{% call m() %}x{% endcall %}", "{% macro m() %}{{ caller }}{% endmacro %}{% call m() %}x{% endcall %}", "{% macro m(caller=none) %}{{ caller }}{{ caller() if caller }}{% endmacro %}{{ m() }}{% call m() %}x{% endcall %}", "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}", "{% macro m() %}{% if caller is defined %}{{ caller() }}{% else %}no{% endif %}{% endmacro %}{{ m() }}", "{% call echo() %}y{% endcall %}" if False else "{% call ident(s) %}y{% endcall %}", "{% call ident(5) %}{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{% for i in l %}{% call m() %}{{ i }}{{ loop.index }}{% endcall %}{% endfor %}", "{% macro m() %}({{ caller() }}){% endmacro %}{% call m() %}{% call m() %}x{% endcall %}{% endcall %}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(nope) }}", "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m(nope) }}", "{% macro m(a='x') %}{{ a }}{% endmacro %}{{ m(nope) }}", "{% macro m() %}\n{{ nope }}{% endmacro %}\n\n{{ m() }}", "{% macro m(a=nope) %}{{ a }}{% endmacro %}\n{{ m() }}", "{% macro m(x) -%}\n{{ x }}\n{%- endmacro %}{{ m(1) }}{{ m(x=2)|upper }}", "{% macro m() %}{{ varargs|length }}{% endmacro %}{{ m(*[1,2,3]) }}", "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1,2]) }}{{ m(**{'a': 1, 'b': 2}) }}{{ m(1, **{'b': 2}) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**{'zz': 1}) }}", "{% macro m() %}{{ kwargs.x }}{% endmacro %}{{ m(x=1) }}{{ m() }}", "{{ m() }}{% macro m() %}x{% endmacro %}", "{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1) }}", "{% set x = m %}{% macro m() %}{% endmacro %}", "{% macro m() %}a{% endmacro %}{% set f = m %}{{ f() }}{{ [m()] }}{{ m() ~ 'b' }}{{ m()|upper }}{{ m() == 'a' }}",
    "{% block a %}x{% endblock %}", "{% block a %}{{ s }}{% endblock %}{{ self.a() }}", "{% block a %}{% set zz = 1 %}{{ zz }}{% endblock %}{{ zz is defined }}", "{% set zz = 3 %}{% block a %}{{ zz }}{% endblock %}", "{% for i in l %}{% block a %}{{ i is defined }}{% endblock %}{% endfor %}", "{% for i in l %}{% block a scoped %}{{ i }}{{ loop.index }}{% endblock %}{% endfor %}", "{% block a %}{% block b %}x{% endblock %}{% endblock b %}{{ self.b() }}", "{{ self.nope() }}", "{{ self.a }}" if False else "{% block a %}{{ super() }}{% endblock %}", "{% block a %}\n{{ nope }}{% endblock %}", "\n{% block a %}\n\n{{ nope }}{% endblock %}", "{% block a required %}{% endblock %}", "{% block a required %} {# c #} {% endblock %}", "{% if no %}{% block a %}x{% endblock %}{% endif %}", "{% macro m() %}{{ s }}{% endmacro %}{% block a %}{{ m() }}{% endblock %}", "{% block a %}{% for i in [1] recursive %}\n{{ nope }}{% endfor %}{% endblock %}", "{% set x %}{% block a %}q{% endblock %}{% endset %}{{ x }}",
    "a\r\nb\rc\n", "{{ 'a\r\nb' }}" if False else "x\r\n{{ 1 }}\r\n", "\n\n\n", "", "\n", "a", "a\n\n", "{{ 1 }}\n", "{{ 1 }}", "{% if 1 %}\n{% endif %}\n", "x{# c #}y", "x\n{# c\nd #}\ny", "{{ 1\n+\n2 }}", "{{\n\n  nope\n}}", "{{ echo(\n  1,\n  nope.x\n) }}", "{% set x =\n  nope.y %}", "{{ s\n|upper\n|nofilter }}", "{% if\n nope\n%}{% endif %}", "a{{ 1 }}\n{{ s }} {{ nope }}", "{% set x = 1 %}\n{% set y = 2 %}\n{{ x / 0 }}", "{{ x }}\n{{ y }}", "{% for i in [1] %}\n{{ i.x.y }}\n{% endfor %}", "\n{{ echo(1)\n}}{{ boom() }}", "{% for i in\n nope %}{% endfor %}",
    **D)
# other templates
F = {
    "a.j": "A{{ s }}{{ loc is defined }}", "sets.j": "{% set v = 1 %}{% set _p = 2 %}{% macro m(x) %}<{{ x }}{{ s }}>{% endmacro %}body",
    "late.j": "{% macro m() %}{{ v }}{% endmacro %}{% set v = 7 %}", "err.j": "x\n{{ nope }}\n", "syn.j": "x\n{% if %}\n", "imp.j": "{% import 'sets.j' as q %}{% set z = q.v %}{% from 'sets.j' import m %}",
    "base.j": "<{% block a %}base a{% endblock %}|{% block b %}base b{% endblock %}>", "mid.j": "{% extends 'base.j' %}{% block a %}mid {{ super() }}{% endblock %}", "self.j": "{% include 'self.j' %}", "loopctx.j": "{{ loop.index }}{{ i }}",
    "ns.j": "{% set ns = namespace(n=0) %}{% macro inc() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}", "vars.j": "{% set out = loc if loc is defined else 'none' %}", "req.j": "{% block r required %}{% endblock %}", "macerr.j": "{% macro m() %}\n\n{{ 1/0 }}{% endmacro %}", "filt.j": "{{ 1|nofilter }}",
    "blockvar.j": "{% set q = 1 %}{% block a %}{{ q }}{% endblock %}", "inc2.j": "[{% include 'a.j' %}]", "dyn.j": "{% extends parent %}{% block a %}dyn{% endblock %}", "scoped.j": "{% for i in l %}{% block it scoped %}{{ i }}{% endblock %}{% endfor %}", "caller.j": "{% macro wrap() %}({{ caller() }}){% endmacro %}",
}
FD = {"vars": DATA, "files": F}
many(
    "{% include 'a.j' %}", "{% set loc = 1 %}{% include 'a.j' %}", "{% set loc = 1 %}{% include 'a.j' without context %}", "{% include 'nope.j' %}", "{% include 'nope.j' ignore missing %}ok", "{% include ['nope.j', 'a.j'] %}", "{% include ['nope.j', 'zip.j'] %}", "{% include [] %}", "{% include ['nope.j'] ignore missing %}ok", "{% include 'nope.j' ignore missing with context %}ok", "{% include 'nope.j' ignore missing without context %}ok", "{% include nope %}", "{% include [nope, 'a.j'] %}", "{% include ('a.j', 'b.j') %}", "{% include 'err.j' %}", "\n\n{% include 'err.j' %}", "{% include 'err.j' ignore missing %}", "{% include 'syn.j' %}", "{% include 'filt.j' %}", "{% for i in l %}{% include 'loopctx.j' %}{% endfor %}", "{% for i in l %}{% set loc = i %}{% include 'a.j' %}{% endfor %}", "{% include 'self.j' %}", "{% include 'inc2.j' %}", "{% set f = 'a.j' %}{% include f %}", "{% include 'a' ~ '.j' %}", "{% include 5 %}", "{% macro m(loc) %}{% include 'a.j' %}{% endmacro %}{{ m(1) }}", "{% with loc = 1 %}{% include 'a.j' %}{% endwith %}", "{% include 'sets.j' %}{{ v is defined }}", "{% set s = 'new' %}{% include 'a.j' %}", "{% set s = 'new' %}{% include 'a.j' without context %}",
    "{% import 'sets.j' as q %}{{ q.v }}{{ q.m(1) }}{{ q._p is defined }}{{ q.nope is defined }}", "{% import 'sets.j' as q %}{{ q.nope }}", "{% import 'sets.j' as q %}{{ q }}{{ q|string }}", "{% import 'sets.j' as q %}{{ [q] }}", "{% import 'nope.j' as q %}", "{% import 'err.j' as q %}", "{% import 'syn.j' as q %}", "{% from 'sets.j' import v %}{{ v }}", "{% from 'sets.j' import v as w, m %}{{ w }}{{ m(2) }}{{ v is defined }}", "{% from 'sets.j' import nope %}ok", "{% from 'sets.j' import nope %}{{ nope }}", "\n{% from 'sets.j' import nope as x %}\n{{ x.y }}", "{% from 'sets.j' import v with context %}{{ v }}", "{% from 'sets.j' import v without context %}{{ v }}", "{% from 'sets.j' import with %}", "{% from 'sets.j' import v, with context %}{{ v }}", "{% from 'sets.j' import v, m, %}", "{% import 'vars.j' as x %}{{ x.out }}", "{% set loc = 5 %}{% import 'vars.j' as x %}{{ x.out }}", "{% set loc = 5 %}{% import 'vars.j' as x with context %}{{ x.out }}", "{% for loc in l %}{% from 'vars.j' import out with context %}{{ out }}{% endfor %}", "{% macro f(loc) %}{% from 'vars.j' import out with context %}{{ out }}{% endmacro %}{{ f(8) }}", "{% from 'late.j' import m %}{{ m() }}", "{% from 'imp.j' import z, m %}{{ z }}{{ m is defined }}", "{% import 'imp.j' as i %}{{ i.z }}{{ i.q is defined }}{{ i.m is defined }}", "{% from 'ns.j' import inc %}{{ inc() }}{{ inc() }}{% from 'ns.j' import inc as inc2 %}{{ inc2() }}", "{% from 'ns.j' import inc with context %}{{ inc() }}{% from 'ns.j' import inc as i2 with context %}{{ i2() }}", "{% for i in [1,2] %}{% from 'ns.j' import inc %}{{ inc() }}{% endfor %}", "{% from 'macerr.j' import m %}\n{{ m() }}", "{% import 'macerr.j' as q %}\n\n\n\n{{ q.m() }}", "{% if yes %}{% from 'sets.j' import v %}{% endif %}{{ v }}", "{% if no %}{% from 'sets.j' import v %}{% endif %}{{ v }}", "{% from s import x %}", "{% from 'caller.j' import wrap %}{% call wrap() %}{{ s }}{% endcall %}", "{% set v = 9 %}{% from 'sets.j' import v %}{{ v }}", "{% from 'sets.j' import v %}{% set v = 2 %}{{ v }}", "{% import 'sets.j' as q %}{{ q.m('a')|upper }}{{ q['v'] }}{{ q['nope'] is defined }}", "{% import 'sets.j' as q %}{{ q.__name__ }}", "{% set s = 'mine' %}{% from 'sets.j' import m %}{{ m(1) }}", "{% set s = 'mine' %}{% from 'sets.j' import m with context %}{{ m(1) }}", "{% from 'sets.j' import m with context %}{% set s = 'mine' %}{{ m(1) }}",
    "{% extends 'base.j' %}", "{% extends 'base.j' %}{% block a %}child{% endblock %}ignored{{ nope }}", "{% extends 'base.j' %}{% block a %}child {{ super() }}{% endblock %}", "{% extends 'mid.j' %}{% block a %}child {{ super() }}{% endblock %}", "{% extends 'mid.j' %}{% block a %}{{ super.super() }}{% endblock %}", "{% extends 'mid.j' %}{% block a %}{{ super.super.super() }}{% endblock %}", "{% extends 'base.j' %}{% set x = 1 %}{% block a %}{{ x }}{% endblock %}", "{% extends 'base.j' %}{% macro m() %}mm{% endmacro %}{% block a %}{{ m() }}{% endblock %}", "{% extends 'base.j' %}{% block a %}{{ self.b() }}{% endblock %}", "{% extends 'base.j' %}{% extends 'mid.j' %}", "{% if yes %}{% extends 'base.j' %}{% endif %}x{% block a %}c{% endblock %}", "{% if no %}{% extends 'base.j' %}{% endif %}x{% block a %}c{% endblock %}", "{% extends nope %}", "{% extends 'nope.j' %}", "{% set p = 'base.j' %}{% extends p %}", "x{% extends 'base.j' %}y", "{% extends 'req.j' %}", "{% extends 'req.j' %}{% block r %}ok{% endblock %}", "{% extends 'blockvar.j' %}{% block a %}{{ q is defined }}{% endblock %}", "{% extends 'blockvar.j' %}{% set q = 5 %}", "{% set parent = 'base.j' %}{% include 'dyn.j' %}", "{% extends 'base.j' %}{% block zz %}never{% endblock %}", "{% extends 'base.j' %}{% include 'a.j' %}", "{% extends 'base.j' %}{% block a %}\n{{ nope }}{% endblock %}", "{% extends 'err.j' %}", "{% extends 'scoped.j' %}{% block it %}[{{ i }}]{% endblock %}", "{% extends 'base.j' %}{% for x in l %}{{ x }}{% endfor %}{% do l.append(1) %}{% block b %}{{ l }}{% endblock %}", "{% extends 'base.j' %}{% block a %}{% include 'a.j' %}{% endblock %}",
    **FD)
# undefined allowed
many(
    "{{ nope }}|{{ nope.x }}", "[{{ nope }}]", "{{ nope ~ 'x' }}", "{{ nope or 'x' }}", "{% for x in nope %}x{% else %}e{% endfor %}", "{{ nope == nope2 }}", "{{ nope == 1 }}", "{{ nope + 1 }}", "{{ nope < 1 }}", "{% if nope %}a{% else %}b{% endif %}", "{{ d.nope }}|{{ d.nope.x }}", "{{ nope() }}", "{{ [nope] }}", "{{ nope|length }}", "{{ nope in [1] }}", "{{ 1 in nope }}", "{{ nope|upper }}", "{{ nope is none }}", "{{ {nope: 1} }}", "{% set a, b = nope %}", "{{ d[nope] }}",
    vars=DATA, opts={"allow_undefined": True})
# white space
WS = [
    "  {% if 1 %}  \n  a\n  {% endif %}\n  b\n", "{% for i in [1,2] %}\n  - {{ i }}\n{% endfor %}\nend", "a\n  {#- c -#}  \nb\n", "a\n  {# c #}\nb\n  {# c #} d\n", "  {%- if 1 -%}  \n  a\n  {%- endif -%}\n  b\n",
    "  {%+ if 1 +%}  \n  a\n  {%+ endif +%}\n  b\n", "  {{ 1 }}\n  {{- 2 }}\n  {{ 3 -}}\n\n  4\n", "x {% set a = 1 %}\n{% set b = 2 %}\n\ny\n", "{% raw %}\n  {{ x }}\n{% endraw %}\nz\n", "  {% raw -%}\n  {{ x }}\n  {%- endraw %}\nz\n", "{% macro m() %}\n  q\n{% endmacro %}\n[{{ m() }}]\n", "\n\n  {% if 1 %}\n\n x\n\n {% endif %}\n\n", "a{% if 1 %} {% endif %}\t\n\t{% if 1 %}\n\tb {% endif %}c\n", "\u00a0{%- if 1 %}x{% endif %}", " {#\nc\n#} \n x", "{% if 1 %}\r\na\r\n{% endif %}\r\n",
]
for t in WS:
    for trim, lstrip, keep in itertools.product([False, True], repeat=3):
        add(t, opts={"trim_blocks": trim, "lstrip_blocks": lstrip, "keep_trailing_newline": keep})
LS = {"line_statement_prefix": "#", "line_comment_prefix": "##"}
many(
    "# for i in [1,2]\n  {{ i }}\n# endfor\nx", "# for i in [1,2]:\n{{ i }}\n# endfor", "  # if 1\n  a\n  # endif\n", "a ## c\nb\n## d\ne", "# set x = [1,\n 2]\n{{ x }}", "x # y", "# if 1 ## c\na\n# endif", "\n\n# if 1\n\n\n  a\n# endif", "# nope", "#", "# if 1\n{{ nope }}\n# endif", "{{ 1 }} ## {{ 2 }}\n{{ 3 }}", "#- if 1\n a\n# endif\n", "# raw\n{{ x }}\n# endraw\n", "{% if 1 %}\n# set x = 1\n{% endif %}{{ x }}\n",
    opts=LS)
many(
    "<% if 1 %>${ 2 }<# c #><% endif %>", "<%= x %>", "{{ 1 }}<% set x = 1 %>${x}",
    opts={"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "${", "variable_end_string": "}", "comment_start_string": "<#", "comment_end_string": "#>"})
many("<% if 1 %><%= 2 %><%# c %><% endif %>", "<% raw %><%= x %><% endraw %>",
     opts={"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<%=", "variable_end_string": "%>", "comment_start_string": "<%#", "comment_end_string": "%>"})
many("a\nb{{ '\n' }}\n", "{% if 1 %}\nx\n{% endif %}\n", opts={"newline_sequence": "\r\n"})
# operators on all kinds of operands
OPERANDS = ["1", "2.5", "'a'", "[1]", "(1,)", "{'a': 1}", "none", "true", "nope", "('<'|e)"]
for op in ["+", "-", "*", "/", "//", "%", "**", "==", "<", ">=", "in", "and", "~"]:
    for a, b in itertools.product(OPERANDS, repeat=2):
        add("{{ %s %s %s }}" % (a, op, b))
for a in OPERANDS:
    many("{{ -%s }}" % a, "{{ +%s }}" % a, "{{ not %s }}" % a, "{{ %s[0] }}" % a, "{{ %s[0:1] }}" % a, "{{ %s.x }}" % a, "{{ %s() }}" % a,
         "{%% for x in %s %%}{{ x }}{%% endfor %%}" % a, "{%% if %s %%}x{%% else %%}y{%% endif %%}" % a, "{%% set x, y = %s %%}" % a, "{{ echo(*%s) }}" % a, "{{ echo(**%s) }}" % a, "{{ %s }}" % a, "{{ [%s] }}" % a, "{{ {'k': %s} }}" % a)

# what is undefined in containers that are compared
for e in ["[nope] == [1]", "[1] == [nope]", "(nope,) == (1,)", "{'a': nope} == {'a': 1}", "{'a': 1} == {'a': nope}", "[nope] == []", "[1, nope] == [2, 3]", "[2, nope] == [2, 3]", "[[nope]] == [[1]]", "{'a': [nope]} == {'a': [2]}",
          "{'b': nope} == {'a': 1}", "[nope] != [1]", "[nope] is eq [1]", "[nope] in [[1]]", "[1, 2] is in [[nope]]", "[nope] == [nope]", "[1, nope].index(1)", "[1, nope].index(nope)", "[1, nope].count(1)", "(nope,).count(2)", "[nope].remove(1)", "[nope] == l", "d == {'a': nope}", "[s, [nope]] == [s, nope]"]:
    many("{{ (%s) }}" % e, "\n{%% if %s %%}y{%% else %%}n{%% endif %%}" % e, **D)
    many("{{ (%s) }}" % e, vars=DATA, opts={"allow_undefined": True})
many("{{ nope is sequence }}", vars=DATA, opts={"allow_undefined": True})
many("{{ l|indent }}", "{{ t|indent }}", "{{ d|indent }}", "{{ users|sort('name') }}", "{{ users|sort(none) }}", "{{ l|sort(1) }}", "\n{{ users|groupby('uid') }}", "{% for g in users|groupby('uid') %}\n{{ g }}{% endfor %}", "{% for g in users|groupby('uid') %}{{ g.grouper }}{{ g.list|length }}{{ g ~ '' }}{% endfor %}", "{{ 'a'.find(x=1) }}", "{{ 'a'.startswith(x=1) }}", "{{ true.bit_length(1) }}", "{{ 'a'.encode().isalpha(1) }}", "{{ 'a'.splitlines('x') }}", "{{ 'a\nb'.splitlines(2) }}", **D)

seen, out = set(), []
for c in CASES:
    key = json.dumps(c, sort_keys=True)
    if key not in seen:
        seen.add(key)
        c = dict(c)
        if c.get("vars") is DATA:
            c["vars"] = True
        if c.get("files") is F:
            c["files"] = True
        out.append(c)
with open("oracle-core.json", "w") as f:
    f.write('{"about": "Written by record_core.py: t template, opts jinja_env, o output or e [type, message, line].",\n')
    f.write('"vars": %s,\n"files": %s,\n"cases": [\n' % (json.dumps(DATA), json.dumps(F)))
    f.write(",\n".join(json.dumps(c) for c in out))
    f.write("\n]}\n")
print(len(out), "cases")
