"""Values that outlast a run: files of JSON under the cache directory."""
import json
import os
import time

from salt.exceptions import SaltCacheError


class Cache:
    """Keeps values by bank, which is like a directory, and key."""

    def __init__(self, opts, cachedir=None, **kwargs):
        self.opts = opts
        self.cachedir = cachedir or opts.get("cachedir", "/var/cache/salt")

    def _path(self, bank, key=None):
        parts = bank.split("/") + ([str(key) + ".json"] if key is not None else [])
        if not all(part and not part.startswith(".") and os.sep not in part for part in parts):
            raise SaltCacheError("invalid bank or key: {} {}".format(bank, key))
        return os.path.join(self.cachedir, *parts)

    def store(self, bank, key, data, expires=None):
        path = self._path(bank, key)
        draft = "{}.{}.new".format(path, os.getpid())
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as handle:
                json.dump(data, handle)
            os.replace(draft, path)
        except (OSError, TypeError, ValueError) as exc:
            raise SaltCacheError("cannot store {}/{}: {}".format(bank, key, exc))

    def fetch(self, bank, key):
        try:
            with open(self._path(bank, key), encoding="utf-8") as handle:
                return json.load(handle)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise SaltCacheError("cannot read {}/{}: {}".format(bank, key, exc))

    def cache(self, bank, key, fun, loop_fun=None, **kwargs):
        """Returns what is kept, or what fun(**kwargs) returns, which is kept then."""
        expire, updated = kwargs.pop("expire", 86400), self.updated(bank, key)
        if updated is None or expire is not None and updated <= time.time() - expire:
            data = fun(**kwargs)
            if loop_fun is not None:
                data = [loop_fun(item) for item in data]
            self.store(bank, key, data)
            return data
        return self.fetch(bank, key)

    def updated(self, bank, key):
        """Returns when a value was stored, in seconds since 1970."""
        try:
            return int(os.path.getmtime(self._path(bank, key)))
        except OSError:
            return None

    def flush(self, bank, key=None):
        import shutil

        path = self._path(bank, key)
        try:
            if key is None:
                shutil.rmtree(path)
            else:
                os.remove(path)
        except FileNotFoundError:
            pass

    def list(self, bank):
        try:
            return sorted(name[:-5] if name.endswith(".json") else name for name in os.listdir(self._path(bank)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def contains(self, bank, key=None):
        return os.path.exists(self._path(bank, key))


MemCache = Cache


def factory(opts, **kwargs):
    return Cache(opts, **kwargs)
