"""Modules that find their attributes when they are asked for."""
import sys


def dynamic(name, find):
    """Lets a module find attributes by a function, as of Python 3.7 by __getattr__."""
    module = sys.modules[name]
    if sys.version_info >= (3, 7):
        module.__getattr__ = find
        return
    module.__class__ = type("Dynamic", (type(sys),), {"__getattr__": staticmethod(find)})
