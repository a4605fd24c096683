"""Versions of packages."""
import salt.utils.pkg
import salt.utils.versions
from salt.utils.decorators import depends
from salt.utils.versions import LooseVersion


@depends("library_that_nobody_has")
def never():
    return "never"


@depends("json")
def newest(versions):
    """Return the newest of versions."""
    return str(max(LooseVersion(version) for version in versions))


def matches(wanted, available):
    """Return the first available version that is as wanted."""
    return salt.utils.pkg.match_version(wanted, available)


def compare(left, right):
    return salt.utils.versions.version_cmp(left, right)
