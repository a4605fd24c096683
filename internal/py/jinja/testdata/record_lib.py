#!/usr/bin/python3
"""Records oracle-lib.json: what Python's methods and Jinja2 3.1.2's filters,
tests and globals make of expressions; each result is a repr, or the type and
text of an error. Addresses are written as 0x0.

Run with a Python that has Jinja2 3.1.2: /usr/bin/python3 record_lib.py
"""
import json
import os
import re

import jinja2
import jinja2.sandbox

CASES = []


def add(*exprs, auto=False):
    for e in exprs:
        CASES.append((e, auto))


# Methods of str.
STRS = ["''", "'abc'", "'ABC'", "'aBc Def'", "'straße ǆ ΑΣ Σ.'", "' \\t x\\n'", "'123'", "'½²٣'", "'a1'", "'ﬁn İi'", "\"they're bill's\"", "'日本'", "'\\u2028'", "'_x9'", "'9x'", "'Ⅷ'", "'ǅ'", "'a\\u0300b'"]
for s in STRS:
    for m in "upper lower casefold capitalize title swapcase isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper strip lstrip rstrip split rsplit splitlines expandtabs encode".split():
        add(f"{s}.{m}()")
    add(f"{s}|title", f"{s}|capitalize", f"{s}|wordcount", f"{s}|reverse", f"{s}|urlencode", f"{s}|length", f"{s} is lower", f"{s} is upper", f"{s}.center(9, '*')", f"{s}.zfill(7)")
for a in ["x", "'a'", "'bc'", "'', 5", "'b', 1", "'b', -2, 3", "'b', none, 2", "'zz'", "'c', 2, 100", "1", "none"]:
    for m in "find rfind index rindex count startswith endswith".split():
        add(f"'abcabc'.{m}({a})")
add("'abc'.startswith(('x','a'))", "'abc'.startswith((1,))", "'abc'.endswith(('c',), 1)", "'abc'.startswith('', 5)", "'é日x'.find('x')", "'é日x'.index('日', 1)", "'abc'.startswith()", "'abc'.find(1,2,3,4)")
for a in ["", "none", "','", "', '", "',', 1", "none, 1", "',', 0", "','*2", "''", "1", "maxsplit=1", "sep=','", "sep=',', maxsplit=2", "x=1", "',', 1, 2", "',', 'a'"]:
    for m in ("split", "rsplit"):
        add(f"' a, b,,c , d '.{m}({a})")
add("'a\\nb\\r\\nc\\rd\\x0be\\x1cf\\u2028g'.splitlines()", "'a\\nb\\n'.splitlines(true)", "'a\\n\\nb'.splitlines(keepends=true)", "''.splitlines()", "'a'.splitlines(1, 2)")
for m in ("partition", "rpartition"):
    add(f"'a=b=c'.{m}('=')", f"'abc'.{m}('=')", f"'abc'.{m}('')", f"'abc'.{m}(1)", f"'abc'.{m}()")
for m in ("strip", "lstrip", "rstrip"):
    add(f"'xxabcxx'.{m}('x')", f"'abcba'.{m}('ab')", f"'a'.{m}('')", f"'a'.{m}(1)", f"'a'.{m}(none)", f"'a'.{m}('a','b')", f"'éaé'.{m}('é')")
for m in ("center", "ljust", "rjust"):
    add(f"'ab'.{m}(7)", f"'ab'.{m}(6, '-')", f"'ab'.{m}(1)", f"'ab'.{m}(5, '日')", f"'ab'.{m}(5, 'xy')", f"'ab'.{m}('5')", f"'ab'.{m}()", f"'ab'.{m}(-3)", f"'ab'.{m}(5, 1)")
add("'-42'.zfill(6)", "'+4'.zfill(5)", "'--4'.zfill(5)", "'a'.zfill('x')", "'\\ta\\tbc\\td'.expandtabs()", "'a\\tb\\n\\tc'.expandtabs(4)", "'a\\tb'.expandtabs(0)", "'a\\tb'.expandtabs(tabsize=3)", "'a'.expandtabs('x')")
for a in ["'b', 'X'", "'b', 'X', 1", "'', '-'", "'', '-', 2", "'b', ''", "'b'", "'b', 1", "1, 'b'", "'b', 'X', -1", "'b', 'X', none", "'b','X','1'"]:
    add(f"'abcb'.replace({a})")
add("','.join(['a','b'])", "','.join('abc')", "','.join(('a',1))", "','.join(5)", "','.join({'a':1})", "''.join([])", "','.join(['a', none])", "','.join(nope)", "','.join()", "', '.join(['x']|map('upper'))")
add("'abc'.removeprefix('a')", "'abc'.removesuffix('bc')", "'abc'.removeprefix('x')", "'abc'.removeprefix(1)", "'abc'.translate({97: 'X', 98: none, 99: 100})", "'abc'.translate('abc'.maketrans('ab', 'xy'))", "'abc'.translate('abc'.maketrans('ab', 'xy', 'c'))", "'abc'.maketrans({'a': 1, 98: 'x'})", "'abc'.maketrans('a', 'bc')", "'abc'.maketrans('ab')", "'abc'.maketrans(1, 'b')", "'abc'.translate(1)", "'abc'.translate({97: 'ab'*3})", "'abc'.translate({97: 1.5})")
add("'é'.encode('latin-1')", "'é'.encode('ascii')", "'é'.encode('ascii', 'ignore')", "'é'.encode('ascii', 'replace')", "'é'.encode('ascii','xmlcharrefreplace')", "'é日'.encode('ascii','backslashreplace')", "'é'.encode('utf-16')", "'é'.encode('utf-16-be')", "'é'.encode('UTF_8')", "'é'.encode('nope')", "'é'.encode(encoding='latin1')", "'日'.encode('latin-1')", "'é'.encode('ascii','nope')")

