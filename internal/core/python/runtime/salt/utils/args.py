"""Arguments."""
import inspect
import shlex

from salt.exceptions import SaltInvocationError


def clean_kwargs(**kwargs):
    """Returns the keywords that are not Salt's own."""
    return {key: val for key, val in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(names, raise_exc=True):
    if not names:
        return None
    names = names if isinstance(names, dict) else {name: None for name in names}
    text = "The following keyword arguments are not valid: {}".format(", ".join("{}={}".format(key, val) for key, val in names.items()))
    if raise_exc:
        raise SaltInvocationError(text)
    return text


def get_function_argspec(function, is_class_method=None):
    return inspect.getfullargspec(function)


def argspec_report(functions, module=""):
    return {}


def yamlify_arg(text):
    if not isinstance(text, str) or not text.strip():
        return text
    from salt.utils import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def shlex_split(text, **kwargs):
    return shlex.split(text, **kwargs) if isinstance(text, str) else text


def split_input(value, mapper=None):
    items = value if isinstance(value, list) else str(value).split(",")
    return [(mapper or str.strip)(item) if isinstance(item, str) else item for item in items]


def arg_lookup(function, aspec=None):
    spec = aspec or get_function_argspec(function)
    defaults = spec.defaults or ()
    split = len(spec.args) - len(defaults)
    return {"args": spec.args[:split], "kwargs": dict(zip(spec.args[split:], defaults))}


def parse_function(text):
    """Splits a call, such as "cmd.run(ls, shell=sh)": name, arguments, keywords."""
    name, paren, rest = text.partition("(")
    if not paren or not rest.rstrip().endswith(")"):
        return None, None, None
    splitter = shlex.shlex(rest.rstrip()[:-1], posix=False)
    splitter.whitespace, splitter.whitespace_split, splitter.commenters = ",", True, ""
    args, kwargs = [], {}
    for part in splitter:
        key, equals, value = part.strip().partition("=")
        if equals and key.strip().isidentifier():
            kwargs[key.strip()] = yamlify_arg(value.strip())
        else:
            args.append(yamlify_arg(part.strip()))
    return name.strip(), args, kwargs
