package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// sanitize drops what cannot be in a name or address, as Salt's sanitize_host.
func sanitize(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:", r) {
			return r
		}
		return -1
	}, s)
}

type pingArgs struct {
	hostArg
	Timeout       value.Value `arg:"timeout,int|float" default:"False" unit:"s" doc:"how long to wait for a reply"`
	ReturnBoolean bool        `arg:"return_boolean" default:"False" doc:"return True or False"`
}

func ping(ctx context.Context, c *fun.Call, a *pingArgs) (fun.Result, error) {
	argv := []string{"ping"}
	if t := a.Timeout; value.Truth(t) {
		argv = append(argv, "-W", value.Str(t))
	}
	target := sanitize(a.Host)
	if target == "" || strings.HasPrefix(target, "-") {
		return fun.Result{}, fun.Errorf("invalid host %q", a.Host)
	}
	out, err := tool.Merged(ctx, c.Env.Host, append(argv, "-c", "4", target)...)
	if err != nil {
		return fun.Result{}, err
	}
	if a.ReturnBoolean {
		return fun.Value(out.Status == 0)
	}
	return out.Result(), nil
}

type connectArgs struct {
	hostArg
	Port    value.Value   `arg:"port,int" doc:"the port"`
	Proto   string        `arg:"proto,kw" default:"tcp" oneof:"tcp|udp" doc:"udp is not supported"`
	Timeout time.Duration `arg:"timeout,kw" default:"5" unit:"s" doc:"how long to wait for an answer"`
	Family  string        `arg:"family,kw" oneof:"ipv4|ipv6" doc:"kind of addresses of the host to use; default: the first address"`
	_       fun.Kwargs
}

// connect opens a TCP connection and closes it.
// Salt: salt/modules/network.py connect. Difference: UDP is not tried.
func connect(ctx context.Context, c *fun.Call, a *connectArgs) (fun.Result, error) {
	answer := func(ok bool, format string, args ...any) (fun.Result, error) {
		r := fun.Result{Value: value.MapOf("result", ok, "comment", fmt.Sprintf(format, args...))}
		return r, nil
	}
	name := a.Host
	if name == "" {
		return answer(false, "Required argument, host, is missing.")
	}
	if !value.Truth(a.Port) {
		return answer(false, "Required argument, port, is missing.")
	}
	if a.Proto == "udp" {
		return fun.Result{}, fun.Errorf("proto udp is not supported: an answer could not be told from silence")
	}
	wait := 5 * time.Second
	if a.Timeout > 0 {
		wait = a.Timeout
	}
	port := int(fun.IntOf(a.Port))
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	address := name
	if _, err := netip.ParseAddr(name); err != nil {
		ips, err := c.Env.Host.LookupIP(ctx, sanitize(name))
		if a.Family != "" {
			ips = slices.DeleteFunc(ips, func(ip net.IP) bool { return (ip.To4() != nil) != (a.Family == "ipv4") })
		}
		if err != nil || len(ips) == 0 {
			return answer(false, "Unable to resolve host %s on tcp port %d", name, port)
		}
		address = ips[0].String()
	}
	if err := c.Env.Host.Connect(ctx, address, port); err != nil {
		return answer(false, "Unable to connect to %s (%s) on tcp port %d", name, address, port)
	}
	return answer(true, "Successfully connected to %s (%s) on tcp port %d", name, address, port)
}

// ipHexArgs are the arguments of ipHex and getRoute.
type ipHexArgs struct {
	_  fun.Arguments
	IP string `arg:"ip,required" doc:"the address"`
}

func ipHex(_ context.Context, c *fun.Call, a *ipHexArgs) (fun.Result, error) {
	var b strings.Builder
	for part := range strings.SplitSeq(a.IP, ".") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fun.Result{}, value.Raise("ValueError", "invalid literal for int() with base 10: %s", value.Repr(part))
		}
		fmt.Fprintf(&b, "%02X", n)
	}
	return fun.Value(b.String())
}

type ifaceStartsWithArgs struct {
	_    fun.Arguments
	Cidr string `arg:"cidr,required" doc:"the start of the address"`
}

func ifaceStartsWith(_ context.Context, c *fun.Call, args *ifaceStartsWithArgs) (fun.Result, error) {
	all, err := grains.Interfaces(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewList()
	for name, v := range all.All() {
		m, _ := v.(*value.Map)
		l := m.List("inet")
		if l == nil {
			continue
		}
		for _, x := range l.Items {
			a, _ := x.(*value.Map)
			if !strings.HasPrefix(a.Str("address"), args.Cidr) {
				continue
			}
			if label := a.Str("label"); label != "" {
				out.Append(label)
			} else {
				out.Append(name)
			}
		}
	}
	return fun.Value(out)
}
