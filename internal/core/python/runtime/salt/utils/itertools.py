"""Iteration."""


def split(orig, sep=None):
    return iter(orig.split(sep))


def read_file(handle, chunk_size=1048576):
    return iter(lambda: handle.read(chunk_size), "")
