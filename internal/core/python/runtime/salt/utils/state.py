"""Returns of states."""


def gen_tag(low):
    """Returns the key of a low chunk's return."""
    return "{0[state]}_|-{0[__id__]}_|-{0[name]}_|-{0[fun]}".format(low)


def check_result(running, recurse=False, highstate=None):
    """Reports whether no state of a run failed."""
    if not isinstance(running, dict):
        return False
    if not running and not recurse:
        return False
    for item in running.values():
        if not isinstance(item, dict):
            if not recurse:
                return False
            continue
        if "result" not in item:
            if not check_result(item, True, highstate):
                return False
        elif item["result"] is False:
            return False
    return True


def merge_subreturn(original_return, sub_return, subkey=None):
    """Merges what a state returned that another one called into the other's return."""
    if not subkey:
        subkey = sub_return["name"]
    if sub_return["result"] is False:
        original_return["result"] = False
    comments = original_return.get("comment") or []
    if not isinstance(comments, list):
        comments = [comments]
    sub = sub_return["comment"]
    comments.extend(sub if isinstance(sub, list) else [sub])
    original_return["comment"] = comments
    if sub_return["changes"]:
        original_return.setdefault("changes", {})[subkey] = sub_return["changes"]
    return original_return
