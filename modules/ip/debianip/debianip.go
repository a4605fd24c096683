// Package debianip is Salt's execution module "debian_ip": interfaces, routes and
// network settings of Debian and Ubuntu in the files of ifupdown. It provides the
// virtual module "ip".
package debianip

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/ip"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "debian_ip".
func Module() fun.Module {
	return fun.Module{Name: "ip", Kind: fun.Exec, Doc: "Interfaces, routes and network settings in the files of ifupdown.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if machine.Grain(env, "os_family") != "Debian" {
		return false, "The debian_ip module could not be loaded: unsupported OS family"
	}
	return true, ""
}

// interfaceName returns the argument iface where it may be part of the name of a file
// and an argument of a program.
func interfaceName(a *ifaceArg) (string, error) {
	name := a.Iface
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/ \t\r\n\x00") {
		return "", fun.Errorf("invalid interface name %s", value.Repr(name))
	}
	return name, nil
}

// write replaces a file of a directory that has to be there.
func write(h host.Host, file, text string, mode fs.FileMode) error {
	if !machine.Exists(h, path.Dir(file)) {
		return fun.Errorf("%s cannot be written. %s does not exist", file, path.Dir(file))
	}
	if err := h.WriteFile(file, strings.NewReader(text), host.WriteOptions{Mode: &mode, FollowLinks: true}); err != nil {
		return fun.Errorf("%v", err)
	}
	return nil
}

// fileLines returns the lines of a file with their ends; a file that is not there has
// none.
func fileLines(h host.Host, file string) []string {
	b, err := h.ReadFile(file)
	if err != nil {
		return nil
	}
	return splitLines(value.DecodeReplace(b))
}

func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

func result(ls []string) (fun.Result, error) { return fun.Value(value.Strings(ls...)) }

