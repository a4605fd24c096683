"""The outputter yaml."""
import salt.output


def output(data, **kwargs):
    return salt.output.out_format(data, "yaml")
