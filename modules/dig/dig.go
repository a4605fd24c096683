// Package dig is Salt's execution module "dig": questions to name servers by dig(1).
package dig

import (
	"context"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "dig".
func Module() fun.Module {
	return fun.Module{Name: "dig", Kind: fun.Exec, Doc: "Questions to name servers.", Avail: tool.Needs("dig", "The dig execution module cannot be loaded: the dig binary is not in the path."), Specs: specs}
}

type hostArg struct {
	_    fun.Arguments
	Host string `arg:"host,required" doc:"the name"`
}

type domainArg struct {
	_      fun.Arguments
	Domain string `arg:"domain,required" doc:"the domain"`
}

type serverArg struct {
	_          fun.Arguments
	Nameserver string `arg:"nameserver" doc:"the server to ask; None is the system's"`
}

// specs are the functions, alphabetically. Each has Salt's names in capitals and in
// small letters.
var specs = []fun.Spec{
	{Name: "A", Doc: "Return the IPv4 addresses of a host.", Src: "modules/dig.py A", Do: addresses},
	{Name: "AAAA", Doc: "Return the IPv6 addresses of a host.", Src: "modules/dig.py AAAA", Do: addresses},
	{Name: "CNAME", Doc: "Return the name that a name is an alias of.", Src: "modules/dig.py CNAME", Do: cname},
	{Name: "MX", Doc: "Return the mail servers of a domain.", Src: "modules/dig.py MX", Do: mx},
	{Name: "NS", Doc: "Return the name servers of a domain.", Src: "modules/dig.py NS", Do: ns},
	{Name: "PTR", Doc: "Return the names of an address.", Src: "modules/dig.py PTR", Do: ptr},
	{Name: "SPF", Doc: "Return the addresses that may send mail of a domain.", Src: "modules/dig.py SPF", Do: spf},
	{Name: "TXT", Doc: "Return the texts of a name.", Src: "modules/dig.py TXT", Do: txt},
	{Name: "a", Doc: "Return the IPv4 addresses of a host.", Src: "modules/dig.py A", Do: addresses},
	{Name: "aaaa", Doc: "Return the IPv6 addresses of a host.", Src: "modules/dig.py AAAA", Do: addresses},
	{Name: "check_ip", Doc: "Return whether text is an address.", Src: "modules/dig.py check_ip", Do: checkIP},
	{Name: "cname", Doc: "Return the name that a name is an alias of.", Src: "modules/dig.py CNAME", Do: cname},
	{Name: "mx", Doc: "Return the mail servers of a domain.", Src: "modules/dig.py MX", Do: mx},
	{Name: "ns", Doc: "Return the name servers of a domain.", Src: "modules/dig.py NS", Do: ns},
	{Name: "ptr", Doc: "Return the names of an address.", Src: "modules/dig.py PTR", Do: ptr},
	{Name: "spf", Doc: "Return the addresses that may send mail of a domain.", Src: "modules/dig.py SPF", Do: spf},
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

type checkIPArgs struct {
	_    fun.Arguments
	Addr value.Value `arg:"addr,required" doc:"the text"`
}

func checkIP(_ context.Context, c *fun.Call, a *checkIPArgs) (fun.Result, error) {
	s, ok := a.Addr.(string)
	return fun.Value(ok && isIP(s))
}

// ask asks for the records of a type, or with "-x" for those of an address, and
// returns the lines of the answer. A server that does not answer gives none.
func ask(ctx context.Context, c *fun.Call, a *serverArg, typ, name string) ([]string, error) {
	for _, s := range []string{name, a.Nameserver} {
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "@") || strings.ContainsAny(s, " \t\r\n") {
			return nil, fun.Errorf("invalid name %s", value.Repr(s))
		}
	}
	argv := []string{"dig", "+short", name, typ}
	if typ == "-x" {
		argv = []string{"dig", "+short", "-x", name}
	}
	if s := a.Nameserver; s != "" {
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
func lookup(ctx context.Context, c *fun.Call, a *serverArg, typ, name string) ([]string, error) {
	lines, err := ask(ctx, c, a, typ, name)
	var out []string
	for _, line := range lines {
		if isIP(line) {
			out = append(out, line)
		}
	}
	return out, err
}

// addressesArgs are the arguments of addresses, ptr, txt and cname.
type addressesArgs struct {
	hostArg
	serverArg
}

func addresses(ctx context.Context, c *fun.Call, a *addressesArgs) (fun.Result, error) {
	return machine.Strings(lookup(ctx, c, &a.serverArg, strings.ToUpper(c.Spec.Name), a.Host))
}

func ptr(ctx context.Context, c *fun.Call, a *addressesArgs) (fun.Result, error) {
	return machine.Strings(ask(ctx, c, &a.serverArg, "-x", a.Host))
}

func txt(ctx context.Context, c *fun.Call, a *addressesArgs) (fun.Result, error) {
	return machine.Strings(ask(ctx, c, &a.serverArg, "TXT", a.Host))
}

func cname(ctx context.Context, c *fun.Call, a *addressesArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, &a.serverArg, "CNAME", a.Host)
	return fun.Result{Value: strings.Join(lines, "\n")}, err
}

type nsArgs struct {
	domainArg
	Resolve bool `arg:"resolve" default:"True" doc:"return addresses, not names"`
	serverArg
}

func ns(ctx context.Context, c *fun.Call, a *nsArgs) (fun.Result, error) {
	names, err := ask(ctx, c, &a.serverArg, "NS", a.Domain)
	if err != nil || !a.Resolve {
		return machine.Strings(names, err)
	}
	var out []string
	for _, name := range names {
		ips, err := lookup(ctx, c, &a.serverArg, "A", name)
		if err != nil {
			return fun.Result{}, err
		}
		out = append(out, ips...)
	}
	return machine.Strings(out, nil)
}

type mxArgs struct {
	domainArg
	Resolve bool `arg:"resolve" default:"False" doc:"return addresses, not names"`
	serverArg
}

// mx returns pairs of priority and name. Salt: salt/modules/dig.py MX. Difference: a
// name without an address is left out where addresses are asked for.
func mx(ctx context.Context, c *fun.Call, a *mxArgs) (fun.Result, error) {
	lines, err := ask(ctx, c, &a.serverArg, "MX", a.Domain)
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) == 2 && a.Resolve {
			ips, err := lookup(ctx, c, &a.serverArg, "A", f[1])
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

type spfArgs struct {
	domainArg
	Record string `arg:"record" default:"SPF" oneof:"SPF|TXT" doc:"type of the record"`
	serverArg
}

// spf returns the addresses. Salt: salt/modules/dig.py SPF.
func spf(ctx context.Context, c *fun.Call, a *spfArgs) (fun.Result, error) {
	var out []string
	asked := 0
	var walk func(domain, record string) error
	walk = func(domain, record string) error {
		if asked++; asked > maxSPF {
			return fun.Errorf("the SPF records of %s lead to more than %d others", a.Domain, maxSPF)
		}
		lines, err := ask(ctx, c, &a.serverArg, record, domain)
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
	err := walk(a.Domain, a.Record)
	return machine.Strings(out, err)
}
