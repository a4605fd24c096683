"""Versions."""
import re
import warnings


def _parts(version):
    return [int(part) if part.isdigit() else part for part in re.findall(r"\d+|[a-zA-Z]+", str(version))]


class LooseVersion:
    """A version that is compared part by part."""

    def __init__(self, vstring=""):
        self.vstring = str(vstring)
        self.version = _parts(vstring)

    def _cmp(self, other):
        theirs = other.version if isinstance(other, LooseVersion) else _parts(other)
        for mine, yours in zip(self.version, theirs):
            if mine != yours:
                if type(mine) is not type(yours):
                    mine, yours = str(mine), str(yours)
                return -1 if mine < yours else 1
        return (len(self.version) > len(theirs)) - (len(self.version) < len(theirs))

    def __eq__(self, other):
        return self._cmp(other) == 0

    def __lt__(self, other):
        return self._cmp(other) < 0

    def __le__(self, other):
        return self._cmp(other) <= 0

    def __gt__(self, other):
        return self._cmp(other) > 0

    def __ge__(self, other):
        return self._cmp(other) >= 0

    def __hash__(self):
        return hash(self.vstring)

    def __str__(self):
        return self.vstring

    __repr__ = __str__


StrictVersion = Version = LooseVersion


def version_cmp(first, second, ignore_epoch=False):
    return LooseVersion(first)._cmp(second)


def compare(ver1="", oper="==", ver2="", cmp_func=None, ignore_epoch=False):
    result = (cmp_func or version_cmp)(ver1, ver2)
    if result is None:
        return False
    return {"<": result < 0, "<=": result <= 0, "==": result == 0, "=": result == 0, "!=": result != 0, ">=": result >= 0, ">": result > 0}.get(oper, False)


def warn_until(version, message, category=DeprecationWarning, **kwargs):
    warnings.warn(str(message), category, stacklevel=2)


warn_until_date = kwargs_warn_until = warn_until
