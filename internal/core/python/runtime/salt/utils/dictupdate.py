"""Dicts put into dicts."""
import copy
from collections.abc import Mapping


def update(dest, upd, recursive_update=True, merge_lists=False):
    """Puts upd into dest, at any depth."""
    if not isinstance(dest, Mapping) or not isinstance(upd, Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key, val in upd.items():
        have = dest.get(key)
        if recursive_update and isinstance(have, Mapping) and isinstance(val, Mapping):
            dest[key] = update(have, val, merge_lists=merge_lists)
        elif merge_lists and isinstance(have, list) and isinstance(val, list):
            dest[key] = copy.copy(have) + [item for item in val if item not in have]
        else:
            dest[key] = val
    return dest


def merge_list(first, second):
    out = {}
    for key, val in first.items():
        out[key] = [val, second[key]] if key in second else val
    return out


def merge_recurse(first, second, merge_lists=False):
    return update(copy.deepcopy(first), second, merge_lists=merge_lists)


def merge_overwrite(first, second, merge_lists=False):
    out = copy.copy(first)
    out.update(second)
    return out


def merge(first, second, strategy="smart", renderer="yaml", merge_lists=False):
    if strategy == "list":
        return merge_list(first, second)
    if strategy == "overwrite":
        return merge_overwrite(first, second, merge_lists)
    if strategy == "none":
        return first
    return merge_recurse(first, second, merge_lists)


def ensure_dict_key(data, keys, delimiter=":", ordered_dict=False):
    place = data
    for key in keys.split(delimiter):
        place = place.setdefault(key, {})
    return data


def set_dict_key_value(data, keys, value, delimiter=":", ordered_dict=False):
    before, _, last = keys.rpartition(delimiter)
    place = data
    for key in before.split(delimiter) if before else []:
        place = place.setdefault(key, {})
    place[last] = value
    return data


def append_dict_key_value(data, keys, value, delimiter=":", ordered_dict=False):
    before, _, last = keys.rpartition(delimiter)
    place = data
    for key in before.split(delimiter) if before else []:
        place = place.setdefault(key, {})
    place.setdefault(last, []).append(value)
    return data
