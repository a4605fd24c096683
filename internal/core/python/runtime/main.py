"""Runs the Python modules of a tree for brine.

brine starts this program once for a run and speaks with it in frames: four
bytes of length (big endian), then JSON. Both sides may ask: brine asks to load
a module or to call a function of one, and while a function runs, it may call
functions of brine through __salt__ and its like, which may lead back here.
"""
import base64
import datetime
import functools
import importlib.abc
import importlib.machinery
import inspect
import io
import json
import os
import struct
import sys
import traceback
import types
import weakref

MAX_FRAME = 64 << 20
MAX_DEPTH = 200
MAX_SHARED = 1 << 20


class Wire:
    """The frames between brine and this program."""

    def __init__(self, source, sink):
        self.source = source
        self.sink = sink

    def send(self, message):
        data = json.dumps(pack(message)).encode("utf-8", "surrogateescape")
        if len(data) > MAX_FRAME:
            raise ValueError("the value is too large: {} bytes of JSON, {} at most".format(len(data), MAX_FRAME))
        self.sink.write(struct.pack(">I", len(data)))
        self.sink.write(data)
        self.sink.flush()

    def receive(self):
        size = struct.unpack(">I", self._read(4))[0]
        return unpack(json.loads(self._read(size).decode("utf-8")))

    def _read(self, count):
        parts = []
        while count:
            part = self.source.read(count)
            if not part:
                # brine is gone, and there is nobody to tell.
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def pack(value, depth=0):
    """Returns value as JSON has it; what JSON does not know gets a tag."""
    if depth > MAX_DEPTH:
        raise ValueError("the value is nested too deep, or holds itself")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("!") for key in value):
            return {str(key): pack(item, depth + 1) for key, item in value.items()}
        return {"!d": [[pack(key, depth + 1), pack(item, depth + 1)] for key, item in value.items()]}
    if isinstance(value, list):
        return [pack(item, depth + 1) for item in value]
    if isinstance(value, tuple):
        return {"!t": [pack(item, depth + 1) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {"!s": [pack(item, depth + 1) for item in value]}
    if isinstance(value, (bytes, bytearray)):
        return {"!b": base64.b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, datetime.datetime):
        return {"!m": value.isoformat()}
    if hasattr(value, "items") and hasattr(value, "keys"):
        return pack(dict(value.items()), depth)
    if inspect.isgenerator(value) or isinstance(value, (map, filter, range)) or type(value).__name__ in ("dict_keys", "dict_values", "dict_items"):
        return [pack(item, depth + 1) for item in value]
    if callable(getattr(value, "read", None)):
        return pack(value.read(), depth)
    return str(value)


def unpack(value):
    """Undoes pack."""
    if isinstance(value, list):
        return [unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        tag, item = next(iter(value.items()))
        if tag == "!d":
            return {hashable(unpack(key)): unpack(val) for key, val in item}
        if tag == "!t":
            return tuple(unpack(val) for val in item)
        if tag == "!s":
            return {hashable(unpack(val)) for val in item}
        if tag == "!b":
            return base64.b64decode(item)
        if tag == "!m":
            return parse_time(item)
    return {key: unpack(item) for key, item in value.items()}


def shareable(value, room, depth=0):
    """Returns how much of a room in bytes is left beside a value.

    It is less than 0 for a value that is too large, and for one that is not data and
    would not arrive as what it is.
    """
    if room < 0 or depth > MAX_DEPTH:
        return -1
    if value is None or isinstance(value, (bool, int, float, datetime.datetime)):
        return room - 8
    if isinstance(value, (str, bytes, bytearray)):
        return room - 2 - len(value)
    if isinstance(value, dict):
        items = list(value.items())
        parts = [part for pair in items for part in pair]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    else:
        return -1
    for part in parts:
        room = shareable(part, room - 2, depth + 1)
        if room < 0:
            break
    return room


class Context(dict):
    """The __context__ of a run, and what other languages have of it, as JSON."""

    def __init__(self):
        super().__init__()
        self._known = {}

    def used(self):
        return bool(self) or bool(self._known)

    def take(self, news):
        """Takes what others have changed."""
        for key in news["gone"]:
            self.pop(key, None)
            self._known.pop(key, None)
        for key, value in news["set"].items():
            self[key] = value
            self._known[key] = json.dumps(pack(value))

    def changes(self):
        """Tells what has changed since the last time, of the values that can be sent."""
        room, changed, now = MAX_SHARED, {}, {}
        for key, value in list(self.items()):
            # The return code goes with the answer of a function.
            if not isinstance(key, str) or key == "retcode" or shareable(value, room) < 0:
                continue
            text = json.dumps(pack(value))
            if len(key) + len(text) > room:
                continue
            room -= len(key) + len(text)
            now[key] = text
            if self._known.get(key) != text:
                changed[key] = value
        gone = [key for key in self._known if key not in now]
        self._known = now
        return {"set": changed, "gone": gone}


def hashable(key):
    return tuple(key) if isinstance(key, list) else key


def parse_time(text):
    for form in ("%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S"):
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            continue
    return text


class Functions(dict):
    """Functions of brine by name, as __salt__ and __states__ are.

    The functions are not held here: each is asked for when it is used.
    """

    def __init__(self, helper, kind):
        super().__init__()
        self._helper = helper
        self._kind = kind
        self._known = {}

    def __contains__(self, name):
        if name in self._known:
            return True
        return isinstance(name, str) and bool(self._helper.ask({"op": "has", "kind": self._kind, "name": name}))

    def __missing__(self, name):
        return self[name]

    def __getitem__(self, name):
        if name not in self._known:
            if name not in self:
                raise KeyError(name)
            self._known[name] = self._function(name)
        return self._known[name]

    def _function(self, name):
        def call(*args, **kwargs):
            return self._helper.ask({"op": "invoke", "kind": self._kind, "name": name, "args": list(args), "kwargs": kwargs, "test": self._helper.test})

        call.__name__ = call.__qualname__ = name.rpartition(".")[2]
        call.__doc__ = "The function {} of brine.".format(name)
        return call

    def get(self, name, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def __getattr__(self, module):
        if module.startswith("_"):
            raise AttributeError(module)
        return Module(self, module)

    def keys(self):
        return self._helper.ask({"op": "names", "kind": self._kind})

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __bool__(self):
        return True

    def items(self):
        return [(name, self[name]) for name in self.keys()]

    def values(self):
        return [self[name] for name in self.keys()]


class Module:
    """The functions of one module, for __salt__.test.ping()."""

    def __init__(self, functions, name):
        self._functions = functions
        self._name = name

    def __getattr__(self, function):
        try:
            return self._functions[self._name + "." + function]
        except KeyError:
            raise AttributeError(function)


class Utils(dict):
    """The functions of _utils, and those of the modules salt.utils, by name."""

    def __init__(self, helper):
        super().__init__()
        self._helper = helper

    def _find(self, name):
        module, _, function = name.partition(".")
        loaded = self._helper.module(module)
        if loaded is None:
            try:
                loaded = importlib.import_module("salt.utils." + module)
            except ImportError:
                return None
        return getattr(loaded, function, None)

    def __contains__(self, name):
        return self._find(name) is not None

    def __getitem__(self, name):
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name, default=None):
        return self._find(name) or default

    def __getattr__(self, module):
        if module.startswith("_"):
            raise AttributeError(module)
        return Module(self, module)


class Shims(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the package salt from the sources that brine carries."""

    def __init__(self, sources, helper):
        self.sources = sources
        self.helper = helper

    def find_spec(self, name, path=None, target=None):
        source = name.replace(".", "/")
        for file, package in ((source + "/__init__.py", True), (source + ".py", False)):
            if file in self.sources:
                return importlib.machinery.ModuleSpec(name, self, origin="brine:" + file, is_package=package)
        if name.startswith(("salt.modules.", "salt.states.", "salt.runners.")) and name.count(".") == 2:
            # A module of Salt: its functions are those of brine.
            return importlib.machinery.ModuleSpec(name, self, origin="brine:" + source + ".py", is_package=False)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        spec = module.__spec__
        module.__dict__["__brine__"] = self.helper
        file = spec.origin[len("brine:"):]
        if file not in self.sources:
            from salt import _brine, _dynamic

            _dynamic.dynamic(spec.name, _brine.functions(spec.name))
            return
        exec(compile(self.sources[file], spec.origin, "exec"), module.__dict__)


class Renderers(dict):
    """The renderers of brine by name."""

    def __init__(self, helper):
        super().__init__()
        self._helper = helper

    def __contains__(self, name):
        return True

    def __getitem__(self, name):
        def render(data, saltenv="base", sls="", **kwargs):
            text = data.read() if hasattr(data, "read") else data
            return self._helper.functions["exec"]["slsutil.renderer"](string=text, default_renderer=name, saltenv=saltenv)

        return render

    def get(self, name, default=None):
        return self[name]


# The dunder names whose values change between calls.
DATA = ("opts", "grains", "pillar")
FRAME = ("env", "sls", "id", "instance_id", "low", "running", "instance")


class Helper:
    """Loads modules and calls their functions."""

    def __init__(self, wire):
        self.wire = wire
        self.depth = 0
        self.test = None  # whether states only say what they would change; None: as opts say
        self.modules = {}  # by key
        self.spaces = weakref.WeakSet()  # all modules, those too that were loaded again while a function of theirs works
        self.tools = {}  # the modules of _utils, by name
        self.needs = {}  # which data a module's text names, by key
        self.common = set()  # which data the package salt and _utils need
        self.contexts = {}
        self.scene = {"opts": {}, "grains": {}, "pillar": {}, "context": Context()}
        self.marks = {}  # the versions of the data of scene
        self.versions = {}
        self.functions = {kind: Functions(self, kind) for kind in ("exec", "state", "runner")}
        self.utils = Utils(self)

    @property
    def data(self):
        return self.scene

    def renderers(self):
        return Renderers(self)

    # What brine is asked.

    def ask(self, message):
        """Asks brine and serves what brine asks meanwhile."""
        context = self.scene["context"]
        if context.used():
            message["context"] = True
        self.wire.send(message)
        while True:
            answer = self.wire.receive()
            op = answer.get("op")
            if "shared" in answer and op in ("ret", "err"):
                context.take(answer["shared"])
            if op == "ret":
                if "retcode" in answer:
                    self.scene["context"]["retcode"] = answer["retcode"]
                return answer.get("value")
            if op == "err":
                raise self.exception(answer)
            self.serve(answer)

    def exception(self, answer):
        """Makes the exception that a function of brine stands for."""
        name = answer.get("type", "").rpartition(".")[2]
        text = answer.get("msg", "")
        import builtins
        import salt.exceptions

        cls = getattr(salt.exceptions, name, None) or getattr(builtins, name, None)
        if not (isinstance(cls, type) and issubclass(cls, Exception)):
            cls = salt.exceptions.CommandExecutionError
        return cls(text)

    def log(self, level, text):
        self.wire.send({"op": "log", "level": level, "msg": text})

    # What brine asks.

    def serve(self, message):
        """Serves one question of brine."""
        scene, marks, versions = dict(self.scene), dict(self.marks), self.versions
        self.depth += 1
        try:
            answer = dict({"load": self.load, "call": self.call, "run": self.run, "render": self.render, "context": self.changes}[message["op"]](message), op="ret")
        except BaseException as exc:  # whatever a module raises
            if isinstance(exc, KeyboardInterrupt):
                raise
            answer = self.failure(exc)
        finally:
            self.depth -= 1
            used = self.scene["context"].used()
            if self.depth:
                # A function is waiting that has data of its own.
                self.marks, self.versions = marks, versions
                for what, value in scene.items():
                    self.bind(what, value)
        if used and message["op"] != "context":
            answer["context"] = True
        try:
            self.wire.send(answer)
        except ValueError as exc:
            self.wire.send(dict(self.failure(exc), context=used))

    def failure(self, exc):
        lines, place = [], ""
        for frame in traceback.extract_tb(exc.__traceback__):
            if frame.filename.startswith("brine:") or frame.filename == "<brine>":
                continue
            place = "{}:{}".format(frame.filename, frame.lineno)
            lines.append("  File \"{}\", line {}, in {}".format(frame.filename, frame.lineno, frame.name))
            if frame.line:
                lines.append("    " + frame.line)
        if isinstance(exc, SyntaxError) and exc.filename:
            place = "{}:{}:{}".format(exc.filename, exc.lineno, exc.offset or 0)
        place = getattr(exc, "brine_place", place)
        kind = type(exc)
        name = kind.__name__
        if kind.__module__ not in ("builtins", "__main__"):
            name = kind.__module__ + "." + name
        text = str(exc)
        if isinstance(exc, KeyError) and len(exc.args) == 1:
            text = repr(exc.args[0])
        return {"op": "err", "type": name, "msg": text, "place": place, "tb": "\n".join(lines[-12:])}

    def changes(self, message):
        """Tells what has changed in a __context__."""
        self.enter(message)
        return {"value": self.scene["context"].changes()}

    def module(self, name):
        """Returns a module of _utils, which brine sends if it has it."""
        if name not in self.tools:
            source = self.ask({"op": "source", "name": name})
            self.tools[name] = None
            if source is not None:
                self.load(source)
                self.tools[name] = self.modules[source["key"]]
                self.common |= self.needs[source["key"]]
                self.fetch(self.common)
        return self.tools[name]

    def load(self, message):
        """Loads a module from its source and describes it."""
        key, kind, name = message["key"], message["kind"], message["name"]
        module = types.ModuleType("salt.loaded.ext.{}.{}".format(kind, name))
        module.__file__ = message["file"]
        source = message["source"]
        self.needs[key] = {what for what in DATA if "__{}__".format(what) in source}
        self.refresh(message, self.needs[key])
        self.equip(module)
        self.spaces.add(module)
        lines(module.__file__, source)
        self.modules[key] = module
        try:
            exec(compile(source, module.__file__, "exec"), module.__dict__)
            return {"value": self.describe(module, name)}
        except BaseException:
            del self.modules[key]
            raise

    def wants(self, text):
        """Makes sure that the data that a text names is here."""
        self.common |= {what for what in DATA if "__{}__".format(what) in text}
        self.fetch(self.common)

    def equip(self, module):
        space = module.__dict__
        space["__salt__"] = self.functions["exec"]
        space["__states__"] = self.functions["state"]
        space["__runner__"] = self.functions["runner"]
        space["__runners__"] = self.functions["runner"]
        space["__utils__"] = self.utils
        space["__proxy__"] = {}
        space["__serializers__"] = {}
        space["__file_client__"] = None
        for what, value in self.scene.items():
            space["__{}__".format(what)] = value
        for what in FRAME:
            space["__{}__".format(what)] = None

    def refresh(self, message, needs):
        """Takes the data that holds for a question."""
        if "versions" in message:
            self.versions = message["versions"]
            self.enter(message)
        self.fetch(needs | self.common)

    def enter(self, message):
        """Takes the __context__ that holds for a question."""
        context = self.contexts.setdefault(message.get("context", 0), Context())
        if "shared" in message:
            context.take(message["shared"])
        self.bind("context", context)

    def fetch(self, needs):
        for what in DATA:
            version = self.versions.get(what)
            if what in needs and version is not None and self.marks.get(what) != version:
                self.bind(what, self.ask({"op": "data", "what": what}) or {})
                self.marks[what] = version

    def bind(self, what, value):
        if self.scene[what] is not value:
            self.scene[what] = value
            for module in list(self.spaces):
                module.__dict__["__{}__".format(what)] = value

    def describe(self, module, name):
        """Tells whether a module serves, under which name, and its functions."""
        out = {"name": name, "serves": True, "why": "", "functions": {}, "doc": inspect.getdoc(module) or ""}
        aliases = getattr(module, "__virtual_aliases__", ())
        out["aliases"] = [aliases] if isinstance(aliases, str) else list(aliases)
        init = getattr(module, "__init__", None)
        if inspect.isfunction(init):
            init(module.__dict__["__opts__"])
        virtual = getattr(module, "__virtual__", None)
        if callable(virtual):
            answer = virtual()
            if isinstance(answer, tuple):
                answer, out["why"] = answer[0], str(answer[1]) if len(answer) > 1 else ""
            if answer is True or isinstance(answer, str) and answer != name:
                virtualname = getattr(module, "__virtualname__", answer)
                out["name"] = virtualname if isinstance(virtualname, str) else name
            out["serves"] = bool(answer)
        alias = getattr(module, "__func_alias__", {})
        listed = getattr(module, "__load__", None) or dir(module)
        for attribute in listed:
            function = getattr(module, attribute, None)
            if attribute.startswith("_") or not (inspect.isfunction(function) or isinstance(function, functools.partial)):
                continue
            out["functions"][alias.get(attribute, attribute)] = dict(signature(function), attribute=attribute)
        return out

    def call(self, message):
        """Calls a function of a loaded module."""
        key, attribute = message["key"], message["attribute"]
        self.refresh(message, self.needs[key])
        module = self.modules[key]  # another target may have loaded it again meanwhile
        space, opts, context = module.__dict__, self.scene["opts"], self.scene["context"]
        frame = {"__{}__".format(what): value for what, value in message.get("frame", {}).items()}
        before = {name: space.get(name) for name in frame}
        mode, test = self.test, opts.get("test")
        try:
            space.update(frame)
            if "test" in message:
                self.test = message["test"]
            if self.test is not None:
                opts["test"] = self.test
            result = getattr(module, attribute)(*message["args"], **message["kwargs"])
            # What a function that this one calls sets counts for this one, too.
            answer = {"value": result, "retcode": (context.pop if self.depth == 1 else context.get)("retcode", 0) or 0}
            if "back" in message:
                answer["back"] = message["args"][message["back"]]
            outputter = getattr(module, "__outputter__", {}).get(attribute)
            if outputter:
                answer["out"] = outputter
            return answer
        finally:
            space.update(before)
            if self.test is not None:
                opts["test"] = test
            self.test = mode

    def run(self, message):
        """Runs a file for what its function run returns."""
        source = message["source"]
        module = types.ModuleType("salt.loaded.run")
        module.__file__ = message["file"]
        self.refresh(message, {what for what in DATA if what in source})
        self.equip(module)
        lines(module.__file__, source)
        space = module.__dict__
        space["salt"] = space["__salt__"]
        space["proxy"] = {}
        for what in DATA:
            space[what] = self.scene[what]
        space.update(message.get("vars") or {})
        exec(compile(source, module.__file__, "exec"), space)
        if not callable(space.get("run")):
            raise AttributeError("{} has no function run()".format(message["file"]))
        return {"value": space["run"]()}

    def render(self, message):
        """Calls the function render of a module of _renderers."""
        key, data = message["key"], message["data"]
        self.refresh(message, self.needs[key])
        module = self.modules[key]
        if message["first"]:
            data = io.StringIO(data)
        kwargs = dict(message["kwargs"], renderers=self.renderers())
        parameters = inspect.signature(module.render).parameters
        if not any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters.values()):
            kwargs = {name: value for name, value in kwargs.items() if name in parameters}
        return {"value": module.render(data, *message["args"], **kwargs)}


def signature(function):
    """Describes the arguments of a function."""
    out = {"args": [], "varargs": False, "varkw": False, "doc": inspect.getdoc(function) or ""}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind == parameter.VAR_POSITIONAL:
            out["varargs"] = True
        elif parameter.kind == parameter.VAR_KEYWORD:
            out["varkw"] = True
        else:
            arg = {"name": parameter.name, "keyword": parameter.kind == parameter.KEYWORD_ONLY}
            if parameter.default is not parameter.empty:
                arg["default"] = parameter.default
                arg["optional"] = True
            out["args"].append(arg)
    return out


def lines(name, source):
    """Lets tracebacks show the lines of a source that is in no file here."""
    import linecache

    linecache.cache[name] = (len(source), None, source.splitlines(True), name)


def main(first):
    """Serves brine until it is gone."""
    if sys.version_info < (3, 6):
        raise SystemExit("python3 of version 3.6 or later is needed, this is {}.{}".format(*sys.version_info[:2]))
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What modules print must not mix with the frames, and they have no input.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    wire = Wire(source, sink)
    helper = Helper(wire)
    start = first if first is not None else wire.receive()
    limit(start.get("memory", 0))
    if not start.get("system"):
        sys.meta_path.insert(0, Shims(start["shims"], helper))
    import logging

    class ToBrine(logging.Handler):
        def emit(self, record):
            helper.log(record.levelname.lower(), self.format(record))

    root = logging.getLogger()
    root.addHandler(ToBrine())
    root.setLevel(start.get("log", "WARNING"))
    wire.send({"op": "ret", "value": "{}.{}".format(*sys.version_info[:2])})
    while True:
        helper.serve(wire.receive())


def limit(size):
    if size:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


main(None)
