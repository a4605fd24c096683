"""Files of the tree."""
from salt import _brine


class Client:
    """Fetches files by brine."""

    def cache_file(self, path, saltenv="base", **kwargs):
        return _brine.call("cp.cache_file", path, saltenv=saltenv)

    def get_file(self, path, dest="", makedirs=False, saltenv="base", **kwargs):
        return _brine.call("cp.get_file", path, dest, saltenv=saltenv, makedirs=makedirs)

    def file_list(self, saltenv="base", prefix=""):
        return _brine.call("cp.list_master", saltenv=saltenv, prefix=prefix)


def get_file_client(opts=None, pillar=False):
    return Client()
