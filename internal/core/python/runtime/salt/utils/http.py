"""HTTP, by brine."""
from salt import _brine


def query(url, *args, **kwargs):
    kwargs.pop("opts", None)
    return _brine.call("http.query", url, *args, **kwargs)
