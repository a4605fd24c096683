//go:build !slim

package pillar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"brine/internal/core/host"
	"brine/internal/core/sdb"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// fetch asks a service for JSON. Where it has nothing, none is what it says of that, empty if
// that is not an object of JSON; else nil.
func (j *job) fetch(ctx context.Context, at string, kw *value.Map) (v value.Value, none *value.Map, err error) {
	kw = kw.Copy()
	kw.Set("decode_type", "json")
	got, err := sdb.Query(ctx, j.env, at, kw)
	if err != nil {
		return nil, nil, err
	}
	if status, _ := value.AsInt(got.At("status")); status == 404 {
		said, _ := value.ParseJSON(got.Str("body"))
		if none, _ = said.(*value.Map); none == nil {
			none = value.NewMap(0)
		}
		return nil, none, nil
	}
	if value.Truth(got.At("error")) {
		return nil, nil, fmt.Errorf("%s: %s", sdb.PlainURL(at), firstLine(got.Str("error")))
	}
	return got.At("dict"), nil, nil
}

// webBase checks the address of a service.
func webBase(name, at string) (string, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s: %q is not an http or https URL", name, sdb.PlainURL(at))
	}
	return strings.TrimRight(at, "/"), nil
}

// extForeman makes pillar of what Foreman knows of a host.
//
// Salt: salt/pillar/foreman.py. Difference: only a host that Foreman does not know has
// no data; everything else that goes wrong is an error.
func (j *job) extForeman(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	option := func(name string, def value.Value) value.Value {
		if v, ok := j.opts.Get("foreman." + name); ok && v != nil {
			return v
		}
		return def
	}
	base, err := webBase("foreman.url", value.Str(option("url", "http://foreman/api")))
	if err != nil {
		return nil, err
	}
	if api := option("api", int64(2)); value.Str(api) != "2" {
		return nil, fmt.Errorf("foreman.api: %s is not supported, only 2", value.Repr(api))
	}
	id, err := pathPart(j.env.ID)
	if err != nil {
		return nil, err
	}
	kw := value.MapOf("username", option("user", "admin"), "password", option("password", "changeme"),
		"header_dict", value.MapOf("Accept", "version=2,application/json"))
	if verify := option("verifyssl", true); !value.Truth(verify) {
		kw.Set("verify_ssl", false)
	} else if ca := option("cafile", nil); ca != nil {
		kw.Set("ca_bundle", ca)
	}
	if cert, key := option("certfile", nil), option("keyfile", nil); cert != nil && key != nil {
		kw.Set("cert", value.NewList(cert, key))
	}
	v, none, err := j.fetch(ctx, base+"/hosts/"+id, kw)
	if err != nil {
		return nil, err
	}
	if none != nil {
		// What is not its API answers with 404 as well, in another form.
		if none.Map("error") == nil {
			return nil, fmt.Errorf("%s has no API of Foreman: it answered with status 404", sdb.PlainURL(base))
		}
		j.warn(source.Pos{}, "ext_pillar foreman: %s does not know the host %s", sdb.PlainURL(base), j.env.ID)
		return nil, nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s answered with %s instead of a host", sdb.PlainURL(base), value.Kind(v))
	}
	if value.Truth(option("lookup_parameters", true)) {
		params := value.NewMap(4)
		list := m.List("all_parameters")
		for i := range list.Len() {
			if p, ok := list.Items[i].(*value.Map); ok {
				params.Set(p.At("name"), p.At("value"))
			}
		}
		m.Set("parameters", params)
	}
	if only, ok := a.get(1, "only").(*value.List); ok && only.Len() > 0 {
		some := value.NewMap(only.Len())
		for _, k := range only.Items {
			if v, ok := m.Get(k); ok {
				some.Set(k, v)
			}
		}
		m = some
	}
	if key := a.get(0, "key"); value.Truth(key) {
		m = value.MapOf(key, m)
	}
	return m, nil
}

// A netbox is a server of NetBox.
type netbox struct {
	j    *job
	base string
	kw   *value.Map
	page string // the limit of a page
}

// maxPages bounds how many pages a list of NetBox may have.
const maxPages = 1000

