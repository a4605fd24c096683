"""Addresses."""
import ipaddress

import salt.utils.dns
import salt.utils.network
import salt.utils.validate.net


def check(address):
    """Say what an address is."""
    return {
        "ip": salt.utils.network.is_ip(address),
        "valid": salt.utils.validate.net.ipv4_addr(address),
        "private": ipaddress.ip_address(address).is_private,
        "net": salt.utils.network.calc_net(address, "255.255.255.0"),
    }


def resolver(path):
    return [str(item) for item in salt.utils.dns.parse_resolv(path).get("nameservers", [])]
