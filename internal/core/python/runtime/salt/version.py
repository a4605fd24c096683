"""The version of Salt whose behaviour brine follows."""
__version__ = "3006.0"
__version_info__ = (3006, 0)
__saltstack_version__ = __version__
