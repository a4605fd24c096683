"""Decorators."""
import functools


def depends(*dependencies, **kwargs):
    """Keeps a function whose dependencies are there; others raise when called."""
    fallback = kwargs.get("fallback_function")

    def wrap(function):
        import importlib

        for name in dependencies:
            if name is True:
                continue
            try:
                if name is False:
                    raise ImportError
                if isinstance(name, str) and name not in function.__globals__:
                    importlib.import_module(name)
            except ImportError:
                if fallback is not None:
                    return fallback

                @functools.wraps(function)
                def missing(*args, **kw):
                    from salt.exceptions import CommandExecutionError

                    raise CommandExecutionError("{} needs {}".format(function.__name__, name))

                return missing
        return function

    return wrap


def memoize(function):
    """Keeps what a function returned for its arguments."""
    known = {}

    @functools.wraps(function)
    def call(*args, **kwargs):
        key = (repr(args), repr(sorted(kwargs.items())))
        if key not in known:
            known[key] = function(*args, **kwargs)
        return known[key]

    return call


def timing(function):
    return function


def ensure_unicode_args(function):
    return function


def identical_signature_wrapper(original, decorated):
    return functools.wraps(original)(decorated)


def ignores_kwargs(*names):
    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            return function(*args, **{key: val for key, val in kwargs.items() if key not in names})

        return call

    return wrap


def allow_one_of(*names):
    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            from salt.exceptions import SaltInvocationError

            given = [name for name in names if kwargs.get(name) is not None]
            if len(given) > 1:
                raise SaltInvocationError("Only one of the following is allowed: {}".format(", ".join(names)))
            return function(*args, **kwargs)

        return call

    return wrap


def is_deprecated(*args, **kwargs):
    return lambda function: function


with_deprecated = is_deprecated


class Depends:
    """The class behind depends."""

    def __new__(cls, *args, **kwargs):
        return depends(*args, **kwargs)
