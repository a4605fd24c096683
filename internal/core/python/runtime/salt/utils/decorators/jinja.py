"""Decorators of templates; brine's templates do not see what they mark."""


class _Mark:
    def __init__(self, name=None):
        self.name = name

    def __call__(self, function):
        return function


class JinjaFilter(_Mark):
    """Marks a filter."""

    salt_jinja_filters = {}


class JinjaTest(_Mark):
    """Marks a test."""

    salt_jinja_tests = {}


class JinjaGlobal(_Mark):
    """Marks a global."""

    salt_jinja_globals = {}


jinja_filter, jinja_test, jinja_global = JinjaFilter, JinjaTest, JinjaGlobal