# str.format
for f, a in [("{}", "1"), ("{} {}", "1, 'a'"), ("{0}{1}{0}", "'a', 2"), ("{a}", "a=1"), ("{a[b]}", "a={'b': 2}"), ("{a.b}", "a={'b': 2}"), ("{0[1]}", "[5,6]"), ("{0[x]}", "{'x': 1}"), ("{0.real}", "5"), ("{!r}", "'a'"), ("{!s:>5}|", "'a'"), ("{!a}", "'é'"), ("{:5}|{:<5}|{:^5}|{:>5}", "1,2,3,4"), ("{:{}}", "1, 5"), ("{:{w}.{p}f}", "3.14159, w=10, p=2"), ("{:{}{}}", "1, '>', 5"), ("{{}}", ""), ("{{{}}}", "1"), ("{", ""), ("}", ""), ("{}", ""), ("{a}", ""), ("{1}", "1"), ("{} {0}", "1, 2"), ("{0} {}", "1, 2"), ("{!x}", "1"), ("{!}", "1"), ("{!r", "1"), ("{:", "1"), ("{.a}", "1"), ("{[0]}", "[1]"), ("{0.}", "1"), ("{0[}", "1"), ("{0[]}", "1"), ("{0[a]b}", "{'a': 1}"), ("{a{b}}", "1"), ("{:{:{}}}", "1,2,3"), ("{0.nope}", "1"), ("{0.__class__}", "1"), ("{0[nope]}", "{}"), ("{:d}", "'a'"), ("{:,}", "1234567"), ("{:.2%}", "0.256"), ("{:x}", "255"), ("{:08.3f}", "-3.14159"), ("{:5}", "none"), ("{}", "[1, 'a', none]"), ("{}", "nope"), ("{x}", "1"), ("{:é^9}", "'ab'"), ("{0!r:.3}", "'abcdef'"), ("{a-b}", "**{'a-b': 1}"), ("{0[-1]}", "[1,2]"), ("{:%}", "1"), ("{:c}", "65"), ("}{", ""), ("a{}b{}c", "1"), ("{:}", "'x'"), ("{0:>{1}}", "'a', 4"), ("{!r:>{w}}", "'a', w=6")]:
    add(f"{f!r}.format({a})")
add("'{a} {b[0]}'.format_map({'a': 1, 'b': [2]})", "'{a}'.format_map({})", "'{}'.format_map([1])", "'{a}'.format_map(1)", "'{a}'.format_map(a=1)", "'{a}'.format_map()", "('<b>{}</b>'|safe).format('<x>')", "('{:>5}'|safe).format('<')", "('{}'|safe).format('<'|e)", "('{:5}'|safe).format('<'|e)", "('{0.real}'|safe).format(5)")

# Markup
add("'<'|e", "('<'|e).upper()", "('a<'|safe).replace('a', '<')", "('<a>'|safe) + '<b>'", "'<b>' + ('<a>'|safe)", "('<a>'|safe) * 2", "2 * ('<a>'|safe)", "('%s'|safe) % '<x>'", "('%s %s'|safe) % ('<x>', 1)", "('%(a)s'|safe) % {'a': '<'}", "('%d'|safe) % 5", "('%r'|safe) % '<'", "('%.1f'|safe) % 2.55", "('a b'|safe).split()", "('a,b'|safe).split(',')", "('a=b'|safe).partition('=')", "(', '|safe).join(['<', '>'|safe])", "('a<'|safe)[0]", "('<a>x</a> &amp; y'|safe).striptags()", "('&lt;a&gt; &eacute; &nope; &#65;'|safe).unescape()", "('a\\nb'|safe).splitlines()", "('x'|safe).center(5, '<')", "('x<'|safe).strip('<')", "('x'|safe).escape('<')", "('x'|safe).startswith('x')", "('x'|safe) == 'x'", "'x' in ('xy'|safe)", "('x'|safe)|length", "('ab'|safe)|list", "('ab'|safe)|first", "('ab'|safe) is string", "('ab'|safe) is escaped", "'ab' is escaped", "('ab'|safe)|string", "('%s'|safe)|format('<')", "('ab'|safe)|upper", "('<'|safe)|forceescape", "('<'|safe)|e", "{('a'|safe): 1}['a']", "('a'|safe) < 'b'", "('a'|safe) ~ '<'", "('5'|safe)|int", "('1.5'|safe)|float", "('a'|safe) in ['a']", "('b a'|safe)|title", "('<a>'|safe)|striptags", "[('a'|safe)]|tojson")

# list, tuple, dict, set
for e in ["append(3)", "append()", "append(1, 2)", "extend([3, 4])", "extend('ab')", "extend(1)", "insert(0, 9)", "insert(-1, 9)", "insert(99, 9)", "insert(1)", "insert('a', 1)", "pop()", "pop(0)", "pop(-2)", "pop(9)", "pop('a')", "remove(1)", "remove(9)", "clear()", "copy()", "reverse()", "sort()", "sort(reverse=true)", "sort(1)", "sort(key='x'.upper)", "index(2)", "index(1, 1)", "index(9)", "index(2, -1)", "count(1)", "nope()"]:
    add(f"[1, 2, 1].{e}", f"[[1, 2, 1]]|map('attr', 'copy')|list|length", f"l312.copy()|tojson", f"([l312.copy()]|first)|list")
    CASES[-1] = (f"namespace(l=[1, 2, 1])|attr('l')", False)
for m in ["append(3)", "extend((5, 6))", "insert(1, 'x')", "remove(1)", "reverse()", "sort()", "sort(reverse=true)", "pop()", "clear()"]:
    CASES.append((f"{{% set l = [3, 1, 2] %}}{{% do l.{m} %}}{{{{ l|repr }}}}", "raw"))
