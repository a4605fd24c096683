"""The names of six that modules of Python 2 times use."""
import builtins
import io
import sys
import types

PY2, PY3 = False, True
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
unichr = chr
MAXSIZE = sys.maxsize
StringIO, BytesIO = io.StringIO, io.BytesIO
next = builtins.next
print_ = print


def iteritems(mapping, **kwargs):
    return iter(mapping.items(**kwargs))


def iterkeys(mapping, **kwargs):
    return iter(mapping.keys(**kwargs))


def itervalues(mapping, **kwargs):
    return iter(mapping.values(**kwargs))


def viewitems(mapping):
    return mapping.items()


def viewkeys(mapping):
    return mapping.keys()


def viewvalues(mapping):
    return mapping.values()


def u(text):
    return text


def b(text):
    return text.encode("latin-1")


def ensure_str(text, encoding="utf-8", errors="strict"):
    return text.decode(encoding, errors) if isinstance(text, bytes) else text


ensure_text = ensure_str


def ensure_binary(text, encoding="utf-8", errors="strict"):
    return text.encode(encoding, errors) if isinstance(text, str) else text


def reraise(kind, value, trace=None):
    raise (value if value is not None else kind()).with_traceback(trace)


def raise_from(value, cause):
    raise value from cause


def add_metaclass(meta):
    def wrap(cls):
        space = {key: item for key, item in cls.__dict__.items() if key not in ("__dict__", "__weakref__")}
        return meta(cls.__name__, cls.__bases__, space)

    return wrap


def with_metaclass(meta, *bases):
    return meta("temporary", bases, {})


def python_2_unicode_compatible(cls):
    return cls


class _Moves(types.ModuleType):
    """six.moves: where things are in Python 3."""

    __path__ = []
    input = staticmethod(input)
    map, zip, filter, range, xrange, reload_module = map, zip, filter, range, range, None
    cStringIO, StringIO = io.StringIO, io.StringIO
    zip_longest = staticmethod(__import__("itertools").zip_longest)
    filterfalse = staticmethod(__import__("itertools").filterfalse)
    reduce = staticmethod(__import__("functools").reduce)
    shlex_quote = staticmethod(__import__("shlex").quote)
    UserDict, UserList, UserString = (getattr(__import__("collections"), name) for name in ("UserDict", "UserList", "UserString"))

    _modules = {
        "configparser": "configparser", "queue": "queue", "urllib": "urllib", "http_client": "http.client", "builtins": "builtins",
        "http_cookiejar": "http.cookiejar", "http_cookies": "http.cookies", "html_parser": "html.parser", "cPickle": "pickle",
        "socketserver": "socketserver", "urllib_parse": "urllib.parse", "urllib_error": "urllib.error", "copyreg": "copyreg",
        "email_mime_text": "email.mime.text", "email_mime_multipart": "email.mime.multipart", "xmlrpc_client": "xmlrpc.client",
        "BaseHTTPServer": "http.server", "SimpleHTTPServer": "http.server", "_thread": "_thread", "winreg": "winreg",
    }

    def __getattr__(self, name):
        import importlib

        target = self._modules.get(name)
        if target is None:
            raise AttributeError(name)
        if name == "urllib":
            importlib.import_module("urllib.parse")
            importlib.import_module("urllib.request")
            importlib.import_module("urllib.error")
        return importlib.import_module(target)


moves = _Moves(__name__ + ".moves")
sys.modules[moves.__name__] = moves
for _name, _target in (("urllib", "urllib"), ("urllib.parse", "urllib.parse"), ("urllib.request", "urllib.request"), ("urllib.error", "urllib.error"),
                       ("configparser", "configparser"), ("queue", "queue"), ("builtins", "builtins"), ("http_client", "http.client")):
    __import__(_target)
    sys.modules[moves.__name__ + "." + _name] = sys.modules[_target]
