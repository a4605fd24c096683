"""Contexts."""
import contextlib


@contextlib.contextmanager
def func_globals_inject(func, **overrides):
    """Gives a function other globals for a while."""
    space = func.__globals__
    saved = {key: space[key] for key in overrides if key in space}
    space.update(overrides)
    try:
        yield
    finally:
        for key in overrides:
            if key in saved:
                space[key] = saved[key]
            else:
                space.pop(key, None)
