"""The outputter txt."""
import salt.output


def output(data, **kwargs):
    return salt.output.out_format(data, "txt")
