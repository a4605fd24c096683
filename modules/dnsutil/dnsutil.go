// Package dnsutil is Salt's execution module "dnsutil": files of hosts and zones, and
// questions to name servers.
package dnsutil

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "dnsutil".
func Module() fun.Module {
	return fun.Module{Name: "dnsutil", Kind: fun.Exec, Doc: "Files of hosts and zones, and questions to name servers.", Specs: specs}
}

type domainArg struct {
	_      fun.Arguments
	Domain string `arg:"domain,required" doc:"the domain"`
}

type fileArg struct {
	_         fun.Arguments
	Hostsfile string `arg:"hostsfile,path" default:"/etc/hosts" doc:"the file"`
}

type entriesArg struct {
	_       fun.Arguments
	Entries []string `arg:"entries,comma[str]" doc:"names, as a list or separated by commas"`
}

type serverArg struct {
	_          fun.Arguments
	Nameserver value.Value `arg:"nameserver,str" doc:"the server to ask; None is the system's"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "A", Doc: "Return the IPv4 addresses of a host.", Src: "modules/dnsutil.py A", Do: addresses},
	{Name: "AAAA", Doc: "Return the IPv6 addresses of a host.", Src: "modules/dnsutil.py AAAA", Do: addresses},
	{
		Name: "MX", Doc: "Return the mail servers of a domain, by dig(1).", Src: "modules/dnsutil.py MX", Do: mx,
	},
	{
		Name: "NS", Doc: "Return the name servers of a domain, by dig(1).", Src: "modules/dnsutil.py NS", Do: ns,
	},
	{
		Name: "SPF", Doc: "Return the addresses that may send mail of a domain, by dig(1).", Src: "modules/dnsutil.py SPF", Do: spf,
	},
	{Name: "check_ip", Doc: "Return whether text is an address.", Src: "modules/dnsutil.py check_ip", Do: checkIP},
	{
		Name: "hosts_append", Doc: "Add a line to a file of hosts; return what was done.", Src: "modules/dnsutil.py hosts_append", Do: hostsAppend,
	},
	{Name: "hosts_remove", Doc: "Remove names from a file of hosts.", Src: "modules/dnsutil.py hosts_remove", Do: hostsRemove},
	{Name: "parse_hosts", Doc: "Return the names in a file of hosts by address.", Src: "modules/dnsutil.py parse_hosts", Do: parseHosts},
	{
		Name: "parse_zone", Doc: "Return the records of a zone file.", Src: "modules/dnsutil.py parse_zone", Do: parseZone,
	},
	{
		Name: "serial", Doc: "Return the serial number for a zone, which the grain dnsserial_ZONE keeps.", Src: "modules/dnsutil.py serial", Do: serial,
	},
}

const noDig = "This function requires dig, which is not currently available"

// byDig calls the function of the same name of the module dig.
func byDig(ctx context.Context, c *fun.Call, pos ...value.Value) (fun.Result, error) {
	if !tool.Has(c.Env.Host, "dig") {
		return fun.Value(noDig)
	}
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "dig."+c.Spec.Name, fun.Args{Pos: pos})
}

type mxArgs struct {
	domainArg
	Resolve bool `arg:"resolve" default:"False" doc:"return addresses, not names"`
	serverArg
}

func mx(ctx context.Context, c *fun.Call, a *mxArgs) (fun.Result, error) {
	return byDig(ctx, c, a.Domain, a.Resolve, a.Nameserver)
}

type nsArgs struct {
	domainArg
	Resolve bool `arg:"resolve" default:"True" doc:"return addresses, not names"`
	serverArg
}

func ns(ctx context.Context, c *fun.Call, a *nsArgs) (fun.Result, error) {
	return byDig(ctx, c, a.Domain, a.Resolve, a.Nameserver)
}

type spfArgs struct {
	domainArg
	Record value.Value `arg:"record,str" default:"SPF" oneof:"SPF|TXT" doc:"type of the record"`
	serverArg
}

func spf(ctx context.Context, c *fun.Call, a *spfArgs) (fun.Result, error) {
	return byDig(ctx, c, a.Domain, a.Record, a.Nameserver)
}

type checkIPArgs struct {
	_      fun.Arguments
	IPAddr string `arg:"ip_addr,required" doc:"the text"`
}

func checkIP(ctx context.Context, c *fun.Call, a *checkIPArgs) (fun.Result, error) {
	return byDig(ctx, c, a.IPAddr)
}

type addressesArgs struct {
	Host string `arg:"host,required" doc:"the name"`
	serverArg
}

// addresses asks dig(1), or the system where that is not there and no server is named.
func addresses(ctx context.Context, c *fun.Call, a *addressesArgs) (fun.Result, error) {
	if tool.Has(c.Env.Host, "dig") || a.Nameserver != nil {
		return byDig(ctx, c, a.Host, a.Nameserver)
	}
	ips, err := c.Env.Host.LookupIP(ctx, a.Host)
	if ctx.Err() != nil {
		return fun.Result{}, ctx.Err()
	}
	ips = slices.DeleteFunc(ips, func(ip net.IP) bool { return (ip.To4() != nil) != (c.Spec.Name == "A") })
	if err != nil || len(ips) == 0 {
		return fun.Value("Unable to resolve " + a.Host)
	}
	l := value.NewList()
	for _, ip := range ips {
		l.Append(ip.String())
	}
	return fun.Value(l)
}

// hostsOf returns the names by address.
func hostsOf(text string) *value.Map {
	m := value.NewMap(8)
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		l := m.List(f[0])
		if l == nil {
			l = value.NewList()
			m.Set(f[0], l)
		}
		for _, name := range f[1:] {
			l.Append(name)
		}
	}
	return m
}

type parseHostsArgs struct {
	fileArg
	Hosts string `arg:"hosts" doc:"text to read instead"`
}

func parseHosts(_ context.Context, c *fun.Call, a *parseHostsArgs) (fun.Result, error) {
	if text := a.Hosts; text != "" {
		return fun.Value(hostsOf(text))
	}
	b, err := c.Env.Host.ReadFile(a.Hostsfile)
	if err != nil {
		return fun.Value("Error: hosts data was not found")
	}
	return fun.Value(hostsOf(value.DecodeReplace(b)))
}

// check refuses names that would break the file.
func check(names ...string) error {
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, " \t\r\n#\x00") {
			return fun.Errorf("invalid host name or address %s", value.Repr(n))
		}
	}
	return nil
}

type hostsAppendArgs struct {
	fileArg
	IPAddr string `arg:"ip_addr" doc:"the address"`
	entriesArg
}

// hostsAppend adds a line. Salt: salt/modules/dnsutil.py hosts_append. Difference: the
// line ends with a line end, and all names that exist are left out.
func hostsAppend(_ context.Context, c *fun.Call, a *hostsAppendArgs) (fun.Result, error) {
	file, ip, names := a.Hostsfile, a.IPAddr, a.Entries
	if err := check(append(slices.Clone(names), ip)...); err != nil {
		return fun.Result{}, err
	}
	line := ""
	_, err := textfile.Edit(c.Env, file, func(text string) (string, error) {
		there := hostsOf(text).List(ip)
		var more []string
		for _, n := range names {
			if there == nil || !slices.ContainsFunc(there.Items, func(v value.Value) bool { return value.Equal(v, n) }) {
				more = append(more, n)
			}
		}
		if len(more) == 0 {
			return text, nil
		}
		line = ip + " " + strings.Join(more, " ")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + line + "\n", nil
	})
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	if line == "" {
		return fun.Value("No additional hosts were added to " + file)
	}
	return fun.Value(fmt.Sprintf("The following line was added to %s:\n%s", file, line))
}

type hostsRemoveArgs struct {
	fileArg
	entriesArg
}

// hostsRemove removes names, and lines that have none left. Salt:
// salt/modules/dnsutil.py hosts_remove. Difference: other lines stay as they are.
func hostsRemove(_ context.Context, c *fun.Call, a *hostsRemoveArgs) (fun.Result, error) {
	file, names := a.Hostsfile, a.Entries
	if _, err := c.Env.Host.Stat(file); err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	_, err := textfile.Edit(c.Env, file, func(text string) (string, error) {
		var out []string
		for _, line := range textfile.Lines(text) {
			body, comment, has := strings.Cut(line, "#")
			f := strings.Fields(body)
			kept := slices.DeleteFunc(slices.Clone(f), func(n string) bool { return slices.Contains(names, n) && len(f) > 0 && n != f[0] })
			switch {
			case len(kept) == len(f):
				out = append(out, line)
			case len(kept) > 1:
				line = strings.Join(kept, " ")
				if has {
					line += " #" + comment
				}
				out = append(out, line)
			}
		}
		return textfile.Join(out), nil
	})
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	return fun.Value(nil)
}

// week is the most that parse_zone returns for a time, in seconds.
const week = 604800

// seconds reads a time of a SOA record: 3600, 1H, 2D, 1W.
func seconds(s string) int64 {
	s = strings.ToUpper(s)
	for _, u := range []struct {
		letter string
		n      int64
	}{{"H", 3600}, {"D", 86400}} {
		if strings.Contains(s, u.letter) {
			n, err := strconv.ParseInt(strings.ReplaceAll(s, u.letter, ""), 10, 32)
			if err != nil {
				return week
			}
			return min(n*u.n, week)
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return week
	}
	return min(n, week)
}

type parseZoneArgs struct {
	_        fun.Arguments
	Zonefile string `arg:"zonefile,path" doc:"the file"`
	Zone     string `arg:"zone" doc:"text to read instead"`
}

func parseZone(_ context.Context, c *fun.Call, a *parseZoneArgs) (fun.Result, error) {
	text := a.Zone
	if file := a.Zonefile; file != "" {
		if b, err := c.Env.Host.ReadFile(file); err == nil {
			text = value.DecodeReplace(b)
		}
	}
	if text == "" {
		return fun.Value("Error: Zone data was not found")
	}
	return fun.Value(zone(text))
}

// zone reads the records of a zone. Salt: salt/modules/dnsutil.py parse_zone.
// Difference: a line with fewer words than its record needs is left out.
func zone(text string) *value.Map {
	m := value.NewMap(16)
	multi, open := "", false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, ";")
		line = strings.TrimSpace(line)
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if line[0] == '$' {
			if len(f) > 1 {
				m.Set(strings.ReplaceAll(f[0], "$", ""), f[1])
			}
			continue
		}
		if strings.Contains(line, "(") && !strings.Contains(line, ")") {
			open, multi = true, ""
		}
		if open {
			multi += " " + line
			if !strings.Contains(line, ")") {
				continue
			}
			open, line = false, strings.NewReplacer("(", "", ")", "").Replace(multi)
		}
		record(m, line)
	}
	return m
}

// record reads one record.
func record(m *value.Map, line string) {
	origin := value.Str(m.At("ORIGIN"))
	if m.Has("ORIGIN") {
		line = strings.ReplaceAll(line, "@", origin)
	} else {
		origin = ""
	}
	f := strings.Fields(line)
	if strings.Contains(line, "SOA") {
		soa(m, f)
		return
	}
	if len(f) > 0 && f[0] == "IN" {
		f = append([]string{origin}, f...)
	}
	if len(f) < 4 {
		return
	}
	if !strings.HasSuffix(f[0], ".") && !strings.Contains(line, "NS") {
		f[0] += "." + origin
	}
	sub := func(key string) *value.Map {
		d := m.Map(key)
		if d == nil {
			d = value.NewMap(4)
			m.Set(key, d)
		}
		return d
	}
	switch {
	case f[2] == "NS":
		l := m.List("NS")
		if l == nil {
			l = value.NewList()
			m.Set("NS", l)
		}
		l.Append(f[3])
	case f[2] == "MX":
		if len(f) > 4 && !m.Has("MX") {
			m.Set("MX", value.NewList(value.MapOf("priority", f[3], "host", f[4])))
		}
	case f[3] == "A" || f[3] == "AAAA":
		if len(f) > 4 {
			sub(f[3]).Set(f[0], value.MapOf("TARGET", f[4], "TTL", f[1]))
		}
	default:
		sub(f[2]).Set(f[0], f[3])
	}
}

// soa reads the record that begins a zone.
func soa(m *value.Map, f []string) {
	if len(f) > 1 && f[1] != "IN" {
		f = slices.Delete(f, 1, 2)
	}
	if len(f) < 10 {
		return
	}
	for i, key := range []string{"ORIGIN", "NETWORK", "", "SOURCE", "CONTACT", "SERIAL", "REFRESH", "RETRY", "EXPIRE", "MINTTL"} {
		switch {
		case key == "":
		case key == "CONTACT":
			m.Set(key, strings.Replace(f[i], ".", "@", 1))
		case i >= 6:
			m.Set(key, seconds(f[i]))
		default:
			m.Set(key, f[i])
		}
	}
}

type serialArgs struct {
	_      fun.Arguments
	Zone   string `arg:"zone" default:"" doc:"the zone; '' is the one grain dnsserial"`
	Update bool   `arg:"update" default:"False" doc:"count up"`
}

// serial returns a serial number of the form YYYYMMDDNN. Salt: salt/modules/dnsutil.py
// serial.
func serial(ctx context.Context, c *fun.Call, a *serialArgs) (fun.Result, error) {
	key := "dnsserial"
	if z := a.Zone; z != "" {
		key += "_" + z
	}
	res, err := c.Env.Exec(ctx, "grains.get", nil, key)
	if err != nil {
		return fun.Result{}, err
	}
	today := c.Env.Host.Now().Format(time.DateOnly)
	now := strings.ReplaceAll(today, "-", "") + "01"
	if !a.Update {
		if value.Truth(res) {
			return fun.Value(res)
		}
		return fun.Value(now)
	}
	if stored := value.Str(res); value.Truth(res) && stored >= now {
		n, err := strconv.ParseInt(stored, 10, 64)
		if err != nil {
			return fun.Result{}, fun.Errorf("the grain %s is not a number: %s", key, value.Repr(res))
		}
		now = strconv.FormatInt(n+1, 10)
	}
	if _, err := c.Env.Exec(ctx, "grains.setval", nil, key, now); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(now)
}