func getInterface(_ context.Context, c *fun.Call, args *ifaceArg) (fun.Result, error) {
	all, err := load(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	a := all.find(args.Iface)
	if a == nil {
		return result(nil)
	}
	return result(lines(a.render()))
}

// types are the types of interfaces.
var types = []string{"eth", "bond", "alias", "clone", "ipsec", "dialup", "bridge", "slave", "vlan", "pppoe", "source"}

// need refuses a type of interface that lacks a setting, and returns the package that
// it needs.
func need(typ string, o *value.Map) (pkg string, err error) {
	missing := func(key, text string) error {
		if o.Has(key) {
			return nil
		}
		return fun.Errorf("%s", text)
	}
	switch typ {
	case "slave":
		return "", missing("master", "master is a required setting for slave interfaces")
	case "bond":
		return "", missing("slaves", "slaves is a required setting for bond interfaces")
	case "bridge":
		return "bridge-utils", missing("ports", "ports is a required setting for bridge interfaces on Debian or Ubuntu based systems")
	case "source":
		return "", missing("source", "source is a required setting for source interfaces")
	case "vlan":
		return "vlan", nil
	case "pppoe":
		return "ppp", missing("provider", "provider is a required setting for pppoe interfaces")
	}
	return "", nil
}

// install has the provider of pkg install a package.
func install(ctx context.Context, c *fun.Call, name string) error {
	_, err := c.Env.Exec(ctx, "pkg.install", nil, name)
	return err
}

type buildInterfaceArgs struct {
	ifaceArg
	typeArg
	Enabled bool `arg:"enabled,required" doc:"bring it up at boot"`
	ip.Interface
	ip.DryRun
	_ fun.Kwargs
}

// buildInterface writes an interface and returns its lines. Salt: salt/modules/debian_ip.py
// build_interface. Differences: nothing is installed in test mode; what the files say of
// other interfaces stays where it is, also "source" lines and options that Salt does not
// know; numbers among the options of bonds, bridges and ethtool are written as well.
func buildInterface(ctx context.Context, c *fun.Call, args *buildInterfaceArgs) (fun.Result, error) {
	name, err := interfaceName(&args.ifaceArg)
	if err != nil {
		return fun.Result{}, err
	}
	typ := strings.ToLower(args.IfaceType)
	if !slices.Contains(types, typ) {
		return fun.Result{}, bad(name, typ, strings.Join(types, "|"))
	}
	o := ip.Settings(c, &args.Interface)
	pkg, err := need(typ, o)
	if err != nil {
		return fun.Result{}, err
	}
	var a *adapter
	switch typ {
	case "eth", "bond", "bridge", "slave", "vlan", "pppoe":
		a, err = settle(c, o, typ, args.Enabled, name)
	case "source":
		a = &adapter{name: name, sources: words(o.At("source"))}
	default:
		err = fun.Errorf("interfaces of type %s cannot be written", typ)
	}
	if err != nil {
		return fun.Result{}, err
	}
	if args.Test {
		return result(lines(a.render()))
	}
	if pkg != "" {
		if err := install(ctx, c, pkg); err != nil {
			return fun.Result{}, err
		}
	}
	if err := save(c.Env.Host, a, o.Str("filename")); err != nil {
		return fun.Result{}, err
	}
	if typ == "pppoe" {
		if err := savePPP(c.Env.Host, a.family["inet"]); err != nil {
			return fun.Result{}, err
		}
	}
	return result(lines(a.render()))
}

// save writes an adapter into the file where it is, into the main file where it is in
// none, or into a file of its own.
func save(h host.Host, a *adapter, own string) error {
	if own != "" {
		if !strings.HasPrefix(own, "/") {
			own = path.Join(partsDir, own)
		}
		if !machine.Exists(h, path.Dir(own)) {
			return fun.Errorf("%s cannot be written.", path.Dir(own))
		}
		return machine.Write(h, own, a.render())
	}
	all, err := load(h)
	if err != nil {
		return err
	}
	all.put(a)
	if a.file == "" {
		a.file = mainFile
	}
	var b strings.Builder
	// Lines that belong to no interface come first: after an interface they would be its
	// options.
	for _, raw := range []bool{true, false} {
		for _, other := range all.adapters {
			if other.file == a.file && (other.raw != nil) == raw {
				b.WriteString(other.render())
			}
		}
	}
	if !machine.Exists(h, path.Dir(a.file)) {
		return fun.Errorf("%s cannot be written.", path.Dir(a.file))
	}
	return machine.Write(h, a.file, b.String())
}

// savePPP writes the peer of a pppoe interface; it has a password.
// Salt: salt/templates/debian_ip/debian_ppp_eth.jinja.
func savePPP(h host.Host, m *value.Map) error {
	provider := m.Str("provider")
	if provider == "" || strings.ContainsAny(provider, "/\x00") || strings.HasPrefix(provider, ".") {
		return fun.Errorf("invalid provider %s", value.Repr(provider))
	}
	var b strings.Builder
	if value.Truth(m.At("user")) {
		or := func(key, def string) string {
			if v := m.At(key); v != nil {
				return value.Str(v)
			}
			return def
		}
		flag := func(key string) {
			if or(key, "True") != "False" {
				b.WriteString(key)
			}
			b.WriteString("\n")
		}
		pair := func(key, def string) {
			if v := or(key, def); v != "" {
				b.WriteString(key + " " + v)
			}
			b.WriteString("\n")
		}
		b.WriteString("user " + or("user", "") + "\n")
		if p := or("password", ""); p != "" {
			b.WriteString("password " + p)
		}
		b.WriteString("\nplugin rp-pppoe.so " + or("pppoe_iface", "eth0") + "\n\n")
		flag("noipdefault")
		flag("usepeerdns")
		flag("defaultroute")
		b.WriteString("\n")
		pair("holdoff", "15")
		pair("maxfail", "0")
		b.WriteString("\n")
		flag("hide-password")
		pair("lcp-echo-interval", "20")
		pair("lcp-echo-failure", "3")
		b.WriteString("\n")
		flag("noauth")
		flag("persist")
		pair("mtu", "1492")
		flag("noaccomp")
		if m.Has("linkname") {
			pair("linkname", "")
		}
	}
	return write(h, path.Join("/etc/ppp/peers", provider), b.String(), 0o600)
}

func bondFile(name string) string { return "/etc/modprobe.d/" + name + ".conf" }

func getBond(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	name, err := interfaceName(a)
	if err != nil {
		return fun.Result{}, err
	}
	return result(fileLines(c.Env.Host, bondFile(name)))
}

type buildBondArgs struct {
	ifaceArg
	ip.Interface
	ip.DryRun
	_ fun.Kwargs
}

func buildBond(ctx context.Context, c *fun.Call, a *buildBondArgs) (fun.Result, error) {
	name, err := interfaceName(&a.ifaceArg)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := bonding(c, ip.Settings(c, &a.Interface), name)
	if err != nil {
		return fun.Result{}, err
	}
	var b strings.Builder
	b.WriteString("alias " + name + " bonding\noptions " + name + " ")
	for k, v := range m.All() {
		b.WriteString(value.Str(k) + "=" + value.Str(v) + " ")
	}
	text := b.String()
	if a.Test {
		return result(splitLines(text))
	}
	if err := write(c.Env.Host, bondFile(name), text, 0o644); err != nil {
		return fun.Result{}, err
	}
	if _, err := c.Env.Exec(ctx, "kmod.load", nil, "bonding"); err != nil {
		return fun.Result{}, err
	}
	if err := install(ctx, c, "ifenslave"); err != nil {
		return fun.Result{}, err
	}
	return result(fileLines(c.Env.Host, bondFile(name)))
}

// routeFiles are the scripts that add and remove the routes of an interface. run-parts(8)
// runs none with a dot in its name.
func routeFiles(name string) (up, down string) {
	name = strings.ReplaceAll(name, ".", "_")
	return "/etc/network/if-up.d/route-" + name, "/etc/network/if-down.d/route-" + name
}

func getRoutes(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	name, err := interfaceName(a)
	if err != nil {
		return fun.Result{}, err
	}
	up, down := routeFiles(name)
	return result(append(fileLines(c.Env.Host, up), fileLines(c.Env.Host, down)...))
}

type buildRoutesArgs struct {
	ifaceArg
	ip.Routes
	ip.DryRun
	_ fun.Kwargs
}

// buildRoutes writes the scripts. Salt: salt/modules/debian_ip.py build_routes.
func buildRoutes(_ context.Context, c *fun.Call, a *buildRoutesArgs) (fun.Result, error) {
	name, err := interfaceName(&a.ifaceArg)
	if err != nil {
		return fun.Result{}, err
	}
	var routes []value.Value
	found := false
	for k, v := range ip.Settings(c, &a.Routes).All() {
		if strings.EqualFold(value.Str(k), "routes") {
			routes, err = value.Items(v)
			found = err == nil
		}
	}
	if !found {
		return fun.Result{}, fun.Errorf("Invalid option -- Route interface: %s, Option: routes, Expected: [List of routes]", name)
	}
	add, err := script("add", name, routes)
	if err != nil {
		return fun.Result{}, err
	}
	del, err := script("del", name, routes)
	if err != nil {
		return fun.Result{}, err
	}
	if !a.Test {
		up, down := routeFiles(name)
		if err := write(c.Env.Host, up, add, 0o755); err != nil {
			return fun.Result{}, err
		}
		if err := write(c.Env.Host, down, del, 0o755); err != nil {
			return fun.Result{}, err
		}
	}
	return result(append(splitLines(add), splitLines(del)...))
}

// script returns the script that adds or removes routes. A setting with other than
// letters, digits and .:/_- is refused, since root runs the script.
func script(verb, iface string, routes []value.Value) (string, error) {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# " + verb + "\ntest \"${IFACE}\" = \"" + iface + "\" || exit 0\n")
	for _, r := range routes {
		m, ok := r.(*value.Map)
		if !ok {
			return "", fun.Errorf("Invalid option -- Route interface: %s, Option: routes, Expected: [List of routes]", iface)
		}
		text := map[string]string{}
		for _, key := range []string{"ipaddr", "netmask", "gateway", "metric"} {
			if v := m.At(key); value.Truth(v) {
				text[key] = value.Str(v)
			}
			if strings.Trim(text[key], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:/_-") != "" {
				return "", fun.Errorf("Invalid option -- Route interface: %s, Option: %s, Expected: [an address or a number]", iface, key)
			}
		}
		if v := m.At("name"); value.Truth(v) {
			b.WriteString("# " + strings.Join(strings.Fields(value.Str(v)), " ") + "\n")
		}
		b.WriteString("ip route " + verb + " " + text["ipaddr"])
		if text["netmask"] != "" {
			b.WriteString("/" + text["netmask"])
		}
		b.WriteString(" ")
		if text["gateway"] != "" {
			b.WriteString("via " + text["gateway"])
		}
		b.WriteString(" dev " + iface)
		if text["metric"] != "" {
			b.WriteString(" metric " + text["metric"])
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// bring runs ifup(8) or ifdown(8); a slave is its master's, and what is only a source
// is not an interface.
func bring(ctx context.Context, c *fun.Call, a *upArgs, program string) (fun.Result, error) {
	name, err := interfaceName(&a.ifaceArg)
	if err != nil {
		return fun.Result{}, err
	}
	if t := a.IfaceType; t == "slave" || t == "source" {
		return fun.Value(nil)
	}
	out, err := tool.Merged(ctx, c.Env.Host, program, name)
	return out.Result(), err
}

// upArgs are the arguments of up and down.
type upArgs struct {
	ifaceArg
	typeArg
}

func up(ctx context.Context, c *fun.Call, a *upArgs) (fun.Result, error) {
	return bring(ctx, c, a, "ifup")
}

func down(ctx context.Context, c *fun.Call, a *upArgs) (fun.Result, error) {
	return bring(ctx, c, a, "ifdown")
}

// applySettingsArgs are the arguments of applySettings and buildSettings.
type applySettingsArgs struct {
	ip.Global
	ip.DryRun
	_ fun.Kwargs
}

// applySettings sets the host name where that is asked for, and restarts networking.
// Salt: salt/modules/debian_ip.py apply_network_settings.
func applySettings(ctx context.Context, c *fun.Call, a *applySettingsArgs) (fun.Result, error) {
	if a.Test {
		return fun.Value(true)
	}
	o := c.Given(&a.Global)
	named := true
	call := func(name, arg string) (bool, error) {
		res, err := c.Env.Exec(ctx, name, nil, arg)
		return value.Truth(res), err
	}
	if on, _ := onOff(o.At("apply_hostname")); on {
		if name := o.Str("hostname"); name != "" {
			var err error
			if named, err = call("network.mod_hostname", name); err != nil {
				return fun.Result{}, err
			}
		} else {
			c.Env.Log().Warn("apply_hostname is set, but there is no hostname")
			named = false
		}
	}
	if on, _ := onOff(o.At("require_reboot")); on {
		return fun.Value(named)
	}
	stopped, err := call("service.stop", "networking")
	if err != nil {
		return fun.Result{}, err
	}
	if err := c.Env.Host.Sleep(ctx, 2*time.Second); err != nil {
		return fun.Result{}, err
	}
	started := false
	if stopped {
		if started, err = call("service.start", "networking"); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(named && started)
}
