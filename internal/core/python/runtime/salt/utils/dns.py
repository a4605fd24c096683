"""DNS."""
import ipaddress
import socket


def parse_resolv(src="/etc/resolv.conf"):
    """Returns what resolv.conf says; {} where it cannot be read."""
    servers, search, sortlist, options, domain = [], [], [], [], ""
    try:
        with open(src, encoding="utf-8") as handle:
            lines = handle.read().splitlines()
    except OSError:
        return {}
    for line in lines:
        words = line.split("#", 1)[0].split(";", 1)[0].split()
        if not words:
            continue
        directive, rest = words[0].lower(), words[1:]
        if directive == "nameserver" and rest:
            try:
                address = ipaddress.ip_address(rest[0])
            except ValueError:
                continue
            if address not in servers:
                servers.append(address)
        elif directive == "domain" and rest:
            domain = rest[0]
        elif directive == "search":
            search = rest
        elif directive == "sortlist":
            sortlist = rest
        elif directive == "options":
            options.extend(item for item in rest if item not in options)
    if not domain and not search:
        domain = socket.getfqdn().partition(".")[2]
    return {
        "nameservers": servers, "ip4_nameservers": [item for item in servers if item.version == 4], "ip6_nameservers": [item for item in servers if item.version == 6],
        "sortlist": sortlist, "domain": domain, "search": search, "options": options,
    }


def host(name, ip4=True, ip6=True, **kwargs):
    """Returns the addresses of a host: {"ip4": [...], "ip6": [...]}."""
    out = {}
    for wanted, key, family in ((ip4, "ip4", socket.AF_INET), (ip6, "ip6", socket.AF_INET6)):
        if wanted:
            try:
                out[key] = sorted({item[4][0] for item in socket.getaddrinfo(name, None, family)})
            except OSError:
                continue
    return out


def lookup(name, rdtype="A", method=None, servers=None, timeout=None, walk=False, walk_tld=False, secure=None, **kwargs):
    """Returns the addresses of a name, as the machine resolves it; other records it does not know."""
    if rdtype not in ("A", "AAAA"):
        raise ValueError("only records of type A and AAAA can be looked up, not {}".format(rdtype))
    return host(name, rdtype == "A", rdtype == "AAAA").get("ip4" if rdtype == "A" else "ip6", [])


query = lookup
