"""Packages of rpm."""
import platform

ARCHES_32 = ("i386", "i486", "i586", "i686")


def get_osarch():
    return platform.machine()


def check_32(arch, osarch=None):
    return arch in ARCHES_32 and (osarch or get_osarch()) in ARCHES_32


def resolve_name(name, arch, osarch=None):
    if arch in ("noarch", osarch or get_osarch()) or check_32(arch, osarch):
        return name
    return "{}.{}".format(name, arch)


def version_to_evr(verstring):
    """Splits a version: epoch, version, release."""
    if verstring in (None, ""):
        return "0", "", ""
    epoch, colon, rest = verstring.partition(":")
    if not colon:
        epoch, rest = "0", verstring
    version, _, release = rest.partition("-")
    return epoch, version, release
