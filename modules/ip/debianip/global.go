package debianip

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/ip"
	"brine/modules/machine"
)

// The files of the global settings.
const (
	networkingFile = "/etc/default/networking"
	resolvFile     = "/etc/resolv.conf"
	hostnameFile   = "/etc/hostname"
)

// global are the network settings of a machine.
type global struct {
	networking, hostname, domain string
	search                       value.Value
}

// show returns the settings as lines. Salt: salt/templates/debian_ip/display-network.jinja.
func (g global) show() []string {
	var out []string
	for _, p := range [...]struct {
		key string
		v   value.Value
	}{{"NETWORKING", g.networking}, {"HOSTNAME", g.hostname}, {"DOMAIN", g.domain}, {"SEARCH", g.search}} {
		if value.Truth(p.v) {
			out = append(out, p.key+"="+value.Str(p.v)+"\n")
		}
	}
	return out
}

// current reads the settings that the machine has.
func current(h host.Host) global {
	var g global
	for _, line := range fileLines(h, networkingFile) {
		if v, ok := strings.CutPrefix(line, "CONFIGURE_INTERFACES="); ok {
			g.networking = strings.TrimSpace(v)
		}
	}
	if ls := fileLines(h, hostnameFile); len(ls) > 0 {
		g.hostname = strings.TrimRight(ls[0], "\r\n")
	}
	for _, line := range fileLines(h, resolvFile) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch strings.ToLower(f[0]) {
		case "domain":
			g.domain = f[1]
		case "search":
			g.search = value.Strings(f[1:]...)
		}
	}
	return g
}

// serviceIs asks a question about a service.
func serviceIs(ctx context.Context, c *fun.Call, question, name string) bool {
	res, err := c.Env.Exec(ctx, "service."+question, nil, name)
	return err == nil && value.Truth(res)
}

// getSettings returns the settings. Salt: salt/modules/debian_ip.py
// get_network_settings. Difference: the search list is shown on Ubuntu, too, so that
// it does not change on each run.
func getSettings(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	g := current(c.Env.Host)
	if ubuntuFrom(c, 12) {
		g.networking = "no"
		if serviceIs(ctx, c, "available", "networking") && serviceIs(ctx, c, "status", "networking") {
			g.networking = "yes"
		}
	}
	return result(g.show())
}

// networking is what /etc/default/networking becomes.
// Salt: salt/templates/debian_ip/network.jinja.
func networking(on string) string {
	return `# Configuration for networking init script being run during
# the boot sequence

# Set to 'no' to skip interfaces configuration on boot
CONFIGURE_INTERFACES=` + on + `

# Don't configure these interfaces. Shell wildcards supported/
#EXCLUDE_INTERFACES=

# Set to 'yes' to enable additional verbosity
#VERBOSE=no`
}

// wished returns the settings that a call asks for.
func wished(o *value.Map, now global) (global, error) {
	lower := value.NewMap(o.Len())
	for k, v := range o.All() {
		lower.Set(strings.ToLower(value.Str(k)), v)
	}
	g := global{hostname: now.hostname, domain: now.domain, search: now.search}
	var enabled value.Value = now.networking
	if lower.Has("enabled") {
		enabled = lower.At("enabled")
	}
	on, ok := onOff(enabled)
	if !ok {
		return g, fun.Errorf("Invalid network setting -- Setting: networking, Expected: [%s]", switches)
	}
	g.networking = map[bool]string{true: "yes", false: "no"}[on]
	if lower.Has("hostname") {
		g.hostname = value.Str(lower.At("hostname"))
	}
	if g.hostname == "" || strings.ContainsAny(g.hostname, " \t\r\n/") {
		return g, fun.Errorf("Invalid network setting -- Setting: hostname, Expected: [server1.example.com]")
	}
	if name, domain, ok := strings.Cut(g.hostname, "."); ok {
		g.hostname, g.domain = name, domain
	}
	if lower.Has("search") {
		g.search = lower.At("search")
	}
	return g, nil
}

// buildSettings writes the settings and returns them as lines.
// Salt: salt/modules/debian_ip.py build_network_settings. Differences: in test mode it
// returns the settings where nothing is to be written, so that nothing shows as a change
// then; /etc/resolv.conf keeps its line ends.
func buildSettings(ctx context.Context, c *fun.Call, a *applySettingsArgs) (fun.Result, error) {
	h := c.Env.Host
	test := a.Test
	now := current(h)
	g, err := wished(ip.Settings(c, &a.Global), now)
	if err != nil {
		return fun.Result{}, err
	}
	if ubuntuFrom(c, 12) {
		if !test {
			verb := map[string]string{"yes": "service.enable", "no": "service.disable"}[g.networking]
			for _, name := range []string{"NetworkManager", "networking"} {
				if !serviceIs(ctx, c, "available", name) {
					continue
				}
				if _, err := c.Env.Exec(ctx, verb, nil, name); err != nil {
					return fun.Result{}, err
				}
			}
		}
	} else if test {
		if same(g.show(), now.show()) {
			return result(g.show())
		}
		return result(splitLines(networking(g.networking)))
	} else if err := machine.Write(h, networkingFile, networking(g.networking)); err != nil {
		return fun.Result{}, err
	}
	if !test && (g.domain != now.domain || !value.Equal(g.search, now.search)) {
		if err := machine.Write(h, resolvFile, resolv(fileLines(h, resolvFile), g)); err != nil {
			return fun.Result{}, err
		}
	}
	return result(g.show())
}

func same(a, b []string) bool { return strings.Join(a, "") == strings.Join(b, "") }

// resolv returns /etc/resolv.conf with another domain and search list.
func resolv(ls []string, g global) string {
	want := map[string]string{}
	if g.domain != "" {
		want["domain"] = "domain " + g.domain + "\n"
	}
	if value.Truth(g.search) {
		want["search"] = "search " + strings.Join(words(g.search), " ") + "\n"
	}
	var kept []string
	for _, line := range ls {
		f := strings.Fields(line)
		if len(f) > 1 && want[f[0]] != "" {
			line = want[f[0]]
			delete(want, f[0])
		}
		kept = append(kept, line)
	}
	return want["domain"] + want["search"] + strings.Join(kept, "")
}
