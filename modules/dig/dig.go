// Package dig is Salt's execution module "dig": questions to name servers by dig(1).
package dig

import (
	"context"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "dig".
func Module() fun.Module {
	return fun.Module{Name: "dig", Kind: fun.Exec, Doc: "Questions to name servers.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if !machine.Has(env.Host, "dig") {
		return false, "The dig execution module cannot be loaded: the dig binary is not in the path."
	}
	return true, ""
}

// Arguments that several functions have.
var (
	hostArg   = fun.Arg{Name: "host", Type: fun.Str, Required: true, Doc: "the name"}
	domainArg = fun.Arg{Name: "domain", Type: fun.Str, Required: true, Doc: "the domain"}
	serverArg = fun.Arg{Name: "nameserver", Type: fun.Str, Doc: "the server to ask; None is the system's"}
	nsArg     = fun.Arg{Name: "resolve", Type: fun.Bool, Default: true, Doc: "return addresses, not names"}
	mxArg     = fun.Arg{Name: "resolve", Type: fun.Bool, Default: false, Doc: "return addresses, not names"}
	recordArg = fun.Arg{Name: "record", Type: fun.Str, Default: "SPF", Doc: "type of the record", OneOf: []string{"SPF", "TXT"}}
)

// specs are the functions, alphabetically. Each has Salt's names in capitals and in
// small letters.
var specs = []fun.Spec{
	{Name: "A", Doc: "Return the IPv4 addresses of a host.", Src: "modules/dig.py A", Args: []fun.Arg{hostArg, serverArg}, Fn: addresses},
	{Name: "AAAA", Doc: "Return the IPv6 addresses of a host.", Src: "modules/dig.py AAAA", Args: []fun.Arg{hostArg, serverArg}, Fn: addresses},
	{Name: "CNAME", Doc: "Return the name that a name is an alias of.", Src: "modules/dig.py CNAME", Args: []fun.Arg{hostArg, serverArg}, Fn: cname},
	{Name: "MX", Doc: "Return the mail servers of a domain.", Src: "modules/dig.py MX", Args: []fun.Arg{domainArg, mxArg, serverArg}, Fn: mx},
	{Name: "NS", Doc: "Return the name servers of a domain.", Src: "modules/dig.py NS", Args: []fun.Arg{domainArg, nsArg, serverArg}, Fn: ns},
	{Name: "PTR", Doc: "Return the names of an address.", Src: "modules/dig.py PTR", Args: []fun.Arg{hostArg, serverArg}, Fn: ptr},
	{Name: "SPF", Doc: "Return the addresses that may send mail of a domain.", Src: "modules/dig.py SPF", Args: []fun.Arg{domainArg, recordArg, serverArg}, Fn: spf},
	{Name: "TXT", Doc: "Return the texts of a name.", Src: "modules/dig.py TXT", Args: []fun.Arg{hostArg, serverArg}, Fn: txt},
	{Name: "a", Doc: "Return the IPv4 addresses of a host.", Src: "modules/dig.py A", Args: []fun.Arg{hostArg, serverArg}, Fn: addresses},
	{Name: "aaaa", Doc: "Return the IPv6 addresses of a host.", Src: "modules/dig.py AAAA", Args: []fun.Arg{hostArg, serverArg}, Fn: addresses},
	{Name: "check_ip", Doc: "Return whether text is an address.", Src: "modules/dig.py check_ip", Args: []fun.Arg{{Name: "addr", Type: fun.Any, Required: true, Doc: "the text"}}, Fn: checkIP},
	{Name: "cname", Doc: "Return the name that a name is an alias of.", Src: "modules/dig.py CNAME", Args: []fun.Arg{hostArg, serverArg}, Fn: cname},
	{Name: "mx", Doc: "Return the mail servers of a domain.", Src: "modules/dig.py MX", Args: []fun.Arg{domainArg, mxArg, serverArg}, Fn: mx},
	{Name: "ns", Doc: "Return the name servers of a domain.", Src: "modules/dig.py NS", Args: []fun.Arg{domainArg, nsArg, serverArg}, Fn: ns},
	{Name: "ptr", Doc: "Return the names of an address.", Src: "modules/dig.py PTR", Args: []fun.Arg{hostArg, serverArg}, Fn: ptr},
	{Name: "spf", Doc: "Return the addresses that may send mail of a domain.", Src: "modules/dig.py SPF", Args: []fun.Arg{domainArg, recordArg, serverArg}, Fn: spf},
}

// isIP reports whether text is an address, with or without a prefix length.
func isIP(s string) bool {
	addr, bits, has := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil || a.Zone() != "" {
		return false
	}
	if !has {
		return true
	}
	n, err := strconv.Atoi(bits)
	return err == nil && (a.Is4() && n >= 1 && n <= 32 || a.Is6() && n >= 8 && n <= 128)
}

func checkIP(_ context.Context, c *fun.Call) (fun.Result, error) {
	s, ok := c.Value("addr").(string)
	return fun.Value(ok && isIP(s))
}

// ask asks for the records of a type, or with "-x" for those of an address, and
// returns the lines of the answer. A server that does not answer gives none.
func ask(ctx context.Context, c *fun.Call, typ, name string) ([]string, error) {
	for _, s := range []string{name, c.Str("nameserver")} {
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "@") || strings.ContainsAny(s, " \t\r\n") {
			return nil, fun.Errorf("invalid name %s", value.Repr(s))
		}
	}
	argv := []string{"dig", "+short", name, typ}
	if typ == "-x" {
		argv = []string{"dig", "+short", "-x", name}
	}
	if s := c.Str("nameserver"); s != "" {
		argv = append(argv, "@"+s)
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		c.Env.Log().Warn("dig failed", "status", out.Status, "error", out.Fault())
		return nil, nil
	}
	if out.Text() == "" {
		return nil, nil
	}
	return strings.Split(out.Text(), "\n"), nil
}

