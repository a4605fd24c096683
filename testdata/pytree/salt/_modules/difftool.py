"""Differences, calls of other modules and clients."""
import salt.client
import salt.utils.args
import salt.utils.context
import salt.utils.data
from salt.utils.dictdiffer import RecursiveDictDiffer, deep_diff


def nested():
    """Return how two dicts differ."""
    diff = RecursiveDictDiffer({"a": {"b": 1, "c": 2}, "gone": 1}, {"a": {"b": 2, "c": 2}, "new": [1]}, False)
    return {"changed": diff.changed(), "added": diff.added(), "removed": diff.removed(), "unchanged": diff.unchanged(), "new": diff.new_values["a"], "text": diff.changes_str.splitlines()[0:2]}


def flat():
    return deep_diff({"a": 1, "b": 2}, {"a": 1, "b": 3})


def split(text):
    name, args, kwargs = salt.utils.args.parse_function(text)
    return [name, args, kwargs]


def caller():
    return salt.client.Caller().cmd("test.echo", "called")


def wrapped():
    inner = salt.utils.context.NamespacedDictWrapper({"a": {"b": 1}}, "a")
    inner["c"] = 2
    return [dict(inner.items()), salt.utils.data.exactly_one([0, 1, None]), salt.utils.data.traverse_dict_and_list({"a": [{"b": 7}]}, "a:0:b")]
