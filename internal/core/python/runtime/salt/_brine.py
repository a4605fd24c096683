"""What the other modules of this package need of brine."""
import sys


def helper():
    """Returns the object that speaks with brine."""
    return sys.modules["salt"].__brine__


def call(name, *args, **kwargs):
    """Calls an execution function of brine."""
    return helper().functions["exec"][name](*args, **kwargs)


def run(name, *args, **kwargs):
    """Calls a runner function of brine."""
    return helper().functions["runner"][name](*args, **kwargs)


def options():
    """Returns the options of the run."""
    helper().wants("__opts__")
    return helper().data["opts"]


def grains():
    """Returns the grains of the machine."""
    helper().wants("__grains__")
    return helper().data["grains"]


# Files of Salt whose functions have another name.
NAMES = {
    "aliases": "aliases", "aptpkg": "pkg", "cmdmod": "cmd", "configmod": "config", "debian_ip": "ip", "dockermod": "docker",
    "gitmod": "git", "groupadd": "group", "linux_acl": "acl", "linux_lvm": "lvm", "linux_shadow": "shadow", "linux_sysctl": "sysctl",
    "pacmanpkg": "pkg", "pip_state": "pip", "rh_ip": "ip", "saltmod": "salt", "ssh_auth": "ssh_auth", "systemd_service": "service",
    "useradd": "user", "virtualenv_mod": "virtualenv", "yumpkg": "pkg", "zypperpkg": "pkg",
}


def functions(name):
    """Returns what finds the attributes of salt.modules.NAME and its like."""
    _, kind, file = name.split(".")
    module = NAMES.get(file, file)
    known = helper().functions[{"modules": "exec", "states": "state", "runners": "runner"}[kind]]

    def find(attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if kind == "modules" and module == "cmd" and attribute.startswith("_") and attribute.endswith("_quiet"):
            # What Salt itself runs without a line in the log.
            attribute = attribute[1:-len("_quiet")]
        try:
            return known[module + "." + attribute]
        except KeyError:
            raise AttributeError("brine has no function {}.{}".format(module, attribute))

    return find