// lookup returns the addresses of a host.
func lookup(ctx context.Context, c *fun.Call, typ, name string) ([]string, error) {
	lines, err := ask(ctx, c, typ, name)
	var out []string
	for _, line := range lines {
		if isIP(line) {
			out = append(out, line)
		}
	}
	return out, err
}

func addresses(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Strings(lookup(ctx, c, strings.ToUpper(c.Spec.Name), c.Str("host")))
}

func ptr(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Strings(ask(ctx, c, "-x", c.Str("host")))
}

func txt(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return machine.Strings(ask(ctx, c, "TXT", c.Str("host")))
}

func cname(ctx context.Context, c *fun.Call) (fun.Result, error) {
	lines, err := ask(ctx, c, "CNAME", c.Str("host"))
	return fun.Result{Value: strings.Join(lines, "\n")}, err
}

func ns(ctx context.Context, c *fun.Call) (fun.Result, error) {
	names, err := ask(ctx, c, "NS", c.Str("domain"))
	if err != nil || !c.Bool("resolve") {
		return machine.Strings(names, err)
	}
	var out []string
	for _, name := range names {
		ips, err := lookup(ctx, c, "A", name)
		if err != nil {
			return fun.Result{}, err
		}
		out = append(out, ips...)
	}
	return machine.Strings(out, nil)
}

// mx returns pairs of priority and name. Salt: salt/modules/dig.py MX. Difference: a
// name without an address is left out where addresses are asked for.
func mx(ctx context.Context, c *fun.Call) (fun.Result, error) {
	lines, err := ask(ctx, c, "MX", c.Str("domain"))
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) == 2 && c.Bool("resolve") {
			ips, err := lookup(ctx, c, "A", f[1])
			if err != nil {
				return fun.Result{}, err
			}
			if len(ips) == 0 {
				continue
			}
			f[1] = ips[0]
		}
		l.Append(value.Strings(f...))
	}
	return fun.Value(l)
}

var spfPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\+|~)?(ip[46]|include):(.+)`) })

// maxSPF bounds how many records an answer may lead to: RFC 7208 allows ten.
const maxSPF = 20

// spf returns the addresses. Salt: salt/modules/dig.py SPF.
func spf(ctx context.Context, c *fun.Call) (fun.Result, error) {
	var out []string
	asked := 0
	var walk func(domain, record string) error
	walk = func(domain, record string) error {
		if asked++; asked > maxSPF {
			return fun.Errorf("the SPF records of %s lead to more than %d others", c.Str("domain"), maxSPF)
		}
		lines, err := ask(ctx, c, record, domain)
		if err != nil {
			return err
		}
		if len(lines) == 0 && record == "SPF" {
			return walk(domain, "TXT")
		}
		f := strings.Fields(strings.ReplaceAll(strings.Join(lines, "\n"), `"`, ""))
		if len(f) < 2 || f[0] != "v=spf1" {
			return nil
		}
		if other, ok := strings.CutPrefix(f[1], "redirect="); ok {
			return walk(other, "SPF")
		}
		for _, part := range f[1:] {
			m := spfPart().FindStringSubmatch(part)
			switch {
			case m == nil:
			case m[1] == "include":
				if err := walk(m[2], "SPF"); err != nil {
					return err
				}
			case isIP(m[2]):
				out = append(out, m[2])
			}
		}
		return nil
	}
	err := walk(c.Str("domain"), c.Str("record"))
	return machine.Strings(out, err)
}
