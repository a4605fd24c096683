"""JSON, with Salt's defaults."""
import json

JSONDecodeError = json.JSONDecodeError


def loads(text, **kwargs):
    kwargs.pop("_json_module", None)
    return json.loads(text, **kwargs)


def dumps(value, **kwargs):
    kwargs.pop("_json_module", None)
    kwargs.setdefault("ensure_ascii", False)
    return json.dumps(value, **kwargs)


def load(handle, **kwargs):
    return loads(handle.read(), **kwargs)


def dump(value, handle, **kwargs):
    handle.write(dumps(value, **kwargs))


def find_json(raw):
    """Finds the first JSON text among lines of other output."""
    lines = raw.splitlines()
    for start, line in enumerate(lines):
        if line.lstrip()[:1] in ("{", "["):
            for end in range(len(lines), start, -1):
                try:
                    return json.loads("\n".join(lines[start:end]))
                except ValueError:
                    continue
    raise ValueError
