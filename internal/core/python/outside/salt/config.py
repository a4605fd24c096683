"""Configuration: that of brine."""
import os

from salt import _brine
from salt._where import CONFIG

DEFAULT_MINION_OPTS = {}
DEFAULT_MASTER_OPTS = {}


def _options(name, words, path):
    if path and not CONFIG and os.path.exists(path):
        folder = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
        return _brine.report(name, words, ["--config-dir", folder])
    return _brine.report(name, words)


def client_config(path=None, **kwargs):
    """Returns the options of the controller.

    path is the configuration file. One that is not there is brine's own, which also
    goes before it where the folder was made for a configuration.
    """
    return _options("run", ["salt.cmd", "config.items"], path)


master_config = client_config


def minion_config(path=None, **kwargs):
    """Returns the options of this machine."""
    return _options("call", ["config.items"], path).get("local")
