"""Differences of dicts."""
from salt.utils.data import recursive_diff


class DictDiffer:
    """The keys by which two dicts differ."""

    def __init__(self, current_dict, past_dict):
        self.current, self.past = current_dict, past_dict

    def added(self):
        return set(self.current) - set(self.past)

    def removed(self):
        return set(self.past) - set(self.current)

    def changed(self):
        return {key for key in set(self.current) & set(self.past) if self.current[key] != self.past[key]}

    def unchanged(self):
        return {key for key in set(self.current) & set(self.past) if self.current[key] == self.past[key]}


def deep_diff(old, new, ignore=None):
    out = recursive_diff({key: val for key, val in old.items() if key not in (ignore or [])}, {key: val for key, val in new.items() if key not in (ignore or [])})
    return {side: part for side, part in out.items() if part}
