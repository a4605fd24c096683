"""Data as brine's outputters show them."""
import re
import sys

from salt import _brine


def _plain(opts):
    """Returns options for an outputter that the caller named."""
    return {key: opts[key] for key in ("output", "state_output", "state_verbose", "color") if key in opts} if opts else {}


def out_format(data, out="nested", opts=None, **kwargs):
    return _brine.call("out.out_format", data, out, opts=_plain(opts))


def string_format(data, out="nested", opts=None, **kwargs):
    return strip_esc_sequence(_brine.call("out.string_format", data, out, opts=_plain(opts)))


try_printout = out_format


def get_printout(out="nested", opts=None, **kwargs):
    return lambda data, **more: out_format(data, out or "nested")


def display_output(data, out="nested", opts=None, **kwargs):
    sys.stderr.write(out_format(data, out or "nested") + "\n")


def strip_esc_sequence(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text) if isinstance(text, str) else text
