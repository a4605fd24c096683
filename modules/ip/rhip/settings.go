package rhip

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/ip"
	"brine/modules/machine"
)

func badNetwork(option, expected string) error {
	return fun.Errorf("Invalid network setting -- Setting: %s, Expected: [%s]", option, expected)
}

// A pair is a line KEY=value of a file.
type pair struct{ key, val string }

// current returns the settings of the machine's file, their keys in capitals.
func current(h host.Host) []pair {
	var pairs []pair
	for _, line := range read(h, networkFile) {
		line = strings.TrimSpace(line)
		key, val, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "!") {
			pairs = append(pairs, pair{strings.ToUpper(strings.TrimSpace(key)), strings.TrimSpace(val)})
		}
	}
	return pairs
}

func lookup(pairs []pair, key string) (string, bool) {
	for _, p := range pairs {
		if p.key == key {
			return p.val, true
		}
	}
	return "", false
}

// quoteOf returns the quote that a text stands in; "" is none.
func quoteOf(s string) string {
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[:1]
	}
	return ""
}

func dequote(s string) string {
	if quoteOf(s) != "" {
		return s[1 : len(s)-1]
	}
	return s
}

// globals are the settings that are taken as they are, and the key of each.
var globals = [...]pair{
	{"networking_ipv6", "NETWORKING_IPV6"},
	{"hostname", "HOSTNAME"},
	{"gateway", "GATEWAY"},
	{"gatewaydev", "GATEWAYDEV"},
	{"nisdomain", "NISDOMAIN"},
	{"networkdelay", "NETWORKDELAY"},
	{"devtimeout", "DEVTIMEOUT"},
	{"nozeroconf", "NOZEROCONF"},
}

// A global is the file of global settings in the making.
type global struct {
	o     *value.Map // the settings given, their keys in small letters
	have  []pair
	quote string
	lines []pair
}

// set adds a line; the value must be one that a shell takes as it is.
func (g *global) set(name, key, text string) error {
	if strings.ContainsAny(text, "\"'`$\\;&|<>() \t") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return badNetwork(name, "a value without blanks, quotes and other characters of the shell")
	}
	g.lines = append(g.lines, pair{key, g.quote + text + g.quote})
	return nil
}

// toggle adds a line that says yes or no.
func (g *global) toggle(name, key string, v value.Value) error {
	if s, ok := v.(string); ok {
		v = dequote(s)
	}
	on, ok := onOff(v)
	if !ok {
		return badNetwork(name, yesNo)
	}
	return g.set(name, key, word(on))
}

// build settles the lines of the file. Salt: salt/modules/rh_ip.py
// _parse_network_settings, salt/templates/rh_ip/network.jinja.
func (g *global) build() error {
	enabled := g.o.At("enabled")
	if enabled == nil {
		text, ok := lookup(g.have, "NETWORKING")
		if !ok {
			return badNetwork("networking", yesNo)
		}
		enabled, g.quote = text, quoteOf(text)
	}
	if err := g.toggle("networking", "NETWORKING", enabled); err != nil {
		return err
	}
	for _, s := range globals {
		v := g.o.At(s.key)
		if !value.Truth(v) && s.key == "hostname" {
			text, _ := lookup(g.have, s.val)
			if text == "" {
				return badNetwork("hostname", "server1.example.com")
			}
			v = text
		}
		var err error
		switch {
		case v == nil:
		case s.key == "nozeroconf" || s.key == "networking_ipv6":
			err = g.toggle(s.key, s.val, v)
		case value.Truth(v):
			err = g.set(s.key, s.val, dequote(value.Str(v)))
		}
		if err != nil {
			return err
		}
	}
	g.quote = `"`
	if v := g.o.At("enable_ipv6"); v != nil {
		if err := g.toggle("enable_ipv6", "IPV6INIT", v); err != nil {
			return err
		}
	}
	if v := g.o.At("ipv6gateway"); value.Truth(v) {
		return g.set("ipv6gateway", "IPV6_DEFAULTGW", value.Str(v))
	}
	return nil
}

// text returns the file. With retain the settings that exist and were not given
// stay.
func (g *global) text(retain bool) string {
	if retain {
		for _, p := range g.have {
			if _, ok := lookup(g.lines, p.key); !ok {
				g.lines = append(g.lines, p)
			}
		}
	}
	var b strings.Builder
	for _, p := range g.lines {
		b.WriteString(p.key + "=" + p.val + "\n")
	}
	return b.String()
}

// buildSettingsArgs are the arguments of buildSettings and applySettings.
type buildSettingsArgs struct {
	ip.Global
	ip.DryRun
	_ fun.Kwargs
}

// buildSettings writes the global settings and returns the lines. Salt:
// salt/modules/rh_ip.py build_network_settings. Difference: retain_settings keeps what
// Salt does not know, too.
func buildSettings(_ context.Context, c *fun.Call, a *buildSettingsArgs) (fun.Result, error) {
	g := &global{o: value.NewMap(8), have: current(c.Env.Host)}
	for k, v := range ip.Settings(c, &a.Global).All() {
		g.o.Set(strings.ToLower(value.Str(k)), v)
	}
	if err := g.build(); err != nil {
		return fun.Result{}, err
	}
	text := g.text(value.Truth(g.o.At("retain_settings")))
	if a.Test {
		return result(lines(text))
	}
	if err := write(c.Env.Host, networkFile, text); err != nil {
		return fun.Result{}, err
	}
	return result(read(c.Env.Host, networkFile))
}

// applySettings sets the host name where that is asked for, and restarts networking.
// Salt: salt/modules/rh_ip.py apply_network_settings.
func applySettings(ctx context.Context, c *fun.Call, a *buildSettingsArgs) (fun.Result, error) {
	if a.Test {
		return fun.Value(true)
	}
	call := func(name, arg string) (bool, error) {
		res, err := c.Env.Exec(ctx, name, nil, arg)
		return value.Truth(res), err
	}
	o, named := c.Given(&a.Global), true
	if on, _ := onOff(o.At("apply_hostname")); on {
		name := value.Str(o.At("hostname"))
		if named = o.Has("hostname"); named {
			var err error
			if named, err = call("network.mod_hostname", name); err != nil {
				return fun.Result{}, err
			}
		} else {
			c.Env.Log().Warn("apply_hostname is set, but there is no hostname")
		}
	}
	if on, _ := onOff(o.At("require_reboot")); on {
		return fun.Value(named)
	}
	service := "NetworkManager"
	if slices.Contains([]string{"2", "5", "6", "7"}, machine.Grain(c.Env, "osmajorrelease")) {
		service = "network"
	}
	restarted, err := call("service.restart", service)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(named && restarted)
}
