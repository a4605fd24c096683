"""Names of execution modules; functions come from brine."""


def __getattr__(name):
    from salt import _brine

    return getattr(_brine.helper().functions["exec"], name)
