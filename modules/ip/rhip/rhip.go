// Package rhip is Salt's execution module "rh_ip": interfaces, routes and network
// settings of Red Hat Enterprise Linux and its relatives, in the files ifcfg-* and
// route-* of network-scripts. It provides the virtual module "ip".
package rhip

import (
	"context"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/ip"
	"brine/modules/machine"
	"brine/modules/tool"
)

const (
	scripts     = "/etc/sysconfig/network-scripts"
	networkFile = "/etc/sysconfig/network"
)

// Module returns the execution module "rh_ip".
func Module() fun.Module {
	return fun.Module{Name: "ip", Kind: fun.Exec, Doc: "Interfaces, routes and network settings in the files of network-scripts.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	major, _ := strconv.Atoi(machine.Grain(env, "osmajorrelease"))
	if machine.Grain(env, "os_family") != "RedHat" || machine.Grain(env, "os") == "Amazon" && major < 2 {
		return false, "The rh_ip execution module cannot be loaded: this module is only available on RHEL/Fedora based distributions."
	}
	return true, ""
}

// interfaceName returns the argument iface where it may be part of the name of a file
// and an argument of a program.
func interfaceName(iface string) (string, error) {
	name := iface
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\"'`$\\ \t\r\n\x00") {
		return "", fun.Errorf("invalid interface name %s", value.Repr(name))
	}
	return name, nil
}

// lines returns the lines of a text, without its first empty one.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if i := slices.Index(all, ""); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	return all
}

// read returns the lines of a file; one that is not there has none.
func read(h host.Host, file string) []string {
	b, err := h.ReadFile(file)
	if err != nil {
		return nil
	}
	return lines(value.DecodeReplace(b))
}

// write replaces a file of a directory that has to be there.
func write(h host.Host, file, text string) error {
	if !machine.Exists(h, path.Dir(file)) {
		return fun.Errorf("%s cannot be written. %s does not exist", file, path.Dir(file))
	}
	mode := fs.FileMode(0o644)
	if st, err := h.Stat(file); err == nil {
		mode = st.Mode.Perm()
	}
	if err := h.WriteFile(file, strings.NewReader(text), host.WriteOptions{Mode: &mode, FollowLinks: true}); err != nil {
		return fun.Errorf("%v", err)
	}
	return nil
}

func result(ls []string) (fun.Result, error) { return fun.Value(value.Strings(ls...)) }

func getInterface(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	name, err := interfaceName(a.Iface)
	if err != nil {
		return fun.Result{}, err
	}
	return result(read(c.Env.Host, scripts+"/ifcfg-"+name))
}

func getRoutes(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	name, err := interfaceName(a.Iface)
	if err != nil {
		return fun.Result{}, err
	}
	return result(append(read(c.Env.Host, scripts+"/route-"+name), read(c.Env.Host, scripts+"/route6-"+name)...))
}

func getSettings(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return result(read(c.Env.Host, networkFile))
}

// types are the types of interfaces.
var types = []string{"eth", "bond", "team", "alias", "clone", "ipsec", "dialup", "bridge", "slave", "teamport", "vlan", "ipip", "ib"}

// prepare checks what a type of interface needs of its settings, and sets what the
// type says by itself. It returns the package that the type needs.
func prepare(typ string, o *value.Map) (pkg string, err error) {
	switch typ {
	case "slave":
		if !o.Has("master") {
			return "", fun.Errorf("master is a required setting for slave interfaces")
		}
		o.Set("slave", "yes")
	case "bond":
		if !o.Has("mode") {
			return "", fun.Errorf("mode is required for bond interfaces")
		}
	case "teamport":
		if !o.Has("team_master") {
			if !o.Has("master") {
				return "", fun.Errorf("master or team_master is a required setting for teamport interfaces")
			}
			o.Set("team_master", o.At("master"))
		}
		o.Delete("master")
	case "vlan":
		o.Set("vlan", "yes")
	case "bridge":
		return "bridge-utils", nil
	case "team":
		return "teamd", nil
	}
	return "", nil
}

type buildInterfaceArgs struct {
	ifaceArg
	typeArg
	Enabled bool `arg:"enabled,required" doc:"bring it up at boot"`
	ip.Interface
	ip.DryRun
	_ fun.Kwargs
}

// buildInterface writes an interface and returns its lines. Salt: salt/modules/rh_ip.py
// build_interface. Differences: nothing is installed and no sysctl set in test mode,
// releases before 7 and after 8 are written as well, lists may be words of a text.
func buildInterface(ctx context.Context, c *fun.Call, args *buildInterfaceArgs) (fun.Result, error) {
	name, err := interfaceName(args.Iface)
	if err != nil {
		return fun.Result{}, err
	}
	typ := strings.ToLower(args.IfaceType)
	if !slices.Contains(types, typ) {
		return fun.Result{}, bad(name, typ, strings.Join(types, "|"))
	}
	o := ip.Settings(c, &args.Interface)
	pkg, err := prepare(typ, o)
	if err != nil {
		return fun.Result{}, err
	}
	if slices.Contains([]string{"clone", "ipsec", "dialup"}, typ) {
		return fun.Result{}, fun.Errorf("interfaces of type %s cannot be written", typ)
	}
	a := &adapter{c: c, a: args, name: name, typ: typ, o: o, out: value.NewMap(16)}
	if err := a.settle(); err != nil {
		return fun.Result{}, err
	}
	text, err := a.render()
	if err != nil {
		return fun.Result{}, err
	}
	if args.Test {
		return result(lines(text))
	}
	if err := a.ready(ctx, pkg); err != nil {
		return fun.Result{}, err
	}
	if err := write(c.Env.Host, scripts+"/ifcfg-"+name, text); err != nil {
		return fun.Result{}, err
	}
	return getInterface(ctx, c, &args.ifaceArg)
}

