"""Formats of data."""


class SerializationError(Exception):
    """Data cannot be written in a format."""


class DeserializationError(Exception):
    """A text is not of a format."""
