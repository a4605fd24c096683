"""The outputter newline_values_only."""
import salt.output


def output(data, **kwargs):
    return salt.output.out_format(data, "newline_values_only")
