package network

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// target returns a host that a program takes for one.
func target(a *hostArg) (string, error) {
	name := sanitize(a.Host)
	if name == "" || strings.HasPrefix(name, "-") {
		return "", fun.Errorf("invalid host %q", a.Host)
	}
	return name, nil
}

func dig(ctx context.Context, c *fun.Call, a *hostArg) (fun.Result, error) {
	name, err := target(a)
	if err == nil {
		err = tool.Need(c.Env.Host, "dig")
	}
	if err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, "dig", name)
	return out.Result(), err
}

// traceroute runs traceroute(8) and reads its table of hops.
// Salt: salt/modules/network.py traceroute.
func traceroute(ctx context.Context, c *fun.Call, a *hostArg) (fun.Result, error) {
	name, err := target(a)
	if err == nil {
		err = tool.Need(c.Env.Host, "traceroute")
	}
	if err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, "traceroute", name)
	if err != nil {
		return fun.Result{}, err
	}
	about, err := tool.LookMerged(ctx, c.Env.Host, "traceroute", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	read := oldHop
	if isModern(about.Text) {
		read = modernHop
	}
	l := value.NewList()
	for _, line := range out.Lines() {
		if strings.Contains(line, " ") && !strings.HasPrefix(line, "traceroute") {
			l.Append(read(line))
		}
	}
	return fun.Result{Value: l, Retcode: out.Status}, nil
}

// isModern reports whether a traceroute is the one for Linux of version 2.0.14 or
// later, whose columns are two blanks apart.
func isModern(about string) bool {
	re, err := pyre.Compile(`.*[Vv]ersion (\d+)\.(\d+)\.*(\d*)`, 0)
	if err != nil {
		return false
	}
	m, err := re.Search(about)
	if err != nil || m == nil {
		return false
	}
	number := func(i int) int {
		s, _ := m.Group(i)
		n, _ := strconv.Atoi(s)
		return n
	}
	return number(1) >= 2 && (number(3) >= 14 || number(2) > 0)
}

// modernHop reads " 1  gw (10.0.0.1)  0.1 ms  0.2 ms  0.3 ms"; what it cannot read
// is an empty mapping.
func modernHop(line string) *value.Map {
	f := strings.Split(line, "  ")
	count, err := strconv.ParseInt(strings.TrimSpace(f[0]), 10, 64)
	switch {
	case err != nil:
	case len(f) >= 2 && f[1] == "* * *":
		return value.MapOf("count", count, "hostname", "*")
	case len(f) >= 5:
		from := strings.Fields(f[1])
		m := value.MapOf("count", count, "hostname", at(from, 0), "ip", strings.Trim(at(from, 1), "()"))
		for i := 2; i < 5; i++ {
			ms, err := strconv.ParseFloat(at(strings.Fields(f[i]), 0), 64)
			if err != nil {
				return value.NewMap(0)
			}
			m.Set(fmt.Sprintf("ms%d", i-1), ms)
		}
		return m
	}
	return value.NewMap(0)
}

// oldHop reads the words of a line.
func oldHop(line string) *value.Map {
	f := strings.Fields(line)
	if len(f) < 9 {
		return value.NewMap(0)
	}
	return value.MapOf("count", f[0], "hostname", f[1], "ip", f[2], "ms1", f[4], "ms2", f[6], "ms3", f[8], "ping1", f[3], "ping2", f[5], "ping3", f[7])
}

const ethtool = "/sbin/ethtool"

// iface returns the argument iface where ethtool(8) takes it for a name.
func iface(a *ifaceArg) (string, error) {
	name := a.Iface
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t\n/") {
		return "", fun.Errorf("invalid interface name %q", name)
	}
	return name, nil
}

// hasEthtool reports whether buffer sizes can be asked for and set here.
func hasEthtool(c *fun.Call) bool { return linux(c) == nil && machine.Exists(c.Env.Host, ethtool) }

// getBufsize reads ethtool -g. Salt: salt/modules/network.py get_bufsize.
func getBufsize(ctx context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	name, err := iface(a)
	if err != nil || !hasEthtool(c) {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, ethtool, "-g", name)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.MapOf("result", false)
	suffix := "max-"
	for _, line := range out.Lines() {
		key, v, _ := strings.Cut(line, ":")
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		switch {
		case err == nil && key != "":
			m.Set(strings.ReplaceAll(strings.ToLower(key), " ", "-")+suffix, n)
			m.Set("result", true)
		case strings.HasSuffix(line, "maximums:"):
			suffix = "-max"
		case strings.HasSuffix(line, "settings:"):
			suffix = ""
		}
	}
	if !value.Truth(m.At("result")) {
		m.Set("comment", out.Text)
	}
	return fun.Result{Value: m, Retcode: out.Status}, nil
}

type modBufsizeArgs struct {
	ifaceArg
	bufsizes
	More fun.Varargs
	_    fun.Kwargs
}

type bufsizes struct {
	_ fun.Arguments
	_ value.Value `arg:"rx,kw,int" doc:"packets received"`
	_ value.Value `arg:"tx,kw,int" doc:"packets to send"`
	_ value.Value `arg:"rx-mini,kw,int" doc:"small packets received"`
	_ value.Value `arg:"rx-jumbo,kw,int" doc:"large packets received"`
}

