"""Dicts and lists."""
import copy
import fnmatch

from salt.utils.odict import OrderedDict

DEFAULT_TARGET_DELIM = ":"


def traverse_dict(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """Returns what a path of keys leads to."""
    try:
        for part in str(key).split(delimiter):
            data = data[part]
    except (KeyError, IndexError, TypeError):
        return default
    return data


def traverse_dict_and_list(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """Like traverse_dict; parts may be indexes of lists."""
    for part in str(key).split(delimiter):
        if isinstance(data, list):
            try:
                data = data[int(part)]
                continue
            except ValueError:
                found = [item[part] for item in data if isinstance(item, dict) and part in item]
                if not found:
                    return default
                data = found[0]
                continue
            except IndexError:
                return default
        try:
            data = data[part]
        except (KeyError, TypeError):
            return default
    return data


def subdict_match(data, expr, delimiter=DEFAULT_TARGET_DELIM, regex_match=False, exact_match=False):
    key, _, pattern = expr.rpartition(delimiter)
    found = traverse_dict_and_list(data, key, {}, delimiter)
    items = found if isinstance(found, list) else [found]
    return any(fnmatch.fnmatch(str(item).lower(), pattern.lower()) for item in items)


def is_dictlist(data):
    return isinstance(data, list) and bool(data) and all(isinstance(item, dict) and len(item) == 1 for item in data)


def repack_dictlist(data, strict=False, recurse=False, key_cb=None, val_cb=None):
    """Makes one dict of a list of dicts."""
    out = {}
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict):
            for key, val in item.items():
                if recurse and is_dictlist(val):
                    val = repack_dictlist(val, strict, recurse)
                out[key_cb(key) if key_cb else key] = val_cb(key, val) if val_cb else val
        elif isinstance(item, str):
            out[item] = None
        elif strict:
            return {}
    return out


def compare_dicts(old=None, new=None):
    """Returns the keys that differ, each with old and new."""
    old, new = old or {}, new or {}
    out = {}
    for key in set(old) | set(new):
        if key not in old:
            out[key] = {"old": "", "new": new[key]}
        elif key not in new:
            out[key] = {"old": old[key], "new": ""}
        elif old[key] != new[key]:
            out[key] = {"old": old[key], "new": new[key]}
    return out


def compare_lists(old=None, new=None):
    out = {}
    added, removed = [item for item in new or [] if item not in (old or [])], [item for item in old or [] if item not in (new or [])]
    if added:
        out["new"] = added
    if removed:
        out["old"] = removed
    return out


def is_list(value):
    return isinstance(value, list)


def is_iter(value, ignore=(str,)):
    return not isinstance(value, ignore) and hasattr(value, "__iter__")


def is_true(value=None):
    try:
        return float(value) > 0
    except (ValueError, TypeError):
        pass
    return str(value).lower() == "true" if isinstance(value, str) else bool(value)


def mysql_to_dict(data, key):
    """Reads the table that the mysql client prints."""
    out, headers = {}, []
    for line in data:
        if not line or line.startswith("+"):
            continue
        row = [cell.strip() for cell in line.split("|")[1:-1]]
        if not headers:
            headers = row
            continue
        record = dict(zip(headers, row))
        out[record.pop(key)] = record
    return out


def simple_types_filter(data):
    if isinstance(data, dict):
        return {key: simple_types_filter(val) for key, val in data.items()}
    if isinstance(data, (list, tuple, set)):
        return [simple_types_filter(item) for item in data]
    return data if isinstance(data, (str, int, float, bool, type(None))) else str(data)


def stringify(data):
    return [item if isinstance(item, str) else str(item) for item in data]


def decode(data, encoding="utf-8", errors="strict", keep=False, **kwargs):
    """Turns bytes into text, at any depth."""
    if isinstance(data, (bytes, bytearray)):
        try:
            return bytes(data).decode(encoding or "utf-8", errors)
        except UnicodeDecodeError:
            if keep:
                return data
            raise
    if isinstance(data, dict):
        return type(data)((decode(key, encoding, errors, keep), decode(val, encoding, errors, keep)) for key, val in data.items())
    if isinstance(data, list):
        return [decode(item, encoding, errors, keep) for item in data]
    if isinstance(data, tuple):
        return tuple(decode(item, encoding, errors, keep) for item in data)
    return data


decode_dict = decode_list = decode_tuple = decode


def encode(data, encoding="utf-8", errors="strict", keep=False, **kwargs):
    """Turns text into bytes, at any depth."""
    if isinstance(data, str):
        return data.encode(encoding or "utf-8", errors)
    if isinstance(data, dict):
        return type(data)((encode(key, encoding, errors), encode(val, encoding, errors)) for key, val in data.items())
    if isinstance(data, (list, tuple)):
        return type(data)(encode(item, encoding, errors) for item in data)
    return data


encode_dict = encode_list = encode_tuple = encode


def filter_by(lookup_dict, lookup, traverse=None, merge=None, default="default", base=None):
    found = None
    for key in (lookup if isinstance(lookup, list) else [lookup]):
        found = next((val for pattern, val in lookup_dict.items() if fnmatch.fnmatchcase(str(key), str(pattern))), None)
        if found is not None:
            break
    if found is None:
        found = lookup_dict.get(default)
    if base and base in lookup_dict:
        from salt.utils import dictupdate

        found = dictupdate.update(copy.deepcopy(lookup_dict[base]), found or {})
    if merge:
        from salt.utils import dictupdate

        found = dictupdate.update(copy.deepcopy(found or {}), copy.deepcopy(merge))
    return found


def flatten(data, levels=None, preserve_nulls=False, _ids=None):
    out = []
    for item in data:
        if isinstance(item, (list, tuple)) and (levels is None or levels > 0):
            out.extend(flatten(item, None if levels is None else levels - 1, preserve_nulls))
        elif preserve_nulls or item not in (None, "None", "null"):
            out.append(item)
    return out


def sorted_ignorecase(items):
    return sorted((item for item in items), key=lambda item: item.lower())


def recursive_diff(old, new, ignore_keys=None, ignore_order=False, ignore_missing_keys=False):
    """Returns how two values differ, as {"old": ..., "new": ...}."""
    if isinstance(old, dict) and isinstance(new, dict):
        out = {"old": {}, "new": {}}
        for key in set(old) | set(new):
            if key in (ignore_keys or []) or ignore_missing_keys and (key not in old or key not in new):
                continue
            if key not in old:
                out["new"][key] = new[key]
            elif key not in new:
                out["old"][key] = old[key]
            else:
                diff = recursive_diff(old[key], new[key], ignore_keys, ignore_order, ignore_missing_keys)
                if diff:
                    out["old"][key], out["new"][key] = diff["old"], diff["new"]
        return {side: part for side, part in out.items()} if out["old"] or out["new"] else {}
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and ignore_order:
        same = len(old) == len(new) and all(item in new for item in old)
        return {} if same else {"old": old, "new": new}
    return {} if old == new else {"old": old, "new": new}


class CaseInsensitiveDict(dict):
    """A dict whose keys are found in any case, and listed as they were given."""

    def __init__(self, init=None, **kwargs):
        super().__init__()
        self._names = {}
        self.update(init or {}, **kwargs)

    def _name(self, key):
        return self._names.get(str(key).lower(), key)

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key, value):
        if key in self:
            super().__delitem__(self._name(key))
        self._names[str(key).lower()] = key
        super().__setitem__(key, value)

    def __getitem__(self, key):
        return super().__getitem__(self._name(key))

    def __delitem__(self, key):
        super().__delitem__(self._name(key))
        del self._names[str(key).lower()]

    def __contains__(self, key):
        return str(key).lower() in self._names

    def get(self, key, default=None):
        return self[key] if key in self else default


def exactly_n(items, amount=1):
    """Reports whether so many of the items are true."""
    return sum(1 for item in items if item) == amount


def exactly_one(items):
    return exactly_n(items)
