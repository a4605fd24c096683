"""YAML, read and written by brine."""
from salt import _brine


class YAMLError(Exception):
    """A text is not YAML."""


ScannerError = ParserError = ConstructorError = YAMLError


def safe_load(stream, Loader=None):
    text = stream.read() if hasattr(stream, "read") else stream
    try:
        return _brine.call("slsutil.deserialize", "yaml", text)
    except Exception as exc:
        raise YAMLError(str(exc)) from exc


load = safe_load


def safe_dump(data, stream=None, **kwargs):
    kwargs.setdefault("default_flow_style", False)
    text = _brine.call("slsutil.serialize", "yaml", data, **kwargs) + "\n"
    if stream is None:
        return text
    stream.write(text)


dump = safe_dump
SafeLoader = SaltYamlSafeLoader = Loader = SafeDumper = SafeOrderedDumper = OrderedDumper = None
