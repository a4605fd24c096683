"""Modules of the tree, which brine uses from where they are."""
from salt import _brine


def sync(opts, form, saltenv=None, extmod_whitelist=None, extmod_blacklist=None, **kwargs):
    """Returns the modules of a kind that are new: (names, whether something changed)."""
    names = _brine.call("saltutil.sync_" + form)
    return names, bool(names)
