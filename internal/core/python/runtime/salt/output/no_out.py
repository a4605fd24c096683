"""The outputter no_out."""
import salt.output


def output(data, **kwargs):
    return salt.output.out_format(data, "no_out")