// ready installs the package that an interface needs and, for a bridge, says whether
// its packets pass the firewall.
func (a *adapter) ready(ctx context.Context, pkg string) error {
	call := func(name string, pos ...value.Value) (value.Value, error) {
		return a.c.Env.Exec(ctx, name, nil, pos...)
	}
	if pkg != "" {
		v, err := call("pkg.version", pkg)
		if err == nil && !value.Truth(v) {
			_, err = call("pkg.install", pkg)
		}
		if err != nil {
			return err
		}
	}
	if a.typ != "bridge" {
		return nil
	}
	for _, key := range []string{"ip6tables", "iptables", "arptables"} {
		key = "net.bridge.bridge-nf-call-" + key
		if _, err := call("sysctl.persist", key, a.filtered); err != nil {
			a.c.Env.Log().Warn("Failed to set sysctl: "+key, "error", err)
		}
	}
	return nil
}

type buildRoutesArgs struct {
	ifaceArg
	ip.Routes
	ip.DryRun
	_ fun.Kwargs
}

// buildRoutes writes the routes of an interface and returns the lines. Salt:
// salt/modules/rh_ip.py build_routes. Difference: every release gets the lines of
// ip-route(8), which all since 6 read.
func buildRoutes(ctx context.Context, c *fun.Call, a *buildRoutesArgs) (fun.Result, error) {
	name, err := interfaceName(a.Iface)
	if err != nil {
		return fun.Result{}, err
	}
	var list *value.List
	for k, v := range ip.Settings(c, &a.Routes).All() {
		if strings.EqualFold(value.Str(k), "routes") {
			list, _ = v.(*value.List)
		}
	}
	if list == nil {
		return fun.Result{}, fun.Errorf("Invalid option -- Route interface: %s, Option: routes, Expected: [List of routes]", name)
	}
	var v4, v6 strings.Builder
	for _, item := range list.Items {
		text, is6, err := route(name, item)
		if err != nil {
			return fun.Result{}, err
		}
		if is6 {
			v6.WriteString(text)
		} else {
			v4.WriteString(text)
		}
	}
	if a.Test {
		return result(append(lines(v4.String()), lines(v6.String())...))
	}
	if err := write(c.Env.Host, scripts+"/route-"+name, v4.String()); err != nil {
		return fun.Result{}, err
	}
	if err := write(c.Env.Host, scripts+"/route6-"+name, v6.String()); err != nil {
		return fun.Result{}, err
	}
	return getRoutes(ctx, c, &a.ifaceArg)
}

// route returns the lines of a route, and whether it is one of IPv6.
func route(iface string, item value.Value) (text string, is6 bool, err error) {
	r, ok := item.(*value.Map)
	if !ok || r.At("ipaddr") == nil {
		return "", false, fun.Errorf("Invalid option -- Route interface: %s, Option: ipaddr, Expected: [address of the network]", iface)
	}
	word := func(key string) string {
		if v := r.At(key); value.Truth(v) && err == nil {
			text := value.Str(v)
			if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || key != "name" && c == ' ' }) {
				err = fun.Errorf("Invalid option -- Route interface: %s, Option: %s, Expected: [one word]", iface, key)
			}
			return text
		}
		return ""
	}
	var b strings.Builder
	if name := word("name"); name != "" {
		b.WriteString("# " + name)
	}
	addr := word("ipaddr")
	b.WriteString("\n" + addr)
	if mask := word("netmask"); mask != "" {
		b.WriteString("/" + mask)
	}
	if gw := word("gateway"); gw != "" {
		b.WriteString(" via " + gw)
	} else {
		b.WriteString(" dev " + iface)
	}
	if metric := word("metric"); metric != "" {
		b.WriteString(" metric " + metric)
	}
	b.WriteByte('\n')
	host, _, _ := strings.Cut(addr, "/")
	ip, parseErr := netip.ParseAddr(host)
	return b.String(), parseErr == nil && ip.Is6(), err
}

// bring runs ifup(8) or ifdown(8), or NetworkManager where these are not installed. A
// slave is brought up by its master.
func bring(ctx context.Context, c *fun.Call, a *upArgs, program, verb string) (fun.Result, error) {
	name, err := interfaceName(a.Iface)
	if err != nil {
		return fun.Result{}, err
	}
	if t := strings.ToLower(a.IfaceType); t == "slave" || t == "teamport" {
		return fun.Value(nil)
	}
	h := c.Env.Host
	if tool.Has(h, program) || !tool.Has(h, "nmcli") {
		out, err := tool.Merged(ctx, h, program, name)
		return out.Result(), err
	}
	if out, err := tool.Merged(ctx, h, "nmcli", "connection", "load", scripts+"/ifcfg-"+name); err != nil || out.Status != 0 {
		return out.Result(), err
	}
	out, err := tool.Merged(ctx, h, "nmcli", "device", verb, name)
	return out.Result(), err
}

// upArgs are the arguments of up and down.
type upArgs struct {
	ifaceArg
	typeArg
}

func up(ctx context.Context, c *fun.Call, a *upArgs) (fun.Result, error) {
	return bring(ctx, c, a, "ifup", "connect")
}

func down(ctx context.Context, c *fun.Call, a *upArgs) (fun.Result, error) {
	return bring(ctx, c, a, "ifdown", "disconnect")
}
