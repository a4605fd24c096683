"""What system this is."""
import sys


def is_linux():
    return sys.platform.startswith("linux")


def is_darwin():
    return sys.platform == "darwin"


def is_freebsd():
    return sys.platform.startswith("freebsd")


def is_openbsd():
    return sys.platform.startswith("openbsd")


def is_netbsd():
    return sys.platform.startswith("netbsd")


def is_windows():
    return False


def is_sunos():
    return False


def is_smartos():
    return False


def is_smartos_globalzone():
    return False


def is_smartos_zone():
    return False


def is_aix():
    return False


def is_junos():
    return False


def is_proxy():
    return False


def is_fedora():
    try:
        with open("/etc/os-release") as handle:
            return any(line.strip() == "ID=fedora" for line in handle)
    except OSError:
        return False


def is_photonos():
    return False
