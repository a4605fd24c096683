"""The renderer pyobjects: an SLS whose states are made by calls such as File.managed."""
import builtins
import inspect
import os
import re

from salt.exceptions import SaltRenderError

REQUISITES = tuple(kind + end for end in ("", "_in") for kind in ("listen", "onchanges", "onfail", "require", "watch", "use"))

IMPORT = re.compile(r"^\s*import\s+(salt://\S.*?)\s*$")
FROM = re.compile(r"^\s*from\s+(salt://\S.*?)\s+import\s+(.*?)\s*$")
ALIAS = re.compile(r"^(.*\S)\s+as\s+(\S.*)$")


class Registry:
    """The states of the SLS that is rendered."""

    def __init__(self):
        self.states, self.extends, self.includes = {}, {}, []
        self.around = []  # requisites of the with statements that are open
        self.enabled = False  # imported files make objects, not states

    def add(self, state, id_, extends):
        if not self.enabled:
            return
        known = (self.extends if extends else self.states).setdefault(id_, {})
        if state.function in known:
            raise DuplicateState("A state with id ''{}'', type ''{}'' exists".format(id_, state.function))
        for requisite in self.around:
            state.arguments.setdefault(requisite.kind, []).append(requisite)
        known[state.function] = state

    def include(self, *names):
        if self.enabled:
            self.includes.extend(names)

    def data(self):
        out = {id_: {function: state.listed() for function, state in states.items()} for id_, states in self.states.items()}
        if self.includes:
            out["include"] = self.includes
        if self.extends:
            out["extend"] = {id_: {function: state.listed() for function, state in states.items()} for id_, states in self.extends.items()}
        return out


class DuplicateState(SaltRenderError):
    pass


class InvalidFunction(SaltRenderError):
    pass


class Extend:
    """The name of a state of another SLS, as extend() returns it."""

    def __init__(self, name):
        self.name = name


class Around:
    """What a with statement may name: its states get the requisite."""

    def __enter__(self):
        if self.registry.enabled:
            self.registry.around.append(self.requisite)
        return self

    def __exit__(self, kind, error, trace):
        if self.registry.enabled:
            self.registry.around.pop()


class Requisite(Around):
    """A reference to a state, such as Pkg("nginx")."""

    def __init__(self, registry, kind, module, id_):
        self.registry, self.kind, self.module, self.id_ = registry, kind, module, id_
        self.requisite = self

    def __call__(self):
        return {self.module: self.id_}


class State(Around):
    """A state that an SLS makes."""

    def __init__(self, registry, module, function, id_, arguments):
        self.registry = registry
        self.function = module + "." + function
        self.arguments = {name: as_list(value) if name in REQUISITES else value for name, value in arguments.items()}
        extends = isinstance(id_, Extend)
        self.id_ = id_.name if extends else id_
        registry.add(self, self.id_, extends)
        self.requisite = Requisite(registry, "require", module, self.id_)

    def listed(self):
        """Returns the arguments as an SLS has them, sorted by name."""
        return [{name: self._value(name)} for name in sorted(self.arguments)]

    def _value(self, name):
        value = self.arguments[name]
        if name not in REQUISITES:
            return value
        return [item() if isinstance(item, Requisite) else item.requisite() if isinstance(item, State) else item for item in value]


def as_list(value):
    """Returns requisites as a list, of which one may stand alone."""
    if isinstance(value, (str, dict, Around)):
        return [value]
    return list(value)


class Factory:
    """A state module: File.managed("/path") makes a state, File("/path") refers to one."""

    def __init__(self, registry, module, functions):
        self._registry, self._module, self._functions = registry, module, functions

    def __getattr__(self, function):
        if function not in self._functions:
            raise InvalidFunction("The function '{}' does not exist in the StateFactory for '{}'".format(function, self._module))

        def make(id_, **arguments):
            return State(self._registry, self._module, function, id_, arguments)

        return make

    def __call__(self, id_, requisite="require"):
        return Requisite(self._registry, requisite, self._module, id_)


class Imported:
    """What an import without from makes of a file."""

    def __init__(self, name, scope):
        self.__dict__ = scope
        self._name = name

    def __repr__(self):
        return "<module '{}' (pyobjects)>".format(self._name)


