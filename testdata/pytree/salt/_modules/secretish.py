"""Values that are kept, and defaults."""
import salt.cache
import salt.utils.dictupdate as dictupdate
from salt.defaults import NOT_SET
from salt.exceptions import CommandExecutionError
from salt.utils import immutabletypes

LEVELS = immutabletypes.freeze({"low": 1, "high": [2, 3]})
BANK = "secretish/values"


def read(key, default=NOT_SET):
    """Return a kept value, or the default."""
    cache = salt.cache.factory(__opts__)
    if not cache.contains(BANK, key):
        if default is not NOT_SET:
            return default
        raise CommandExecutionError("no value {}".format(key))
    return cache.fetch(BANK, key)


def write(key, value):
    cache = salt.cache.Cache(__opts__)
    cache.store(BANK, key, value)
    return cache.list(BANK)


def forget(key):
    salt.cache.factory(__opts__).flush(BANK, key)
    return True


def levels(**kwargs):
    kwargs = {key: val for key, val in kwargs.items() if not key.startswith("__")}
    merged = dictupdate.update({"low": LEVELS["low"], "high": list(LEVELS["high"])}, kwargs)
    try:
        LEVELS["low"] = 5
    except TypeError:
        merged["frozen"] = True
    return merged