// all returns all items of a list, whose pages the server links.
func (n *netbox) all(ctx context.Context, path string, params url.Values) (*value.List, error) {
	if n.page != "" {
		params.Set("limit", n.page)
	}
	at := n.base + path + "/?" + params.Encode()
	out := value.NewList()
	for range maxPages {
		v, none, err := n.j.fetch(ctx, at, n.kw)
		if err != nil {
			return nil, err
		}
		m, _ := v.(*value.Map)
		list := m.List("results")
		if none != nil || list == nil {
			return nil, fmt.Errorf("%s did not answer with a list", sdb.PlainURL(at))
		}
		for _, x := range list.Items {
			if _, ok := x.(*value.Map); !ok {
				return nil, fmt.Errorf("%s has %s in its list", sdb.PlainURL(at), value.Kind(x))
			}
		}
		out.Append(list.Items...)
		next := m.Str("next")
		if next == "" {
			return out, nil
		}
		// The token is for this server alone.
		if !strings.HasPrefix(next, n.base+"/") {
			return nil, fmt.Errorf("%s continues at another address, %s", sdb.PlainURL(at), sdb.PlainURL(next))
		}
		at = next
	}
	return nil, fmt.Errorf("%s has more than %d pages", sdb.PlainURL(n.base+path), maxPages)
}

// extNetBox makes pillar of the device or virtual machine that has the id as its name.
//
// Salt: salt/pillar/netbox.py. Differences: interfaces are there without
// interface_ips, too, a device without platform or address just has no proxy, and
// what goes wrong is an error.
func (j *job) extNetBox(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	n, on, err := j.netbox(a)
	if err != nil {
		return nil, err
	}
	node, kind, err := n.node(ctx, on("devices", true), on("virtual_machines", false))
	if node == nil || err != nil {
		return nil, err
	}
	out := value.MapOf("netbox", node)
	of := url.Values{kind + "_id": {value.Str(node.At("id"))}}
	if on("interfaces", false) || on("connected_devices", false) {
		app := map[string]string{"device": "/dcim", "virtual_machine": "/virtualization"}[kind]
		list, err := n.all(ctx, app+"/interfaces", of)
		if err != nil {
			return nil, err
		}
		if on("interface_ips", false) {
			ips, err := n.all(ctx, "/ipam/ip-addresses", of)
			if err != nil {
				return nil, err
			}
			withIPs(list, ips)
		}
		for _, x := range list.Items {
			x.(*value.Map).Delete(kind)
		}
		node.Set("interfaces", list)
		if on("connected_devices", false) {
			devices, err := n.connected(ctx, list)
			if err != nil {
				return nil, err
			}
			node.Set("connected_devices", devices)
		}
	}
	if err := n.site(ctx, node, on("site_details", true), on("site_prefixes", true)); err != nil {
		return nil, err
	}
	if on("proxy_return", true) {
		proxy, err := n.proxy(ctx, node)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			if user := a.kw.At("proxy_username"); value.Truth(user) {
				proxy.Set("username", user)
			}
			out.Set("proxy", proxy)
		}
	}
	return out, nil
}

// netbox reads the settings of a NetBox; on says what a switch is set to.
func (j *job) netbox(a extArgs) (n *netbox, on func(name string, def bool) bool, err error) {
	on = func(name string, def bool) bool {
		if v, ok := a.kw.Get(name); ok {
			return value.Truth(v)
		}
		return def
	}
	base, err := webBase("api_url", a.kw.Str("api_url"))
	if err != nil {
		return nil, nil, err
	}
	token := a.kw.Str("api_token")
	switch {
	case token == "":
		return nil, nil, errors.New("the value for api_token is not set")
	case !on("devices", true) && !on("virtual_machines", false):
		return nil, nil, errors.New("at least one of devices or virtual_machines must be True")
	case on("interface_ips", false) && !on("interfaces", false) && !on("connected_devices", false):
		return nil, nil, errors.New("the value for interfaces must be True if interface_ips is True")
	}
	n = &netbox{j: j, base: base, kw: value.MapOf("header_dict", value.MapOf("Authorization", "Token "+token))}
	if v := a.kw.At("api_query_result_limit"); value.Truth(v) {
		if i, ok := value.AsInt(v); !ok || i <= 0 {
			return nil, nil, fmt.Errorf("api_query_result_limit must be a positive number, not %s", value.Repr(v))
		}
		n.page = value.Str(v)
	}
	return n, on, nil
}

