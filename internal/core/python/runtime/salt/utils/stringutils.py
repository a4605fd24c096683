"""Text."""
import fnmatch
import re
import textwrap


def to_unicode(value, encoding="utf-8", errors="strict", normalize=False):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(encoding if isinstance(encoding, str) and encoding else "utf-8", errors)
    return value


to_str = to_unicode


def to_bytes(value, encoding="utf-8", errors="strict"):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode(encoding or "utf-8", errors)
    raise TypeError("expected str, bytes, or bytearray")


def to_num(text):
    """Returns text as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except (ValueError, TypeError):
            continue
    return text


str_to_num = to_num


def to_none(text):
    return None if str(text).strip().lower() in ("none", "") else text


def is_quoted(value):
    if isinstance(value, str) and value and value[0] == value[-1] and value[0] in "\"'":
        return value[0]
    return ""


def dequote(value):
    return value[1:-1] if is_quoted(value) else value


def is_hex(value):
    try:
        int(value, 16)
        return True
    except (TypeError, ValueError):
        return False


def is_binary(data):
    if not data or not isinstance(data, (str, bytes)):
        return False
    return ("\0" if isinstance(data, str) else b"\0") in data


def random(size=32):
    import os

    return os.urandom(size)[:size]


def contains_whitespace(text):
    return any(char.isspace() for char in text)


def human_to_bytes(size, default_unit="B", handle_metric=False):
    """Returns 10M or 4GB in bytes."""
    match = re.match(r"(?i)^\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgtpezy]?)(i?b?)?\s*$", str(size))
    if not match:
        return 0
    number, unit, tail = match.groups()
    unit = (unit or default_unit[:1]).lower()
    base = 1000 if handle_metric and tail and tail.lower() == "b" else 1024
    return int(float(number) * base ** " kmgtpezy".index(unit if unit in "kmgtpezy" and unit else " "))


def build_whitespace_split_regex(text):
    return r"(?m)^" + r"\s+".join(re.escape(word) for word in text.split()) + r"$"


def expr_match(line, expr):
    if line == expr or fnmatch.fnmatch(line, expr):
        return True
    try:
        return bool(re.match(r"\A{}\Z".format(expr), line))
    except re.error:
        return False


def check_whitelist_blacklist(value, whitelist=None, blacklist=None):
    def listed(items):
        return any(expr_match(value, expr) for expr in ([items] if isinstance(items, str) else items))

    if blacklist and listed(blacklist):
        return False
    return listed(whitelist) if whitelist else True


def get_context(template, line, num_lines=5, marker=None):
    lines = template.splitlines()
    return "\n".join(lines[max(0, line - num_lines):line + num_lines])


def get_diff(before, after, *args, **kwargs):
    import difflib

    return "".join(difflib.unified_diff(to_str(before).splitlines(True), to_str(after).splitlines(True), *args, **kwargs))


def camel_to_snake_case(text):
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", text)).lower()


def snake_to_camel_case(text, uppercamel=False):
    words = text.split("_")
    return "".join(word.title() if index or uppercamel else word for index, word in enumerate(words))


def wrap(text, **kwargs):
    return textwrap.fill(text, **kwargs)


def human_to_bytes(size, default_unit="B", handle_metric=False):
    """Returns how many bytes a size such as "4M" is; 0 where it is none."""
    found = re.match(r"^\s*(\d*\.?\d+)\s*([a-zA-Z]*)\s*$", str(size))
    if not found:
        return 0
    unit = (found.group(2) or default_unit).upper()
    base = 1000 if handle_metric and unit.endswith("B") and not unit.endswith("IB") else 1024
    power = "BKMGTPEZY".find(unit[0])
    return int(float(found.group(1)) * base ** power) if power >= 0 else 0


human_size_to_bytes = human_to_bytes
