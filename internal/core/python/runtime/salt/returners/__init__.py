"""Options of returners."""


def get_returner_options(virtualname=None, ret=None, attrs=None, **kwargs):
    """Returns the options of a returner.

    attrs names each option's key under virtualname. A return's ret_config names an
    alternative set, and its ret_kwargs win. profile_attr names the option whose
    value is the key of further options, which are those of profile_attrs.
    """
    ret = ret or {}
    salt, opts, defaults = kwargs.get("__salt__") or {}, kwargs.get("__opts__") or {}, kwargs.get("defaults") or {}

    def option(key):
        if "config.option" in salt:
            return salt["config.option"](key)
        return opts.get(key)

    def find(key):
        prefixes = [virtualname]
        if ret.get("ret_config"):
            prefixes.insert(0, "{}.{}".format(ret["ret_config"], virtualname))
        for prefix in prefixes:
            block = option(prefix)
            if isinstance(block, dict) and block.get(key):
                return block[key]
            value = option("{}.{}".format(prefix, key))
            if value:
                return value
        return None

    options = {}
    for name, key in (attrs or {}).items():
        value = find(key)
        if value:
            options[name] = value
        elif name in defaults:
            options[name] = defaults[name]
    profile = options.get(kwargs.get("profile_attr"))
    credentials = option(profile) if profile else None
    if credentials:
        for name, key in (kwargs.get("profile_attrs") or {}).items():
            options[name] = credentials.get("{}.{}".format(virtualname, key))
    options.update(ret.get("ret_kwargs") or {})
    return options