CASES.append(("{% set l = ['b', 'A', 'c'] %}{% do l.sort(key=''.__class__) %}{{ l|repr }}", "raw"))
CASES.append(("{% set l = [2, 'a'] %}{% do l.sort() %}{{ l|repr }}", "raw"))
add("(1, 2, 1).count(1)", "(1, 2).index(2)", "(1, 2).index(3)", "(1, 2).append(3)", "(1,).nope")
for e in ["get('a')", "get('z')", "get('z', 5)", "get()", "get([])", "get(1, 2, 3)", "keys()", "values()", "items()", "items(1)", "copy()", "pop('a')", "pop('z')", "pop('z', 1)", "pop()", "popitem()", "setdefault('a', 9)", "setdefault('z')", "setdefault('z', 9)", "setdefault()", "update({'b': 3})", "update(c=4)", "update([('x', 1)])", "update(1)", "update([1])", "update([(1,)])", "update({}, {})", "update(['ab', 'cd'])", "clear()", "fromkeys([1, 2])", "fromkeys('ab', 0)", "fromkeys(1)", "fromkeys([[]])", "nope", "nope()", "a", "keys().isdisjoint(['z'])", "items().isdisjoint([('a', 1)])", "has_key('a')", "move_to_end('a')"]:
    add(f"{{'a': 1, 'b': [2]}}.{e}")
for m in ["pop('a')", "popitem()", "setdefault('z', [1])", "update({'b': 9}, c=1)", "update([('k', 'v')], a=0)", "clear()", "update(dict(q=1))"]:
    CASES.append((f"{{% set d = {{'a': 1, 'b': 2}} %}}{{{{ d.{m}|repr }}}} {{{{ d|repr }}}}", "raw"))
CASES.append(("{% set d = {} %}{% set k = d.keys() %}{% set i = d.items() %}{% do d.update(a=1) %}{{ k|repr }} {{ i|repr }} {{ k|length }} {{ 'a' in k }} {{ ('a', 1) in i }}", "raw"))
CASES.append(("{% set d = {} %}{% do d.popitem() %}", "raw"))
add("{'a':1}.keys() | ['b']", "{'a':1}.keys() & ['a','b']", "{'a':1}.keys() == {'a':2}.keys()", "{'a':1}.values() == {'a':1}.values()", "{'a':1}.items() == {'a':1}.items()", "{'a':1,'b':2}.keys() - ['a']", "{'a':1}.keys()[0]", "{'a':1}.values()|list", "{'a':1}.items()|first", "{'b':1,'a':2}.items()|sort", "{'b':1,'a':2}|sort", "{'a':1}.keys() is iterable", "{'a':1}.items() is sequence", "{'a': 1}.items()|length", "{1: 'a', true: 'b', 1.0: 'c'}", "{(1, 2): 3}[(1, 2)]", "{'a': {'b': 1}}.a.b", "{'items': 1}.items", "{'items': 1}['items']", "{}.items()|list", "{none: 1}[none]", "{'a': 1} == {'a': 1.0}", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}")

