#!/usr/bin/python3
"""Records oracle-sets.json: what Jinja2 3.1.2 makes of sets, of tests whose
names are operators, and of the tag profile, which is its body.

Run with a Python that has Jinja2 3.1.2: /usr/bin/python3 record_sets.py
"""
import json

import jinja2.sandbox

PREFIX = "{% load_yaml as a %}!!set {x, y, z}{% endload %}{% load_yaml as b %}!!set {y, w}{% endload %}"
CASES = """{{ a.add('q') }} {{ a|sort }}
{{ a.difference(b)|sort }} {{ a.difference()|sort }} {{ a.difference(['x'], ['y'])|sort }}
{{ a.difference_update(b) }} {{ a|sort }}
{{ a.discard('x') }} {{ a.discard('nope') }} {{ a|sort }}
{{ a.intersection(b)|sort }} {{ a.intersection(['x', 'y'], ['x'])|sort }}
{{ a.intersection_update(b) }} {{ a|sort }}
{{ a.isdisjoint(b) }} {{ a.isdisjoint(['k']) }}
{{ a.issubset(b) }} {{ b.issubset(['y', 'w', 'k']) }}
{{ a.issuperset(b) }} {{ a.issuperset(['x']) }}
{{ a.symmetric_difference(b)|sort }}
{{ a.symmetric_difference_update(b) }} {{ a|sort }}
{{ a.union(b)|sort }} {{ a.union(['k'], ['l'])|sort }}
{{ a.update(b, ['k']) }} {{ a|sort }}
{{ a.copy() == a }} {{ a.copy() is sameas(a) }}
{{ a.remove('x') }} {{ a|sort }}
{{ a.remove('nope') }}
{{ a.pop() in ('x', 'y', 'z') }} {{ a|length }}
{{ a.clear() }} {{ a }} {{ a.pop() }}
{{ 'x' in a }} {{ 'k' not in a }} {{ a|length }} {{ a == b }} {{ a != b }} {{ a >= b }} {{ a > ['x'] }}
{{ (a - b)|sort }}
{{ a is iterable }} {{ a is sequence }} {{ a is mapping }} {{ a.nope }}
{{ [1, 2, 3]|select('<', 2)|list }} {{ [1, 2, 3]|select('<=', 2)|list }} {{ [1, 2, 3]|select('>', 2)|list }}
{{ [1, 2, 3]|reject('>=', 2)|list }} {{ [1, 2, 3]|select('!=', 2)|list }} {{ [1, 2, 3]|select('==', 2)|list }}
{{ [1, 'a']|select('<', 2)|list }}
{{ [{'n': 1}, {'n': 2}]|selectattr('n', '>', 1)|list }} {{ [{'n': 1}, {'n': 2}]|rejectattr('n', '!=', 1)|list }}
{% profile as 'some name' %}body {{ 1 + 1 }}{% endprofile %}
{% profile as x %}{% set y = 1 %}{{ y }}{% endprofile %}""".split("\n")


def main():
    out = []
    for t in CASES:
        env = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined)
        case = {"t": PREFIX + t}
        plain = t
        if t.startswith("{% profile"):
            plain = "{% if true %}" + t.split("%}", 1)[1].replace("endprofile", "endif")
            case["t"] = "{% set x = 'name' %}" + t
        try:
            case["o"] = env.from_string(plain).render(a={"x", "y", "z"}, b={"y", "w"})
        except Exception as e:
            case["e"] = [type(e).__name__, str(e)]
        out.append(case)
    with open("oracle-sets.json", "w") as f:
        json.dump({"vars": {}, "cases": out}, f, indent=1)
        f.write("\n")


main()
