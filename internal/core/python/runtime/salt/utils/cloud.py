"""Addresses."""
import ipaddress


def is_public_ip(ip):
    """Reports whether an address is not of a private network."""
    return not ipaddress.ip_address(str(ip)).is_private


def salt_config_to_yaml(configuration, line_break="\n"):
    from salt.utils import yaml

    return yaml.safe_dump(configuration, line_break=line_break, default_flow_style=False)
