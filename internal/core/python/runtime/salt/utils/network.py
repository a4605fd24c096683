"""The network, as brine sees it."""
import ipaddress
import random
import socket

from salt import _brine


def interfaces():
    return _brine.call("network.interfaces")


def ip_addrs(interface=None, include_loopback=False, interface_data=None):
    return _brine.call("network.ip_addrs", interface=interface, include_loopback=include_loopback)


def ip_addrs6(interface=None, include_loopback=False, interface_data=None):
    return _brine.call("network.ip_addrs6", interface=interface, include_loopback=include_loopback)


def subnets(interfaces=None):
    return _brine.call("network.subnets", interfaces=interfaces)


def get_fqhostname():
    return socket.getfqdn()


def get_hostname():
    return socket.gethostname()


def host_to_ips(host):
    try:
        return sorted({item[4][0] for item in socket.getaddrinfo(host, None)})
    except OSError:
        return None


def is_ip(value):
    return is_ipv4(value) or is_ipv6(value)


def _parses(value, family):
    try:
        socket.inet_pton(family, str(value))
        return True
    except OSError:
        return False


def is_ipv4(value):
    return _parses(value, socket.AF_INET)


def is_ipv6(value):
    return _parses(value, socket.AF_INET6)


def is_reachable_host(name):
    return host_to_ips(name) is not None


def hwaddr(iface):
    return interfaces().get(iface, {}).get("hwaddr")


def in_subnet(cidr, addr=None):
    return _brine.call("network.in_subnet", cidr, addr)


def calc_net(ip_addr, netmask=None):
    return _brine.call("network.calc_net", ip_addr, netmask)


def calculate_subnet(ip_addr, netmask):
    return calc_net(ip_addr, netmask)


def _get_interfaces():
    return interfaces()


def _clear_interfaces():
    """Does nothing: interfaces are read when they are asked for."""


def is_private(ip_addr):
    return ipaddress.ip_address(ip_addr).is_private


def is_loopback(ip_addr):
    return ipaddress.ip_address(ip_addr).is_loopback


def gen_mac(prefix="AC:DE:48"):
    """Returns a random MAC address."""
    return "{}:{:02X}:{:02X}:{:02X}".format(prefix, *(random.randint(0, 255) for _ in range(3)))


def default_gateways():
    grains = _brine.grains()
    return {key: grains[key] for key in ("ip_gw", "ip4_gw", "ip6_gw") if key in grains}
