"""The renderer pydsl: an SLS in Python that declares states by state("ID").file.managed(...)."""
import types
import uuid

from salt.exceptions import SaltRenderError

REQUISITES = frozenset("listen require watch prereq use listen_in require_in watch_in prereq_in use_in onchanges onfail".split())


class PyDslError(SaltRenderError):
    pass


class Options(dict):
    def __getattr__(self, name):
        return self.get(name)


class Sls:
    """The SLS that is rendered."""

    def __init__(self, name, saltenv, load):
        self.name, self.saltenv = name, saltenv
        self._load = load
        self.options = Options()
        self.decls, self.extends, self.includes = {}, {}, []
        self.funcs = []  # those that ordered counts

    def set(self, **options):
        self.options.update(options)

    def include(self, *names, saltenv=None, delayed=False, **kwargs):
        """Includes SLS files. Of those in pydsl, it returns the modules."""
        saltenv = saltenv or self.saltenv
        self.includes.extend((saltenv, name) for name in names)
        if delayed or not names:
            return None
        modules = [self._load(name, saltenv) for name in names]
        return modules[0] if len(modules) == 1 else modules

    def extend(self, *functions):
        if self.options.ordered or self.last_func():
            raise PyDslError("Cannot extend() after the ordered option was turned on!")
        for function in functions:
            id_ = function.mod._id
            self.extends[id_] = self.decls.pop(id_)

    def state(self, id=None):
        id_ = id or ".{}".format(uuid.uuid4())
        if id_ not in self.decls:
            self.decls[id_] = Declaration(self, id_)
        return self.decls[id_]

    def last_func(self):
        return self.funcs[-1] if self.funcs else None

    def load_highstate(self, data):
        for id_, body in data.items():
            for module, arguments in body.items():
                module, _, function = module.partition(".")
                words = [] if function else [item for item in arguments if isinstance(item, str)]
                named = {name: value for item in arguments if isinstance(item, dict) for name, value in item.items()}
                self.state(id_)[module](function or words[0], **named)

    def data(self, file):
        # Salt keeps the module of an SLS by such a state, which is seen in its results.
        self.state("_slsmod_" + self.name).stateconf.set(slsmod="<module '{}' from '{}'>".format(self.name, file))
        out = {}
        if self.includes:
            out["include"] = [{saltenv: name} for saltenv, name in self.includes]
        if self.extends:
            out["extend"] = {id_: declaration.data(True) for id_, declaration in self.extends.items()}
        for id_, declaration in self.decls.items():
            out[id_] = declaration.data(False)
        return out


class Declaration:
    """An ID with its state modules."""

    def __init__(self, sls, id_):
        self._sls, self._id, self._mods = sls, id_, {}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._mods:
            self._mods[name] = Module(self._sls, self._id, name)
        return self._mods[name]

    __getitem__ = __getattr__

    def __str__(self):
        return self._id

    def __iter__(self):
        return iter(self._mods.values())

    def data(self, extends):
        return {name: module.data(extends) for name, module in self._mods.items()}

    def __call__(self, check=True):
        """Runs the state now, while the SLS is rendered."""
        sls, own = self._sls, [module._func for module in self]
        if sls.decls.get(self._id) is self:
            last = sls.last_func()
            if last and own[-1] is not last:
                raise PyDslError("Cannot run state({}: {}) that is required by a runtime state({}: {}), at compile time.".format(
                    own[-1].mod._name, self._id, last.mod._name, last.mod._id))
            del sls.decls[self._id]
            own[0].forget_order()
            sls.funcs = [function for function in sls.funcs if function not in own]
        results = __salt__["state.high"]({self._id: self.data(False)})
        if not isinstance(results, dict):
            raise PyDslError("An error occurred while running highstate: {}".format("; ".join(results)))
        results = sorted(results.items(), key=lambda item: item[1].get("__run_num__", 0))
        for tag, result in results:
            if check and not result["result"]:
                raise PyDslError("Failed executing low state at compile time: {}: {}".format(tag, result.get("comment")))
        return results