// node returns what has the id as its name, and "device" or "virtual_machine".
func (n *netbox) node(ctx context.Context, devices, machines bool) (node *value.Map, kind string, err error) {
	for _, x := range []struct {
		ask              bool
		path, kind, name string
	}{
		{devices, "/dcim/devices", "device", "device"},
		{machines, "/virtualization/virtual-machines", "virtual_machine", "virtual-machine"},
	} {
		if !x.ask {
			continue
		}
		list, err := n.all(ctx, x.path, url.Values{"name": {n.j.env.ID}})
		if err != nil {
			return nil, "", err
		}
		for _, v := range list.Items {
			if node != nil {
				return nil, "", fmt.Errorf("More than one node found for %q", n.j.env.ID)
			}
			node, kind = v.(*value.Map), x.kind
			node.Set("node_type", x.name)
		}
	}
	if node == nil {
		n.j.warn(source.Pos{}, "ext_pillar netbox: %s has nothing of the name %s", sdb.PlainURL(n.base), n.j.env.ID)
	}
	return node, kind, nil
}

// withIPs gives interfaces their addresses.
func withIPs(interfaces, ips *value.List) {
	if ips.Len() == 0 {
		return
	}
	by := map[string]*value.List{}
	for _, x := range interfaces.Items {
		own := value.NewList()
		x.(*value.Map).Set("ip_addresses", own)
		by[value.Str(x.(*value.Map).At("id"))] = own
	}
	for _, x := range ips.Items {
		ip := x.(*value.Map)
		if own := by[value.Str(ip.At("assigned_object_id"))]; own != nil && ip.At("assigned_object_id") != nil {
			for _, k := range []string{"assigned_object_type", "assigned_object_id", "assigned_object"} {
				ip.Delete(k)
			}
			own.Append(ip)
		}
	}
}

// connected returns the devices at the other ends of interfaces, by their numbers.
func (n *netbox) connected(ctx context.Context, interfaces *value.List) (*value.Map, error) {
	out := value.NewMap(4)
	for _, x := range interfaces.Items {
		ends := x.(*value.Map).List("connected_endpoints")
		for i := range ends.Len() {
			end, _ := ends.Items[i].(*value.Map)
			id, ok := value.AsInt(end.Map("device").At("id"))
			if !ok || out.Has(id) {
				continue
			}
			v, _, err := n.j.fetch(ctx, n.base+"/dcim/devices/"+strconv.FormatInt(id, 10)+"/", n.kw)
			if err != nil {
				return nil, err
			}
			out.Set(id, v)
		}
	}
	return out, nil
}

// site adds what is known of the site.
func (n *netbox) site(ctx context.Context, node *value.Map, details, prefixes bool) error {
	site := node.Map("site")
	id, ok := value.AsInt(site.At("id"))
	if !ok {
		return nil // a virtual machine may have none
	}
	if details {
		v, _, err := n.j.fetch(ctx, n.base+"/dcim/sites/"+strconv.FormatInt(id, 10)+"/", n.kw)
		if err != nil {
			return err
		}
		if m, ok := v.(*value.Map); ok {
			site = m
			node.Set("site", m)
		}
	}
	if prefixes {
		list, err := n.all(ctx, "/ipam/prefixes", url.Values{"site_id": {strconv.FormatInt(id, 10)}})
		if err != nil {
			return err
		}
		for _, x := range list.Items {
			x.(*value.Map).Delete("site")
		}
		site.Set("prefixes", list)
	}
	return nil
}

