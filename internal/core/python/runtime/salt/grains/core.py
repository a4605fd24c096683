"""The grains of the machine: each function returns those of its kind."""
from salt import _brine

__opts__ = {}  # which modules set before they call a function


def os_data():
    return dict(_brine.grains())


def _some(*names):
    grains = _brine.grains()
    return {name: grains[name] for name in names if name in grains}


def id_():
    return _some("id")


def hostname():
    return _some("localhost", "fqdn", "host", "domain")


def ip4():
    return _some("ipv4", "fqdn_ip4")


def ip6():
    return _some("ipv6", "fqdn_ip6")


def ip_interfaces():
    return _some("ip_interfaces")


def ip4_interfaces():
    return _some("ip4_interfaces")


def ip6_interfaces():
    return _some("ip6_interfaces")


def hwaddr_interfaces():
    return _some("hwaddr_interfaces")


def locale_info():
    return _some("locale_info")


def dns():
    return _some("dns")


def get_machine_id():
    return _some("machine_id")


def get_server_id():
    return _some("server_id")


def get_master():
    return _some("master")


def default_gateway():
    return _some("ip_gw", "ip4_gw", "ip6_gw")


def path():
    return _some("path", "systempath")


def fqdns():
    return _some("fqdns")