class Module:
    """A state module of an ID, with its one function."""

    def __init__(self, sls, id_, name):
        self._sls, self._id, self._name, self._func = sls, id_, name, None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._func is None:
            self._func = Function(self)
        if name in REQUISITES:
            return getattr(self._func, name)
        if self._func.name not in (None, name):
            raise PyDslError("Multiple state functions({}) not allowed in a state module({})!".format(name, self._name))
        self._func.name = name
        return self._func

    def __call__(self, function, *args, **kwargs):
        return getattr(self, function)(*args, **kwargs)

    def __str__(self):
        return self._name

    def data(self, extends):
        if self._func is None or not self._func.name:
            if not extends:
                raise PyDslError("No state function specified for module: {}".format(self._name))
            return self._func.args if self._func else []
        return [self._func.name] + self._func.args


class Function:
    """A state function with its arguments."""

    def __init__(self, mod):
        self.mod, self.name, self.args = mod, None, []
        self._order = None
        sls = mod._sls
        if sls.options.ordered:
            last = sls.last_func()
            if last:
                self.require(last.mod)
                self._order = self.args[-1]
            sls.funcs.append(self)

    def forget_order(self):
        """Takes back the requisite that the option ordered has added."""
        self.args = [item for item in self.args if item is not self._order]
        self._order = None

    def __call__(self, *args, **kwargs):
        if args and callable(args[0]):
            raise PyDslError("state({}).{}.{}: a function of Python cannot be a state in brine; write it as a module of _states".format(self.mod._id, self.mod._name, self.name))
        if args:
            self.args.append({"name": args[0]})
            self.args.extend(args[1:])
        self.args.extend({name: value} for name, value in kwargs.items())
        return self

    def reference(self, kind, module, id_):
        if isinstance(module, Module):
            id_ = module._id
        elif not (module and id_):
            raise PyDslError("Invalid a requisite reference declaration! {}: {}".format(module, id_))
        self.args.append({kind: [{str(module): str(id_)}]})

    def __getattr__(self, kind):
        if kind not in REQUISITES:
            raise AttributeError(kind)

        def require(*modules, **others):
            for module in modules:
                self.reference(kind, module, None)
            for module, id_ in others.items():
                self.reference(kind, module, id_)
            return self

        return require


class Run:
    """What is run to render one SLS: that, and those that it includes."""

    def __init__(self, variables):
        self.variables = variables
        self.modules = {}  # by the name of the SLS
        self.stack = []  # the Sls objects of those under way

    def top(self, method):
        """Returns a function that acts on the SLS that is run, not on the one that defines it."""

        def act(*args, **kwargs):
            return getattr(self.stack[-1], method)(*args, **kwargs)

        return act


def run(text, name, saltenv, file, all_):
    """Runs an SLS, and returns its module."""
    if name in all_.modules:
        return all_.modules[name]
    module = all_.modules[name] = types.ModuleType(name or "pydsl")

    def load(other, env):
        return run_included(other, env, all_)

    sls = Sls(name, saltenv, load)
    module.__dict__.update(
        __pydsl__=sls, include=all_.top("include"), extend=all_.top("extend"), state=all_.top("state"),
        __salt__=__salt__, __grains__=__grains__, __opts__=__opts__, __pillar__=__pillar__,
        __env__=saltenv, __sls__=name, __file__=file,
    )
    module.__dict__.update(all_.variables)
    import linecache

    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    all_.stack.append(sls)
    try:
        exec(compile(text, file, "exec"), module.__dict__)
    finally:
        all_.stack.pop()
    return module


def run_included(name, saltenv, all_):
    """Returns the module of an SLS of the tree; None where it is not in pydsl."""
    if name in all_.modules:
        return all_.modules[name]
    for path in (name.replace(".", "/") + ".sls", name.replace(".", "/") + "/init.sls"):
        file = __salt__["cp.cache_file"]("salt://" + path, saltenv=saltenv)
        if not file:
            continue
        with open(file, encoding="utf-8") as source:
            text = source.read()
        first = text.split("\n", 1)[0]
        if not first.startswith("#!"):
            first = "#!" + str(__opts__.get("renderer", ""))
        return run(text, name, saltenv, file, all_) if first[2:].strip() == "pydsl" else None
    return None


def render(template, saltenv="base", sls="", tmplpath=None, context=None, **kwargs):
    module = run(template.read(), sls, saltenv, tmplpath or sls, Run(context or {}))
    return module.__pydsl__.data(tmplpath or sls)
