"""A client that needs a library which is not there."""
try:
    import library_that_nobody_has as lib

    HAS_LIB = True
except ImportError:
    HAS_LIB = False


def __virtual__():
    if not HAS_LIB:
        return (False, "The apiclient module cannot be loaded: library_that_nobody_has is missing")
    return "api"


def get(path):
    return lib.get(path)