// proxy returns the settings of a proxy for the device; nil where its platform has no
// driver of NAPALM.
func (n *netbox) proxy(ctx context.Context, node *value.Map) (*value.Map, error) {
	id, ok := value.AsInt(node.Map("platform").At("id"))
	ip, err := netip.ParsePrefix(node.Map("primary_ip").Str("address"))
	if !ok || err != nil {
		return nil, nil
	}
	v, _, err := n.j.fetch(ctx, n.base+"/dcim/platforms/"+strconv.FormatInt(id, 10)+"/", n.kw)
	m, _ := v.(*value.Map)
	if err != nil || m.Str("napalm_driver") == "" {
		return nil, err
	}
	return value.MapOf("host", ip.Addr().String(), "driver", m.Str("napalm_driver"), "proxytype", "napalm"), nil
}

// extEtcd makes pillar of the keys under a path: conf is "PROFILE root=PATH".
//
// Salt: salt/pillar/etcd_pillar.py. Difference: only a path that does not exist has no
// data.
func (j *job) extEtcd(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	conf, _ := a.get(0, "conf").(string)
	words := strings.Fields(conf)
	if len(words) == 0 {
		return nil, errors.New(`it needs a profile: "PROFILE root=PATH"`)
	}
	profile := j.opts.Map(words[0])
	if profile == nil {
		return nil, fmt.Errorf("the configuration has no dict %q", words[0])
	}
	root := "/"
	if len(words) > 1 {
		r, ok := strings.CutPrefix(words[1], "root=")
		if !ok {
			return nil, fmt.Errorf("%q is not root=PATH", words[1])
		}
		root = r
	}
	if strings.Contains(root, "%(minion_id)s") {
		if id := j.env.ID; id == "." || id == ".." || strings.ContainsAny(id, "/\x00") {
			return nil, fmt.Errorf("the id %q cannot be part of a path", id)
		}
		root = strings.ReplaceAll(root, "%(minion_id)s", j.env.ID)
	}
	if strings.Contains(root, "%(") {
		return nil, fmt.Errorf("the root %q: there is %%(minion_id)s alone", root)
	}
	e, err := sdb.OpenEtcd(ctx, j.env, profile)
	if err != nil {
		return nil, err
	}
	m, err := e.Tree(ctx, root)
	if m == nil || err != nil {
		return nil, err
	}
	return m, nil
}

// extHiera makes pillar of what the program hiera prints, which gets the grains that
// are text as variables.
//
// Salt: salt/pillar/hiera.py. Difference: a program that fails is an error.
func (j *job) extHiera(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	conf, _ := a.get(0, "conf").(string)
	words := strings.Fields(conf)
	if len(words) == 0 {
		return nil, errors.New("it needs the path of a configuration of hiera")
	}
	argv := append([]string{"hiera", "-c"}, words...)
	grains := j.env.SubjectGrains()
	for _, k := range grains.Keys() {
		name, isText := k.(string)
		v, _ := grains.Get(k)
		if text, ok := v.(string); ok && isText && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name+text, "\x00") && !strings.Contains(name, "=") {
			argv = append(argv, name+"="+text)
		}
	}
	out, err := j.env.Host.Run(ctx, host.Cmd{Argv: argv, Timeout: reclassTimeout})
	switch {
	case err != nil:
		return nil, fmt.Errorf("run hiera: %w", err)
	case out.TimedOut:
		return nil, fmt.Errorf("hiera was ended after %s", reclassTimeout)
	case out.Status != 0:
		return nil, fmt.Errorf("hiera ended with status %d: %s", out.Status, firstLine(string(out.Stderr)))
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "hiera"}, out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("what hiera printed is not YAML: %w", err)
	}
	m, ok := v.(*value.Map)
	if !ok && v != nil {
		return nil, fmt.Errorf("hiera printed %s instead of a mapping", value.Kind(v))
	}
	if m == nil {
		return nil, nil
	}
	return m, nil
}

// extSQLite makes pillar of the rows of a file of SQLite.
//
// Salt: salt/pillar/sqlite3.py.
func (j *job) extSQLite(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	file := "/var/lib/salt/pillar.db"
	if f := j.opts.Map("sqlite3").Str("database"); f != "" {
		file = f
	}
	if _, err := j.env.Host.Stat(file); err != nil {
		return nil, err
	}
	queries, err := sqlQueries(a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return j.runQueries(ctx, db, func(int) string { return "?" }, queries)
}
