"""Defaults."""


class _Constant:
    """A value that is equal to itself only."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "<Constant.{}>".format(self.name)


NOT_SET = _Constant("NOT_SET")
DEFAULT_TARGET_DELIM = ":"