def map_class(functions):
    """Returns the class Map, whose subclasses take the values that match the grains."""

    class Meta(type):
        def __init__(cls, name, bases, space):
            super().__init__(name, bases, space)
            for key, value in values_of(cls, space, functions).items():
                setattr(cls, key, value)

    return Meta("Map", (), {})


def values_of(cls, space, functions):
    rules = []
    for name, rule in space.items():
        if name.startswith("_") or not inspect.isclass(rule):
            continue
        values = {key: value for key, value in vars(rule).items() if not key.startswith("_")}
        rules.append((getattr(rule, "__grain__", "os_family"), getattr(rule, "__match__", name), values))
    first = list(getattr(cls, "priority", ()))
    rules.sort(key=lambda rule: first.index(rule[0]) if rule[0] in first else len(first))
    found = {}
    grains = functions["grains.item"](*sorted({rule[0] for rule in rules})) if rules else {}
    for grain, match, values in rules:
        if grain in grains and grains[grain] == match:
            found.update(values)
    if hasattr(cls, "merge"):
        found.update(functions["pillar.get"](cls.merge) or {})
    return found


class Template:
    """A file that is run, and those that it imports."""

    def __init__(self, scope, saltenv, name):
        self.scope, self.saltenv = scope, saltenv
        self.open = [name]  # the files that are being read

    def prepare(self, text):
        """Returns the text without its imports of the tree, and its names.

        The lines of the imports stay, empty, so that errors have the right numbers.
        """
        scope, kept = dict(self.scope), []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                imports = self.line(line, scope)
            except ImportError as error:
                if not hasattr(error, "brine_place"):
                    error.brine_place = "{}:{}".format(self.open[-1], number)
                raise
            kept.append("" if imports else line)
        return "\n".join(kept) + "\n", scope

    def line(self, line, scope):
        """Does the import of the tree that a line is; False where it is none."""
        whole, part = IMPORT.match(line), FROM.match(line)
        if whole:
            name, space = self.load(whole.group(1))
            scope[name] = Imported(name, space)
        elif part:
            space = self.load(part.group(1))[1]
            for wanted in part.group(2).split(","):
                name = alias = wanted.strip()
                renamed = ALIAS.match(name)
                if renamed:
                    name, alias = renamed.groups()
                if name not in space:
                    raise ImportError("'{}' was not found in '{}'".format(name, part.group(1)))
                scope[alias] = space[name]
        return bool(whole or part)

    def load(self, url):
        """Runs a file of the tree and returns its name and its names."""
        if url in self.open:
            raise ImportError("{} imports itself: {}".format(url, " > ".join(self.open[1:] + [url])))
        path = __salt__["cp.cache_file"](url, saltenv=self.saltenv)
        if not path:
            raise ImportError("Could not find the file '{}'".format(url))
        with builtins.open(path, encoding="utf-8") as file:
            text = file.read()
        self.open.append(url)
        try:
            text, space = self.prepare(text)
            show(url, text)
            exec(compile(text, url, "exec"), space)
        finally:
            self.open.pop()
        return os.path.splitext(os.path.basename(path))[0], space


def show(name, text):
    """Lets a traceback show lines of a text."""
    import linecache

    linecache.cache[name] = (len(text), None, text.splitlines(True), name)


def render(template, saltenv="base", sls="", tmplpath=None, **kwargs):
    registry = Registry()
    modules = {}
    for name in __states__.keys():
        module, _, function = name.partition(".")
        modules.setdefault(module, set()).add(function)
    scope = {"".join(part.capitalize() for part in module.split("_")): Factory(registry, module, functions) for module, functions in modules.items()}
    scope.update({
        "include": registry.include, "extend": Extend, "Map": map_class(__salt__),
        "salt": __salt__, "pillar": __salt__["pillar.get"], "grains": __salt__["grains.get"], "mine": __salt__["mine.get"], "config": __salt__["config.get"],
        "__salt__": __salt__, "__pillar__": __pillar__, "__grains__": __grains__, "__opts__": __opts__, "__sls__": sls,
    })
    name = tmplpath or sls
    text, space = Template(scope, saltenv, name).prepare(template.read())
    registry.enabled = True
    show(name, text)
    exec(compile(text, name, "exec"), space)
    return registry.data()
