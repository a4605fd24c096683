"""Differences of dicts."""
import salt.utils.data


class DictDiffer:
    """The keys by which two dicts differ."""

    def __init__(self, current_dict, past_dict):
        self.current_dict, self.past_dict = current_dict, past_dict

    def added(self):
        return set(self.current_dict) - set(self.past_dict)

    def removed(self):
        return set(self.past_dict) - set(self.current_dict)

    def _common(self):
        return set(self.current_dict) & set(self.past_dict)

    def changed(self):
        return {key for key in self._common() if self.current_dict[key] != self.past_dict[key]}

    def unchanged(self):
        return {key for key in self._common() if self.current_dict[key] == self.past_dict[key]}


class RecursiveDictDiffer(DictDiffer):
    """The difference of two dicts at any depth; keys are paths, such as "a.b"."""

    NONE_VALUE = "<_null_>"

    def __init__(self, past_dict, current_dict, ignore_missing_keys):
        super().__init__(current_dict, past_dict)
        self.ignore_unset_values = True
        self._diffs = self._get_diffs(current_dict, past_dict, ignore_missing_keys)

    @classmethod
    def _get_diffs(cls, dict1, dict2, ignore_missing_keys):
        """Returns {key: {"new": of dict1, "old": of dict2}}, nested as the dicts are."""
        out = {}
        for key, new in dict1.items():
            old = dict2.get(key, cls.NONE_VALUE)
            if key in dict2 and new == old:
                continue
            if isinstance(new, dict) and isinstance(old, dict):
                inner = cls._get_diffs(new, old, ignore_missing_keys)
                if inner:
                    out[key] = inner
                continue
            out[key] = {"new": new, "old": old}
        if not ignore_missing_keys:
            out.update({key: {"new": cls.NONE_VALUE, "old": old} for key, old in dict2.items() if key not in dict1})
        return out

    def _leaves(self, diffs, prefix, separator):
        for key, diff in diffs.items():
            path = "{}{}".format(prefix, key)
            if set(diff) == {"new", "old"}:
                yield path, diff["old"], diff["new"]
            else:
                for leaf in self._leaves(diff, path + separator, separator):
                    yield leaf

    def _nested(self, value, prefix, separator):
        if isinstance(value, dict):
            for key, item in value.items():
                path = "{}{}{}".format(prefix, separator, key)
                yield path
                for inner in self._nested(item, path, separator):
                    yield inner

    def _one_sided(self, side, include_nested, separator):
        keys = []
        for path, old, new in self._leaves(self._diffs, "", separator):
            value, other = (new, old) if side == "new" else (old, new)
            if other == self.NONE_VALUE:
                keys.append(path)
                if include_nested:
                    keys.extend(self._nested(value, path, separator))
        return sorted(keys)

    def added(self, include_nested=False, separator="."):
        return self._one_sided("new", include_nested, separator)

    def removed(self, include_nested=False, separator="."):
        return self._one_sided("old", include_nested, separator)

    def changed(self, separator="."):
        return sorted(path for path, old, new in self._leaves(self._diffs, "", separator) if not (self.ignore_unset_values and self.NONE_VALUE in (old, new)))

    def unchanged(self, separator="."):
        def same(current, diffs, prefix):
            for key, value in current.items():
                path = "{}{}".format(prefix, key)
                if key not in diffs:
                    yield path
                elif isinstance(value, dict) and "new" not in diffs[key]:
                    for inner in same(value, diffs[key], path + separator):
                        yield inner

        return sorted(same(self.current_dict, self._diffs, ""))

    def _values(self, diffs, side):
        return {key: diff[side] if side in diff else self._values(diff, side) for key, diff in diffs.items()}

    @property
    def diffs(self):
        return self._diffs

    @property
    def new_values(self):
        return self._values(self._diffs, "new")

    @property
    def old_values(self):
        return self._values(self._diffs, "old")

    def _shown(self, value):
        if value == self.NONE_VALUE:
            return "nothing"
        if isinstance(value, str):
            return "'{}'".format(value)
        if isinstance(value, list):
            return "'{}'".format(", ".join(str(item) for item in value))
        return str(value)

    def _lines(self, diffs):
        for key in sorted(diffs):
            if set(diffs[key]) == {"new", "old"}:
                yield "{} from {} to {}".format(key, self._shown(diffs[key]["old"]), self._shown(diffs[key]["new"]))
                continue
            yield "{}:".format(key)
            for line in self._lines(diffs[key]):
                yield "  " + line

    @property
    def changes_str(self):
        return "\n".join(self._lines(self._diffs))


def recursive_diff(past_dict, current_dict, ignore_missing_keys=True):
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)


def deep_diff(old, new, ignore=None):
    ignore = ignore or []
    out = salt.utils.data.recursive_diff({key: val for key, val in old.items() if key not in ignore}, {key: val for key, val in new.items() if key not in ignore})
    return {side: part for side, part in out.items() if part}
