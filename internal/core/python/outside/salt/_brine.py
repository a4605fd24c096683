"""brine as a child process: what the clients of this package stand on."""
import json
import subprocess

from salt._where import CONFIG, PROGRAM
from salt.exceptions import SaltClientError


class Data(dict):
    """A dict that answers has_key, which scripts of Python 2 call."""

    def has_key(self, key):
        return key in self


def command(name, *words):
    """Returns the command line of a command of brine."""
    return [PROGRAM, name] + (["--config-dir", CONFIG] if CONFIG else []) + list(words)


def arguments(args, kwargs):
    """Returns arguments of a function as brine reads them."""
    words = [json.dumps(arg) for arg in args or ()]
    words.extend("{}={}".format(name, json.dumps(value)) for name, value in (kwargs or {}).items())
    return words


def text(line):
    """Runs a command and returns what it printed."""
    done = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = done.communicate()
    return done.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def report(name, words, flags=()):
    """Runs a command and returns its report.

    A command that did not get as far as a report raises SaltClientError.
    """
    status, out, err = text(command(name, "--out=json", "--out-indent=-1", *(list(flags) + ["--"] + list(words))))
    try:
        data = json.loads(out)
    except ValueError:
        raise SaltClientError(err.strip() or out.strip() or "brine ended with status {}".format(status))
    if status and isinstance(data, dict) and "error" in data and "retcode" in data and len(data) <= 3:
        raise SaltClientError(data["error"])
    return data


def call(name, *args, **kwargs):
    """Calls an execution function on this machine."""
    return report("call", [name] + arguments(args, kwargs)).get("local")


def run(name, *args, **kwargs):
    """Calls a runner function."""
    return report("run", [name] + arguments(args, kwargs))


def options():
    """Returns the options of this machine."""
    return call("config.items")


def grains():
    """Returns the grains of this machine."""
    return call("grains.items")


class Functions(dict):
    """Functions by name, each a call of brine."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def __missing__(self, name):
        def one(*args, **kwargs):
            return self._function(name, args, kwargs)

        return one