// modBufsize runs ethtool -G. Salt: salt/modules/network.py mod_bufsize.
func modBufsize(ctx context.Context, c *fun.Call, a *modBufsizeArgs) (fun.Result, error) {
	name, err := iface(&a.ifaceArg)
	if err != nil || !hasEthtool(c) {
		return fun.Result{Value: false}, err
	}
	answer := func(ok bool, comment string) (fun.Result, error) {
		return fun.Value(value.MapOf("result", ok, "comment", comment))
	}
	const usage = "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>"
	given := c.Given(&a.bufsizes)
	if given.Len() == 0 {
		return answer(false, usage)
	}
	if len(a.More) > 0 {
		words := make([]string, len(a.More))
		for i, v := range a.More {
			words[i] = value.Str(v)
		}
		return answer(false, "Unknown arguments: "+strings.Join(words, " "))
	}
	var words []string
	for _, key := range []string{"rx", "tx", "rx-mini", "rx-jumbo"} {
		if v := given.At(key); v != nil {
			n, ok := value.AsInt(v)
			if !ok || n < 0 {
				return fun.Result{}, fun.Errorf("%s: a number is needed, not %s", key, value.Repr(v))
			}
			words = append(words, key, strconv.FormatInt(n, 10))
		}
	}
	out, err := tool.Merged(ctx, c.Env.Host, append([]string{ethtool, "-G", name}, words...)...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Text != "" {
		return answer(false, out.Text)
	}
	return answer(true, strings.Join(words, " "))
}

type wolArgs struct {
	_        fun.Arguments
	MAC      string `arg:"mac,required" doc:"the hardware address, with or without separators"`
	Bcast    string `arg:"bcast" default:"255.255.255.255" doc:"the address to send to"`
	Destport int64  `arg:"destport" default:"9" doc:"the UDP port"`
}

// wol sends the packet that wakes a machine by its hardware address.
func wol(ctx context.Context, c *fun.Call, a *wolArgs) (fun.Result, error) {
	mac := a.MAC
	digits := mac
	if len(mac) == 17 {
		digits = strings.ReplaceAll(mac, mac[2:3], "")
	}
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 6 {
		return fun.Result{}, value.Raise("ValueError", "Invalid MAC address")
	}
	packet := strings.Repeat("\xff", 6) + strings.Repeat(string(b), 16)
	if err := c.Env.Host.SendUDP(ctx, a.Bcast, int(a.Destport), []byte(packet)); err != nil {
		return fun.Result{}, fun.Errorf("send to %s: %v", a.Bcast, err)
	}
	return fun.Value(true)
}

type modHostnameArgs struct {
	_        fun.Arguments
	Hostname fun.Opt[string] `arg:"hostname,required,str|none" doc:"the name; None changes nothing"`
}

// modHostname sets the host name, now and at boot, and puts it in place of the
// former one in /etc/hosts. Salt: salt/modules/network.py mod_hostname. Difference:
// lines of /etc/hosts that do not have the former name stay as they are, and the
// function does not fail at its end where the grain lsb_distrib_id is missing.
func modHostname(ctx context.Context, c *fun.Call, a *modHostnameArgs) (fun.Result, error) {
	name := a.Hostname.V
	if !a.Hostname.Given {
		return fun.Value(false)
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t\n\x00/") {
		return fun.Result{}, fun.Errorf("invalid host name %q", name)
	}
	h := c.Env.Host
	old, err := h.Hostname()
	if err != nil {
		return fun.Result{}, err
	}
	argv := []string{"hostname", name}
	if tool.Has(h, "hostnamectl") {
		if out, err := tool.LookMerged(ctx, h, "hostnamectl", "status"); err == nil && out.Status == 0 {
			for _, line := range out.Lines() {
				if key, v, _ := strings.Cut(line, ":"); strings.Contains(key, "Static hostname") {
					old = strings.TrimSpace(v)
				}
			}
		}
		argv = []string{"hostnamectl", "set-hostname", name}
	}
	out, err := tool.Merged(ctx, h, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		c.Env.Warnf(source.Pos{}, "%s: %s", argv[0], out.Text)
		return fun.Result{Value: false, Retcode: out.Status}, nil
	}
	if err := renameInHosts(c, old, name); err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: true}, keepHostname(c, name)
}

// renameInHosts replaces a name in /etc/hosts.
func renameInHosts(c *fun.Call, old, name string) error {
	const file = "/etc/hosts"
	b, err := c.Env.Host.ReadFile(file)
	if err != nil || old == "" {
		return nil // nothing to rename in
	}
	lines := strings.SplitAfter(string(b), "\n")
	for i, line := range lines {
		text, comment, has := strings.Cut(line, "#")
		if has {
			comment = "#" + comment
		}
		f := strings.Fields(text)
		for j := 1; j < len(f); j++ {
			if f[j] != old {
				continue
			}
			from := 0
			for _, w := range f[:j] {
				from += strings.Index(text[from:], w) + len(w)
			}
			from += strings.Index(text[from:], old)
			text = text[:from] + name + text[from+len(old):]
			f[j] = name
		}
		lines[i] = text + comment
	}
	return machine.Write(c.Env.Host, file, strings.Join(lines, ""))
}

// keepHostname writes the name where the system reads it at boot.
func keepHostname(c *fun.Call, name string) error {
	h := c.Env.Host
	switch machine.Grain(c.Env, "os_family") {
	case "Debian", "NILinuxRT":
		return machine.Write(h, "/etc/hostname", name+"\n")
	case "RedHat":
		const file = "/etc/sysconfig/network"
		old, ok := machine.Setting(h, file, "HOSTNAME")
		if !ok || old == name {
			return nil
		}
		return machine.Set(h, file, "HOSTNAME", "HOSTNAME="+name, false)
	}
	return nil
}
