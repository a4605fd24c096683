"""Configuration: that of the run."""
import os

from salt import _brine

DEFAULT_MINION_OPTS = {}
DEFAULT_MASTER_OPTS = {}


def minion_config(path=None, **kwargs):
    return dict(_brine.options())


master_config = client_config = minion_config


def load_config(path, env_var=None, default_path=None, exit_on_config_errors=True):
    """Returns the options that a file of YAML sets."""
    from salt.utils import yaml

    path = os.environ.get(env_var or "", path) or default_path
    try:
        with open(path, encoding="utf-8") as handle:
            return yaml.safe_load(handle) or {}
    except OSError:
        return {}


def include_config(include, orig_path, verbose=False, exit_on_config_errors=False):
    """Returns the options of the files that patterns name, in order."""
    import glob

    out = {}
    for pattern in [include] if isinstance(include, str) else include or []:
        if not os.path.isabs(pattern):
            pattern = os.path.join(os.path.dirname(orig_path), pattern)
        for path in sorted(glob.glob(pattern)):
            out.update(load_config(path))
    return out


def get_cloud_config_value(name, vm_, opts, default=None, search_global=True, **kwargs):
    return vm_.get(name, opts.get(name, default))
