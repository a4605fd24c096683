"""States that call others."""
import copy

import salt.states.file
from salt.utils.state import merge_subreturn


def files(name, contents):
    """Make files in a directory."""
    ret = {"name": name, "changes": {}, "result": True, "comment": []}
    ret = merge_subreturn(ret, __states__["file.directory"](name), "directory")
    for base, text in sorted(copy.deepcopy(contents).items()):
        ret = merge_subreturn(ret, salt.states.file.managed("{}/{}".format(name, base), contents=text), base)
    ret["comment"] = "{} parts".format(len(ret["comment"]))
    ret["changes"] = sorted(ret["changes"]) and {"parts": sorted(ret["changes"])} or {}
    return ret
