"""Hashes."""
import base64
import hashlib
import hmac
import os
import random as _random


def get_hash(path, form="sha256", chunk_size=65536):
    digest = hashlib.new(form)
    with open(path, "rb") as handle:
        for chunk in iter(lambda: handle.read(chunk_size), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _digest(form, text):
    return hashlib.new(form, text.encode("utf-8") if isinstance(text, str) else text).hexdigest()


def md5_digest(text):
    return _digest("md5", text)


def sha1_digest(text):
    return _digest("sha1", text)


def sha256_digest(text):
    return _digest("sha256", text)


def sha512_digest(text):
    return _digest("sha512", text)


def base64_b64encode(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def base64_b64decode(text):
    raw = base64.b64decode(text)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


base64_encodestring, base64_decodestring = base64_b64encode, base64_b64decode


def hmac_signature(text, shared_secret, challenge_hmac):
    made = hmac.new(shared_secret.encode(), text.encode(), hashlib.sha256).digest()
    return base64.b64encode(made) == challenge_hmac.encode()


def random_hash(size=9999999999, hash_type=None):
    return hashlib.new(hash_type or "md5", str(_random.SystemRandom().randint(0, size)).encode()).hexdigest()
