"""Checks of addresses."""
import re

from salt.utils.network import is_ipv4, is_ipv6


def mac(addr):
    return bool(re.match(r"^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{2}){6}$", addr))


def _cidr(addr, check, limit):
    ip, _, bits = addr.partition("/")
    return check(ip) and (not bits or bits.isdigit() and int(bits) <= limit)


def ipv4_addr(addr):
    return _cidr(addr, is_ipv4, 32)


def ipv6_addr(addr):
    return _cidr(addr, is_ipv6, 128)


def ip_addr(addr):
    return ipv4_addr(addr) or ipv6_addr(addr)


def netmask(mask):
    return is_ipv4(mask) and "01" not in "".join("{:08b}".format(int(part)) for part in mask.split("."))
