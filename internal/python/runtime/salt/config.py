"""Configuration: that of the run."""
from salt import _brine

DEFAULT_MINION_OPTS = {}
DEFAULT_MASTER_OPTS = {}


def minion_config(path=None, **kwargs):
    helper = _brine.helper()
    helper.wants("__opts__")
    return dict(helper.data["opts"])


master_config = client_config = minion_config


def get_cloud_config_value(name, vm_, opts, default=None, search_global=True, **kwargs):
    return vm_.get(name, opts.get(name, default))
