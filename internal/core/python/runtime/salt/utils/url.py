"""Addresses of files."""
from urllib.parse import urlparse, urlsplit  # noqa: F401


def create(path, saltenv=None):
    return "salt://" + path.lstrip("/") + ("?saltenv=" + saltenv if saltenv else "")


def parse(url):
    if not url.startswith("salt://"):
        return url, None
    path, _, query = url[len("salt://"):].partition("?")
    env = query[len("saltenv="):] if query.startswith("saltenv=") else None
    return path, env


def validate(url, protos):
    return urlsplit(url).scheme in protos


def redact_http_basic_auth(output):
    import re

    return re.sub(r"(https?)://.*?@", r"\1://<redacted>@", output)


def add_http_basic_auth(url, user=None, password=None, https_only=False):
    from urllib.parse import quote, urlunsplit

    if not user:
        return url
    parts = urlsplit(url)
    auth = quote(user) + (":" + quote(password) if password else "")
    return urlunsplit(parts._replace(netloc=auth + "@" + parts.netloc))
