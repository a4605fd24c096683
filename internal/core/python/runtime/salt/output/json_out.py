"""The outputter json."""
import salt.output


def output(data, **kwargs):
    return salt.output.out_format(data, "json")
