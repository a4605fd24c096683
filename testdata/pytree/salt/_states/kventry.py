"""Values in a file of JSON."""


def present(name, path, value=None):
    """Make sure that a value is there."""
    ret = {"name": name, "changes": {}, "result": True, "comment": ""}
    old = __salt__["kvfile.get"](path, name)
    if old == value:
        ret["comment"] = "{} is already {}".format(name, value)
        return ret
    if __opts__["test"]:
        ret["result"] = None
        ret["comment"] = "{} would be set".format(name)
        ret["changes"] = {"old": old, "new": value}
        return ret
    __salt__["kvfile.set"](path, name, value)
    ret["changes"] = {"old": old, "new": value}
    ret["comment"] = "{} was set".format(name)
    return ret


def absent(name, path):
    ret = {"name": name, "changes": {}, "result": True, "comment": "{} is absent".format(name)}
    if __salt__["kvfile.get"](path, name) is None:
        return ret
    if __opts__["test"]:
        ret["result"] = None
        return ret
    __salt__["kvfile.rm"](path, name)
    ret["changes"] = {name: "removed"}
    return ret


def mod_watch(name, sfun=None, **kwargs):
    return {"name": name, "changes": {"watched": sfun}, "result": True, "comment": "something changed"}
