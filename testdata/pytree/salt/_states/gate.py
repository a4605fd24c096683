"""A state that says whether it may go on."""
from salt.exceptions import CommandExecutionError

__virtualname__ = "gatekeeper"


def __virtual__():
    if "kvfile.get" in __salt__:
        return __virtualname__
    return (False, "kvfile is needed")


def open(name, closed=False):
    if closed:
        raise CommandExecutionError("the gate is closed")
    return {"name": name, "changes": {}, "result": True, "comment": "{} {} {}".format(__low__["state"], __sls__, __env__)}
