package network

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/grains"
	"brine/internal/host"
	"brine/internal/value"
)

// probeSpecs are the rows that ask other machines, and a few about addresses.
func probeSpecs() []fun.Spec {
	row := func(name, doc string, fn fun.ExecFn, args ...fun.Arg) fun.Spec {
		return fun.Spec{Name: name, Doc: doc, Src: "modules/network.py " + name, Args: args, Fn: fn}
	}
	need := func(name, doc string) fun.Arg { return fun.Arg{Name: name, Type: fun.Str, Required: true, Doc: doc} }
	hostArg := need("host", "name or address")
	connectRow := row("connect", "Try a TCP connection; return result and comment.", connect, hostArg, fun.Arg{Name: "port", Doc: "the port"})
	connectRow.VarKw = true
	return []fun.Spec{
		connectRow,
		row("ifacestartswith", "Return the names of the interfaces with an IPv4 address that begins so.", ifaceStartsWith, need("cidr", "the beginning of the address")),
		row("iphexval", "Return the hexadecimal digits of an IPv4 address.", ipHex, need("ip", "the address")),
		row("ping", "Run ping(1) four times; return its output, or with return_boolean whether an answer came.", ping, hostArg,
			fun.Arg{Name: "timeout", Default: false, Unit: "s", Doc: "how long to wait for an answer"},
			fun.Arg{Name: "return_boolean", Type: fun.Bool, Default: false, Doc: "return True or False"}),
	}
}

// sanitize drops what cannot be in a name or address, as Salt's sanitize_host.
func sanitize(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:", r) {
			return r
		}
		return -1
	}, s)
}

func ping(ctx context.Context, c *fun.Call) (fun.Result, error) {
	argv := []string{"ping"}
	if t := c.Value("timeout"); value.Truth(t) {
		argv = append(argv, "-W", value.Str(t))
	}
	target := sanitize(c.Str("host"))
	if target == "" || strings.HasPrefix(target, "-") {
		return fun.Result{}, fun.Errorf("%q is no host", c.Str("host"))
	}
	out, err := c.Env.Host.Run(ctx, host.Cmd{Argv: append(argv, "-c", "4", target), Merge: true})
	if err != nil {
		return fun.Result{}, fun.Errorf("Unable to run ping: %s", host.Strerror(err))
	}
	if c.Bool("return_boolean") {
		return fun.Value(out.Status == 0)
	}
	return fun.Result{Value: strings.TrimRight(value.DecodeReplace(out.Stdout), "\n"), Retcode: out.Status}, ctx.Err()
}

// connect opens a TCP connection and closes it.
// Salt: salt/modules/network.py connect. Difference: UDP is not tried.
func connect(ctx context.Context, c *fun.Call) (fun.Result, error) {
	answer := func(ok bool, format string, args ...any) (fun.Result, error) {
		r := fun.Result{Value: value.MapOf("result", ok, "comment", fmt.Sprintf(format, args...))}
		return r, nil
	}
	name := c.Str("host")
	if name == "" {
		return answer(false, "Required argument, host, is missing.")
	}
	if !value.Truth(c.Value("port")) {
		return answer(false, "Required argument, port, is missing.")
	}
	if p := c.Kw.Str("proto"); p == "udp" {
		return fun.Result{}, fun.Errorf("proto udp is not there: an answer could not be told from silence")
	}
	wait := 5 * time.Second
	if t, err := strconv.ParseFloat(value.Str(c.Kw.At("timeout")), 64); err == nil && t > 0 {
		wait = time.Duration(t * float64(time.Second))
	}
	port, err := strconv.Atoi(value.Str(c.Value("port")))
	if err != nil {
		return fun.Result{}, fun.Errorf("port: %q is no number", value.Str(c.Value("port")))
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	address := name
	if _, err := netip.ParseAddr(name); err != nil {
		ips, err := c.Env.Host.LookupIP(ctx, sanitize(name))
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

func ipHex(_ context.Context, c *fun.Call) (fun.Result, error) {
	var b strings.Builder
	for _, part := range strings.Split(c.Str("ip"), ".") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fun.Result{}, value.Raise("ValueError", "invalid literal for int() with base 10: %s", value.Repr(part))
		}
		fmt.Fprintf(&b, "%02X", n)
	}
	return fun.Value(b.String())
}

func ifaceStartsWith(_ context.Context, c *fun.Call) (fun.Result, error) {
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
			if !strings.HasPrefix(a.Str("address"), c.Str("cidr")) {
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