# int, float, bytes, range
add("(5).bit_length()", "(-255).bit_length()", "(255).bit_count()", "(5).conjugate()", "(5).as_integer_ratio()", "(5).real", "(5).imag", "(5).numerator", "(5).denominator", "true.real", "(258).to_bytes(2, 'big')", "(258).to_bytes(2, 'little')", "(258).to_bytes(1, 'big')", "(-1).to_bytes(2, 'big', signed=true)", "(-1).to_bytes(2, 'big')", "(5).to_bytes(1, 'x')", "(0).from_bytes('ab'.encode(), 'big')", "(0).from_bytes('ÿ'.encode('latin-1'), 'big', signed=true)", "1.5.is_integer()", "2.0.is_integer()", "1.5.hex()", "(-0.1).hex()", "0.0.hex()", "5e-324.hex()", "1.5.as_integer_ratio()", "1.5.real", "1.5.imag", "1.5.conjugate()", "(1.5).nope", "(5).nope", "none.nope", "true.bit_length()", "2.5.__round__", "(5).__class__")
B = "'aB c,d\\n'.encode()"
for m in ["decode()", "decode('ascii')", "hex()", "hex('-')", "hex('-', 2)", "hex('-', -3)", "upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "split()", "split(','.encode())", "split(',')", "rsplit(none, 1)", "splitlines()", "partition(','.encode())", "find('B'.encode())", "find(66)", "index('z'.encode())", "count('B'.encode())", "startswith('a'.encode())", "startswith(('a'.encode(),))", "startswith('a')", "endswith('\\n'.encode())", "replace('a'.encode(), 'xx'.encode())", "join(['a'.encode(), 'b'.encode()])", "join(['a'])", "isalpha()", "isdigit()", "isspace()", "islower()", "center(12)", "ljust(12, '*'.encode())", "zfill(10)", "removeprefix('a'.encode())"]:
    add(f"{B}.{m}")
add(f"{B}[0]", f"{B}[0:2]", f"{B}|length", f"{B}|list|length", f"97 in {B}", f"'a' in {B}", f"{B} + 'x'.encode()", f"{B} + 'x'", f"{B} == 'aB c,d\\n'", f"{B}|string", f"{B} ~ 'x'", "'é'.encode().decode('ascii')", "'é'.encode().decode('ascii', 'ignore')", "'é'.encode().decode('ascii', 'replace')", "'é'.encode('latin-1').decode()", "'é'.encode().decode('latin-1')", "'é'.encode('utf-16').decode('utf-16')", "'%s'.encode() % 'a'.encode()", "'%s'.encode() % 'a'")
add("range(5)", "range(1, 5)", "range(5, 1, -2)", "range(5)|list", "range(5)[1]", "range(5)[-1]", "range(5)[9]", "range(5)[1:3]", "range(5)[::-1]", "range(0)", "range(5)|length", "3 in range(5)", "7 in range(5)", "'a' in range(5)", "2.0 in range(5)", "range(5).start", "range(5).stop", "range(1,9,3).step", "range(5).count(2)", "range(5).index(3)", "range(5).index(9)", "range(5) == range(0, 5)", "range(5)|sum", "range(5)|last", "range(5)|first", "range(5)|reverse|list", "range(5)|join('-')", "range(5) is sequence", "range('a')", "range()", "range(1,2,3,4)", "range(1, 2, 0)", "range(100000)|length", "range(100001)", "range(1.5)", "range(-5, 5, 4)|list", "range(10**30)")

# Filters
add("5|abs", "-5|abs", "(-5)|abs", "(-1.5)|abs", "true|abs", "'a'|abs", "none|abs", "nope|abs", "5|abs(1)")
add("5|attr('real')", "'a'|attr('upper')", "'abc'|attr('nope')", "{'a': 1}|attr('a')", "{'a': 1}|attr('items')", "d|attr('keys')", "nope|attr('a')", "5|attr(1)", "5|attr", "'a'|attr('__class__')")
add("[1,2,3]|batch(2)|list", "[1,2,3]|batch(2, 'x')|list", "[1,2,3,4]|batch(2)|list", "[]|batch(2)|list", "'abc'|batch(2)|list", "[1,2,3]|batch(0)|list", "5|batch(2)|list", "5|batch(2)", "[1]|batch", "[1,2,3]|batch(linecount=2, fill_with=0)|list", "[1,2]|batch('x')|list", "nope|batch(2)|list", "[1,2,3]|batch(-1)|list", "[1,2,3]|batch(2, none)|list")
add("'a'|center(5)", "'a'|center", "5|center(4)", "'a'|center(width=6)", "'abc'|center(1)", "none|center(8)", "nope|center")
add("[1,2]|count", "'é日'|length", "{}|length", "5|length", "none|length", "nope|length", "[1]|length(1)", "(1,2)|count", "[1]|map('abs')|length")
add("nope|default('x')", "nope|default", "none|default('x')", "none|default('x', true)", "''|default('x', boolean=true)", "0|d('x', true)", "d.zzz|default('x')", "d.zzz.y|default('x')", "nope|d([])|length", "nope|default(1,2,3)", "nope|default(foo=1)", "nope|default(default_value='q')", "'v'|default(nope)", "nope|default(nope2)", "nope|default(none)")
add("{'b':1,'A':2,'a':3}|dictsort", "{'b':1,'A':2}|dictsort(true)", "{'b':1,'a':2}|dictsort(false,'value')", "{'b':1,'a':2}|dictsort(by='value', reverse=true)", "{'b':1,'a':2}|dictsort(by='x')", "{1:2,'a':1}|dictsort", "[]|dictsort", "{'a': 'B', 'b': 'a'}|dictsort(by='value')", "{'a': 'B', 'b': 'a'}|dictsort(true, 'value')", "nope|dictsort", "{'a':1}|dictsort(1,2,3,4)", "{}|dictsort", "{'a':1}|dictsort(false,'key',true)")
add("'<a href=\"x\">&\\'</a>'|e", "'a'|escape", "5|e", "none|e", "[1,'<']|e", "nope|e", "'<'|e|e", "'a'|e(1)")
add("0|filesizeformat", "1|filesizeformat", "999|filesizeformat", "1000|filesizeformat", "1500|filesizeformat", "1500|filesizeformat(true)", "1024|filesizeformat(binary=true)", "1048576|filesizeformat(true)", "999999|filesizeformat", "1000000|filesizeformat", "'5000'|filesizeformat", "1.5|filesizeformat", "-5|filesizeformat", "(10**27)|filesizeformat", "(10**30)|filesizeformat", "(2**90)|filesizeformat(true)", "'x'|filesizeformat", "none|filesizeformat", "nope|filesizeformat", "1023.9|filesizeformat(true)")
add("[1,2]|first", "'abc'|first", "{'a':1}|first", "[]|first", "5|first", "[]|first|default('x')", "([1,2]|map('abs'))|first", "nope|first", "(x for x)|first" if False else "()|first", "[none]|first")
add("'1.5'|float", "'x'|float", "'x'|float(2)", "none|float", "[]|float", "'1e3'|float", "5|float", "true|float", "'inf'|float", "nope|float", "' 1 '|float", "'1_0'|float", "(10**400)|float", "'x'|float(default='q')", "1.5|float(1,2)")
add("'<'|forceescape", "5|forceescape", "nope|forceescape", "['<']|forceescape")
add("'%s-%d'|format('a', 5)", "'%(a)s'|format(a=1)", "'%s'|format", "'%s'|format(1, 2)", "'%s'|format(1, a=2)", "'%d'|format('x')", "'x'|format", "5|format", "'%5.2f'|format(3.14159)", "nope|format(1)", "'%s'|format([1])", "'%s %s'|format((1,2))", "'%(a)s %(b)s'|format(a=1)", "'%s'|format(nope)", "'%%'|format")
add("u|groupby('g')", "u|groupby('g')|map('first')|list", "u|groupby('g')|map(attribute='grouper')|list", "u|groupby('g')|map(attribute='list')|list", "u|groupby('n.x')|list", "u|groupby('zzz', default='q')", "u|groupby('zzz')", "u|groupby(attribute='c')", "u|groupby('c', case_sensitive=true)", "[[1,2],[1,3]]|groupby(0)", "[3,1]|groupby(0)", "[]|groupby('a')", "5|groupby('a')", "u|groupby", "nope|groupby('a')", "(u|groupby('g'))[0].grouper", "(u|groupby('g'))[0].list|length", "(u|groupby('g'))[0][0]", "(u|groupby('g'))[0] == ('x', 1)", "(u|groupby('g'))[0]|length", "(u|groupby('g'))[0].index('x')", "(u|groupby('g'))[0].nope", "(u|groupby('g'))[0]|list|length", "(u|groupby('g'))[0] is sequence")
add("'a\\nb'|indent", "'a\\nb\\n\\nc\\n'|indent(2)", "'a\\nb\\n\\nc'|indent(2, true)", "'a\\nb\\n\\nc'|indent(2, false, true)", "'a\\n\\nb'|indent(width='> ', first=true, blank=true)", "'a\\r\\nb'|indent", "''|indent", "''|indent(2, true)", "'a'|indent(0)", "'a\\nb'|indent(-1)", "'a\\nb'|indent('')", "5|indent", "'a'|indent(none)", "'a\\nb'|indent(1.5)", "nope|indent", "('<'|safe ~ '\\nx')|indent", "'\\n'|indent(2)", "'a\\n'|indent(2,true,true)", "'a\\x0bb'|indent(2)", "'a\\nb'|indent(true)")
add("'42'|int", "'4.9'|int", "'-4.9'|int", "'x'|int", "'x'|int(7)", "'x'|int(default=7)", "'0x1f'|int(0, 16)", "'0x1f'|int(base=0)", "'1f'|int(0,16)", "'777'|int(0,8)", "'0b11'|int(0,2)", "''|int", "none|int", "[]|int", "4.9|int", "-4.9|int", "true|int", "'1_000'|int", "' 5 '|int", "'1e3'|int", "'nan'|int", "'inf'|int", "'1e400'|int", "(10**30)|int", "'9'*30|int", "nope|int", "'z'|int(1, 99)", "5|int(1,2,3)", "'٣'|int")
add("{'a':1,'b':2}|items|list", "[]|items|list", "nope|items|list", "5|items|list", "5|items", "none|items|list", "{}|items|list", "{'a':1}|items|first")
add("[1,2]|join", "[1,2]|join('-')", "[1,[2],none]|join(',')", "'abc'|join('.')", "u|join(',', attribute='g')", "u|join(',', 'n.x')", "{'a':1}|join", "5|join", "[1]|join(1)", "['a','b']|join(none)", "[nope]|join", "nope|join", "[]|join('x')", "[1,2]|join(d=', ')", "['<', '>'|safe]|join('<')", "u|join(',', attribute='zzz')", "[1]|join(1,2,3)", "['a']|join(nope)", "[[1],[2]]|join(',', attribute=0)")
add("['<', '>'|safe]|join('<')", "['<','>']|join('<')", "['<']|join('<'|safe)", "['a','b']|join('<'|safe)", "'a<'|replace('<','>')", "'a<'|replace('a', '<'|safe)", "('a<'|safe)|replace('a','<')", "{'a':'<'}|xmlattr", "'<'|urlize", "'x'|e ~ '<'", "'<'", "['<']", "'<'|safe", "'<b>'|upper", "'a'|string", "'<'|indent", "1|string", "'<' ~ '>'", auto=True)
add("[1,2]|last", "'abc'|last", "{'a':1,'b':2}|last", "[]|last", "5|last", "([1]|map('abs'))|last", "nope|last", "range(3)|last", "()|last|d('x')")
add("'abc'|list", "{'a':1}|list", "(1,2)|list", "5|list", "nope|list", "[1]|list", "none|list", "{'a':1}.items()|list", "'é日'|list", "[1]|map('abs')|list|list")
add("'ABC'|lower", "5|lower", "none|lower", "'ÀΣ'|lower", "nope|lower", "'abc'|upper", "'ß'|upper", "5|upper", "['a']|upper", "nope|upper", "'a'|upper(1)")
add("['a','b']|map('upper')|list", "['a','b']|map('upper')", "u|map(attribute='g')|list", "u|map(attribute='zzz')|list|length", "u|map(attribute='zzz', default='q')|list", "u|map(attribute='n.x')|list", "u|map(attribute='zzz', default=none)|map('default','u')|list", "[[1,2]]|map(attribute=1)|list", "[[1,2]]|map(attribute='1')|list", "[1]|map", "[1]|map|list", "[1]|map('nope')|list", "[1]|map(attribute='a', foo=1)|list", "[1,-2]|map('abs')|map('string')|list", "['a']|map('replace','a','b')|list", "['1']|map('int')|sum", "5|map('abs')|list", "[]|map|list", "none|map('abs')|list", "nope|map('abs')|list", "''|map('abs')|list", "['x']|map('default','y')|list", "[1]|map(1)|list", "['a b']|map('title')|join", "[[3,1]]|map('sort')|list", "[[3,1]]|map('sort', reverse=true)|list", "{'a':1}|map('upper')|list", "['a']|map(attribute='upper')|list|length", "[{'a':[{'b':5}]}]|map(attribute='a.0.b')|list")
add("[3,1,2]|max", "[3,1,2]|min", "['b','A']|max", "['b','A']|min", "['b','A']|min(true)", "['b','A']|max(case_sensitive=true)", "u|max(attribute='v')", "u|min(attribute='v')", "[]|max", "[]|min|default('x')", "[1,'a']|max", "5|max", "nope|min", "'hello'|max", "{'b':1,'a':2}|min", "[[1,2],[1,1]]|max", "u|max(attribute='zzz')")
add("{'b':1,'a':[1,2]}|pprint", "'a'|pprint", "['x'*30,'y'*30,'z'*30]|pprint", "{'k'*20: 'v'*50, 'a': {'b': ['q'*40, 'r'*40]}}|pprint", "('a b '*40)|pprint", "[('a b '*40)]|pprint", "('x'*100,)|pprint", "{1,2}|pprint" if False else "(1,2)|pprint", "nope|pprint", "none|pprint", "[[['a'*30],['b'*30]],['c'*30]]|pprint", "'line1\\nline2 is a bit longer than the others are\\nline3 which ends here after some words'|pprint", "{'a': {}, 'b': [], 'c': ()}|pprint", "range(5)|pprint", "{2:1,1:2,'a':3}|pprint", "{'x': 'word '*30}|pprint", "[1.5, none, true]|pprint", "('é'*90)|pprint")
add("[]|random", "5|random", "[7]|random", "'z'|random", "nope|random", "{}|random")
for f in ("select", "reject"):
    add(f"[0,1,2,'',none]|{f}|list", f"[1,2,3]|{f}('odd')|list", f"[1,2,3]|{f}('divisibleby', 3)|list", f"[1,2,3]|{f}('nope')|list", f"[1]|{f}", f"5|{f}|list", f"none|{f}|list", f"nope|{f}|list", f"['a',1]|{f}('string')|list", f"[1,2,3]|{f}('gt', 1)|list", f"[1,5]|{f}('in', [5])|list", f"[1]|{f}(1)|list", f"[nope]|{f}|list", f"[nope]|{f}('defined')|list|length", f"['a']|{f}('eq', 'a')|list", f"['a','b']|{f}('equalto', other='a')|list" if False else f"['a','b']|{f}('==', 'a')|list")
    add(f"u|{f}attr('on')|map(attribute='g')|list", f"u|{f}attr('v', 'gt', 1)|map(attribute='g')|list", f"u|{f}attr('zzz')|list|length", f"u|{f}attr('zzz', 'defined')|list|length", f"u|{f}attr|list", f"u|{f}attr('n.x', 'eq', 1)|list|length", f"u|{f}attr('g', 'in', ['x'])|list|length", f"[]|{f}attr|list", f"u|{f}attr('g', 'nope')|list", f"[[0,1],[1,2]]|{f}attr(0)|list", f"u|{f}attr('g')")
add("'aaa'|replace('a','b')", "'aaa'|replace('a','b',2)", "'aaa'|replace('a','b',count=1)", "'a'|replace('a')", "'a'|replace", "5|replace('5','6')", "'a1'|replace(1,2)", "none|replace('N','x')", "'aaa'|replace('a','b',none)", "'aaa'|replace('a','b',0)", "'abc'|replace('','-')", "nope|replace('a','b')", "'a'|replace(nope,'b')", "'a'|replace('a',none)", "'a'|replace('a','b','c')")
add("'abc'|reverse", "'é日'|reverse", "[1,2]|reverse|list", "[1,2]|reverse", "(1,2)|reverse|list", "(1,2)|reverse", "{'a':1,'b':2}|reverse|list", "5|reverse", "none|reverse", "nope|reverse", "([1,2]|map('abs'))|reverse", "range(3)|reverse", "{'a':1}.items()|reverse|list", "{'a':1}.values()|reverse", "('ab'|safe)|reverse")
add("2.5|round", "3.5|round", "42.55|round(1)", "42.55|round(1,'floor')", "42.55|round(1,'ceil')", "42|round(2)", "42|round", "42.1|round(method='ceil')", "-42.1|round(0,'floor')", "42.55|round(1,'x')", "1234|round(-2)", "1250.0|round(-2)", "1234.5|round(-2,'ceil')", "'a'|round", "none|round", "2.675|round(2)", "1e300|round(2)", "5|round(1,'floor')", "2.5|round(none)", "2.5|round('a')", "true|round", "0.1|round(3,'ceil')", "'5'|round(0,'floor')", "nope|round", "(10**20)|round(-19)")
add("'<'|safe", "5|safe", "nope|safe", "none|safe", "[1]|safe")
add("[1,2,3,4,5]|slice(2)|list", "[1,2,3]|slice(2,'x')|list", "[1,2]|slice(3)|list", "[1,2]|slice(3,0)|list", "[]|slice(2)|list", "[1]|slice(0)|list", "[1]|slice(-1)|list", "'abcd'|slice(2)|list", "[1]|slice", "[1]|slice('a')|list", "5|slice(1)|list", "[1,2]|slice(1.5)|list", "nope|slice(2)|list", "[1]|slice(2)")
add("[3,1,2]|sort", "['b','A','c']|sort", "['b','A']|sort(case_sensitive=true)", "[3,1]|sort(true)", "[3,1]|sort(reverse=true)", "u|sort(attribute='v')|map(attribute='g')|list", "u|sort(attribute='on,v')|map(attribute='v')|list", "u|sort(attribute='g', reverse=true)|map(attribute='v')|list", "u|sort(attribute='n.x')|map(attribute='v')|list", "[1,'a']|sort", "[none,1]|sort", "5|sort", "{'b':1,'a':2}|sort", "'hello'|sort", "[[2,1],[1,3]]|sort", "[[2,1],[1,3]]|sort(attribute=1)", "[[2,1],[1,3]]|sort(attribute='1')", "u|sort(attribute='zzz')", "[(1,'b'),(1,'a')]|sort", "nope|sort", "[2,1]|sort(1,2,3,4,5)", "['B','a','b','A']|sort", "['10','9',  '1']|sort", "[true, 0, 0.5]|sort", "[{'a':1},{'a':0}]|sort")
add("5|string", "none|string", "[1,'a']|string", "nope|string", "('a'|safe)|string", "1.0|string", "{'a':1}|string", "true|string")
add("'<a>b</a>  <!-- c --> d &amp; e'|striptags", "5|striptags", "'a < b > c'|striptags", "'<b'|striptags", "nope|striptags", "'<!-- <x> -->y'|striptags", "'&lt;&copy;&#x41;&notit;'|striptags", "'<a\\nb>c'|striptags")
add("[1,2,3]|sum", "[1.5,2]|sum", "[]|sum", "[]|sum(start=5)", "u|sum('v')", "u|sum(attribute='v', start=10)", "['a']|sum", "['a']|sum(start='')", "[[1],[2]]|sum(start=[])", "[1,none]|sum", "5|sum", "u|sum(attribute='zzz')", "nope|sum", "{'1':2}|sum", "[[1,2],[3,4]]|sum(attribute=1)", "[true,true]|sum", "[[1]]|sum", "u|sum('n.x')")
add("'foo bar'|title", "'foo-bar (baz) [qux] {a <b'|title", "\"it's a dog's life\"|title", "'FOO bAR'|title", "5|title", "nope|title", "'a\\nb'|title", "'ßa ǆ'|title", "('a b'|safe)|title", "'_a b_c'|title")
add("{'b':1,'a':[1,none,true,1.5]}|tojson", "'<>&\\''|tojson", "'é日\\u2028'|tojson", "[1]|tojson(2)", "[1]|tojson(indent=0)", "{}|tojson(2)", "none|tojson", "nope|tojson", "(1,2)|tojson", "{1:2, none:3, true:4}|tojson", "{'a':1,2:3}|tojson", "1.0|tojson", "(10**30)|tojson", "'\\n\\t\"\\\\'|tojson", "range(3)|tojson", "[nope]|tojson", "1e400|tojson", "{(1,2):3}|tojson", "('<'|safe)|tojson", "[[]]|tojson(1)", "{'a':{'b':[1,{'c':2}]}}|tojson(indent=4)", "'a'.encode()|tojson")
add("' a '|trim", "'xax'|trim('x')", "'xax'|trim(chars='x')", "5|trim", "' a '|trim(none)", "'a'|trim(1)", "nope|trim", "'\\u2003a\\x1c'|trim", "(' a '|safe)|trim", "'a'|trim('a','b')", "''|trim")
add("'foo bar baz qux'|truncate(9)", "'foo bar baz qux'|truncate(9, true)", "'foo bar baz qux'|truncate(11)", "'foo bar baz qux'|truncate(11, false, '...', 0)", "'foobarbazqux'|truncate(5, leeway=0)", "'foo bar'|truncate(3, true, '')", "'foo bar baz'|truncate(2)", "'foo bar baz'|truncate(5, false, '…', 0)", "('a'*300)|truncate|length", "'abc'|truncate(length=1, end='', leeway=0)", "'abc'|truncate(3, leeway=-1)", "5|truncate", "nope|truncate", "('foo bar baz'|safe)|truncate(5, leeway=0)", "'foo bar baz'|truncate(6, end='<', leeway=0)", "'日本語 テスト'|truncate(5, true, '..', 0)", "[1,2]|truncate", "'a b'|truncate('x')", "none|truncate", "'foo bar baz qux'|truncate(-1)")
add("['b','a','B','b']|unique|list", "['b','a','B','b']|unique(true)|list", "u|unique(attribute='g')|map(attribute='v')|list", "[1,1.0,true]|unique|list", "[[1],[1]]|unique|list", "5|unique", "5|unique|list", "nope|unique|list", "'hello'|unique|join", "{'a':1}|unique|list", "[1,2]|unique", "u|unique(attribute='zzz')|list")
add("'a b&c/d?é'|urlencode", "{'a b':'c/d','e':1}|urlencode", "[('a',1),('b','ü')]|urlencode", "[1]|urlencode", "5|urlencode", "none|urlencode", "nope|urlencode", "''|urlencode", "{}|urlencode", "['ab']|urlencode", "['abc']|urlencode", "'~-_.!*()'|urlencode", "'a'.encode()|urlencode", "{'a':[1,2]}|urlencode", "['a']|urlencode")
for s in ["http://example.com", "see https://a.b/c?d=1&e=2, ok", "(http://a.com)", "www.foo.org.", "foo.com bar.xyz", "mail me@x.org or mailto:you@y.co", "<http://a.com>", "http://1.2.3.4:80/x", "http://[::1]/", "ftp://x.y", "http://a.com/(b)", "http://a_b.com", "user@localhost", "http://", "x http://a.com/\nnew", "HTTP://EXAMPLE.COM/X", "http://a.com/é", "https://xn--bcher-kva.example", "a.museum", "http://a.com:99999999", "sip:me@x.org", "&http://a.com", "http://a.com/)", "tel:123 skype:joe"]:
    add(f"{s!r}|urlize")
add("'http://a.com/long/path'|urlize(10)", "'http://a.com'|urlize(nofollow=true)", "'http://a.com'|urlize(target='_blank')", "'http://a.com'|urlize(rel='x y')", "'tel:1 skype:j'|urlize(extra_schemes=['tel:','skype:'])", "'a'|urlize(extra_schemes=['x y'])", "5|urlize", "nope|urlize", "'http://a.com'|urlize(5, true, '<', 'r')", "'ssh://h'|urlize(extra_schemes=['ssh://'])", "'http://a.com'|urlize(trim_url_limit=0)")
add("'foo bar  baz'|wordcount", "''|wordcount", "5|wordcount", "'a-b c_d é'|wordcount", "nope|wordcount")
for s in ["the quick brown fox jumped", "a-b-c-d well-known thing", "averyveryverylongword and more", "foo--bar baz---qux", "  leading and  double", "tabs\there and\tthere", "a\n\nb c d e f", "hyphen-ated-words-are-split now", "x" * 25, "日本語 テスト です", "foo-bar", "-a --b ---c", "e-mail: me-too 1-2-3 a1-b2", "end.--Next 'quoted'--word", "ab-cd-ef-gh-ij-kl"]:
    for w in (5, 10, 17):
        add(f"{s!r}|wordwrap({w})")
    add(f"{s!r}|wordwrap(8, false)", f"{s!r}|wordwrap(8, break_on_hyphens=false)", f"{s!r}|wordwrap(6, true, '|')", f"{s!r}|wordwrap(3, false, '|', false)")
add("'a b'|wordwrap(0)", "5|wordwrap", "nope|wordwrap", "''|wordwrap", "'a b'|wordwrap('x')", "'a b'|wordwrap(1)", "'a b c'|wordwrap(wrapstring='<br>', width=1)", "'a'|wordwrap(wrapstring=5)")
add("{'a':1,'b':none,'c':'<\"'}|xmlattr", "{'a':1}|xmlattr(false)", "{'a':nope}|xmlattr", "{}|xmlattr", "[]|xmlattr", "{'a b':1}|xmlattr", "{'a>':1}|xmlattr", "{1:2}|xmlattr", "nope|xmlattr", "{'a':1}|xmlattr(autospace=false)", "{'a':'<'|safe}|xmlattr", "{'a/':1}|xmlattr", "{'é':1}|xmlattr")

# Tests
VALS = ["1", "0", "1.5", "true", "false", "none", "''", "'a'", "'A'", "[]", "[1]", "(1,)", "{}", "{'a':1}", "range(2)", "nope", "('x'|safe)", "''.upper", "dict", "{}.items()", "[1]|map('abs')", "'a'.encode()", "10**30", "d.zzz", "joiner()", "namespace()", "(u|groupby('g'))[0]"]
for v in VALS:
    for t in "boolean callable defined escaped false float integer iterable lower mapping none number odd even sequence string true undefined upper filter test".split():
        add(f"({v}) is {t}")
    if v not in ("1.5", "range(2)", "('x'|safe)", "10**30"):
        add(f"({v}) is sameas({v})")
    add(f"({v}) is eq(1)", f"({v}) is in([1, 'a', none])", f"({v}) is in('a')", f"({v}) is divisibleby(2)")
add("'upper' is filter", "'nope' is filter", "'odd' is test", "'nope' is test", "9 is divisibleby(3)", "9 is divisibleby 4", "9 is divisibleby(0)", "9.5 is divisibleby(0.5)", "'a' is divisibleby(2)", "'%s' is divisibleby(1)", "1 is divisibleby", "1 is divisibleby('a')", "-3 is odd", "(-3) is odd", "2.0 is even", "1 is sameas(1)", "true is sameas(true)", "1 is sameas(true)", "[] is sameas([])", "none is sameas(none)", "l312 is sameas(l312)", "'a' is sameas('a')", "1 is in(5)", "1 is in", "1 is eq(1.0)", "1 is equalto(2)", "1 is ne(2)", "1 is lt(2)", "1 is lessthan(2)", "1 is le(1)", "2 is gt(1)", "2 is greaterthan(1)", "2 is ge(3)", "'a' is lt(1)", "1 is eq", "1 is lt(1, 2)", "[1] is eq([1])", "nope is ne(1)", "nope is lt(1)", "1 is defined(1)", "'aB' is lower", "1 is lower", "'1a' is lower", "'É' is upper", "none is lower")

# Globals
add("dict", "cycler", "joiner", "namespace", "dict()", "dict(a=1, b=2)", "dict({'a':1}, b=2)", "dict([('a',1)])", "dict(1)", "dict([1])", "dict({}, {})", "dict(a=1).a", "dict.fromkeys([1])", "namespace(a=1)", "namespace({'a':1}, b=2)", "namespace(a=1).a", "namespace().zzz", "cycler(1,2).next()", "cycler(1,2).current", "cycler()", "cycler(a=1)", "cycler(1).nope", "joiner()", "joiner()()", "joiner('-')()", "joiner(1,2)", "joiner(sep='x').sep", "lipsum(n=0)", "lipsum(0, false)", "lipsum(1, false, 5, 6)|wordcount", "lipsum(2)|striptags|length > 100", "lipsum(3).split('<p>')|length", "lipsum(1, false, 5, 2)", "lipsum(html=false) is escaped", "lipsum() is escaped", "'a'.upper", "[].append", "{}.items", "dict is mapping", "range is callable")
CASES.append(("{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{% do c.reset() %}{{ c.next() }}", "raw"))
CASES.append(("{% set j = joiner(' | ') %}{% for x in [1,2,3] %}{{ j() }}{{ x }}{% endfor %}", "raw"))
CASES.append(("{% set g = [1,2,3]|map('string') %}{{ g|first }}{{ g|first }}{{ g|list|repr }}{{ g|list|repr }}", "raw"))
CASES.append(("{% set g = [1,2,3]|select('odd') %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% else %}none{% endfor %}", "raw"))
CASES.append(("{% set g = [3,'a']|map('abs') %}{{ g|first }}{{ g|first }}", "raw"))
CASES.append(("{% for k, v in {'b': 1, 'a': 2}|dictsort %}{{ k }}={{ v }};{% endfor %}", "raw"))
CASES.append(("{% for g, l in u|groupby('g') %}{{ g }}:{{ l|length }};{% endfor %}", "raw"))
CASES.append(("{% for r in range(7)|batch(3, '-') %}{{ r|join(',') }}|{% endfor %}{% for r in range(7)|slice(3) %}{{ r|join(',') }}|{% endfor %}", "raw"))
CASES.append(("{% filter upper|replace('A', '4') %}banana{% endfilter %}", "raw"))

VARS = {
    "d": {"a": 1, "b": {"c": [1, 2]}},
    "l312": [3, 1, 2],
    "u": [
        {"g": "x", "v": 1, "on": True, "n": {"x": 1}, "c": "b"},
        {"g": "y", "v": 3, "on": False, "n": {"x": 2}, "c": "B"},
        {"g": "x", "v": 2, "on": True, "n": {"x": 1}, "c": "a"},
    ],
}


def address(s):
    return re.sub(r"0x[0-9a-f]{6,}", "0x0", s)


def main():
    out = []
    done = set()
    for text, how in CASES:
        if (text, how) in done:
            continue
        done.add((text, how))
        env = jinja2.sandbox.SandboxedEnvironment(
            extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined, autoescape=how is True
        )
        env.filters["repr"] = repr
        case = {"t": text if how == "raw" else "{{ (" + text + ")" + ("" if how is True else "|repr") + " }}"}
        if how is True:
            case["auto"] = True
        try:
            case["o"] = address(env.from_string(case["t"]).render(json.loads(json.dumps(VARS))))
        except Exception as e:
            case["e"] = [type(e).__name__, address(str(e))]
        out.append(case)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oracle-lib.json")
    with open(path, "w") as f:
        f.write('{"vars": %s, "cases": [\n' % json.dumps(VARS))
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in out))
        f.write("\n]}\n")
    print(len(out), "cases", os.path.getsize(path))


main()
