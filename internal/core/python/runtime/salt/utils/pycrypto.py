"""Passwords."""
import secrets
import string

from salt import _brine

HAS_RANDOM = HAS_CRYPT = True


def secure_password(length=20, use_random=True, chars=None, lowercase=True, uppercase=True, digits=True, punctuation=True, whitespace=False, printable=False):
    """Returns a random password."""
    if chars is None:
        chars = "".join(part for wanted, part in (
            (lowercase, string.ascii_lowercase), (uppercase, string.ascii_uppercase), (digits, string.digits), (punctuation, string.punctuation),
            (whitespace, string.whitespace), (printable, string.printable)) if wanted)
    return "".join(secrets.choice(chars) for _ in range(length))


def gen_hash(crypt_salt=None, password=None, algorithm=None):
    """Returns the hash of a password, as shadow has it."""
    return _brine.call("shadow.gen_password", password or secure_password(), crypt_salt=crypt_salt, algorithm=algorithm or "sha512")
