"""Values in a file of JSON."""

import os

import salt.utils.files
import salt.utils.json
from salt.exceptions import CommandExecutionError, SaltInvocationError

__func_alias__ = {"set_": "set", "list_": "list"}


def _read(path):
    if not os.path.isabs(path):
        raise SaltInvocationError("not an absolute path: {}".format(path))
    try:
        with salt.utils.files.fopen(path) as fp_:
            return salt.utils.json.load(fp_)
    except FileNotFoundError:
        return {}
    except ValueError as err:
        raise CommandExecutionError("{} is no JSON: {}".format(path, err))


def get(path, key, default=None):
    """Return a value."""
    return _read(path).get(key, default)


def list_(path):
    """Return all values."""
    return _read(path)


def set_(path, key, value):
    """Set a value, and return whether it is another one than before."""
    data = _read(path)
    if data.get(key) == value:
        return False
    data[key] = value
    with salt.utils.files.fopen(path, "w") as fp_:
        salt.utils.json.dump(data, fp_, sort_keys=True)
    return True


def rm(path, key):
    data = _read(path)
    if key not in data:
        return False
    del data[key]
    with salt.utils.files.fopen(path, "w") as fp_:
        salt.utils.json.dump(data, fp_, sort_keys=True)
    return True
