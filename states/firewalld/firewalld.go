// Package firewalld is Salt's state module "firewalld": zones and services of
// firewalld.
package firewalld

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/firewalld"
	"brine/modules/textfile"
	"brine/modules/tool"
	"brine/outputter"
)

// States returns the rows of the state module "firewalld".
func States() fun.Module {
	return fun.Module{Name: "firewalld", Kind: fun.State, Doc: "Manage zones and services of firewalld.", Avail: tool.Needs("firewall-cmd", "firewall-cmd is not available, firewalld is probably not installed."), Specs: specs}
}

// A work is one run of a state.
type work struct {
	c       *fun.Call
	changes *value.Map
	scope   string // option that names the zone or service
	absent  bool   // a dry run would create the zone or service
}

// words returns the words that firewall-cmd prints.
func (w *work) words(ctx context.Context, options ...string) ([]string, error) {
	out, err := firewalld.Cmd(ctx, w.c.Env, append(options, "--permanent")...)
	return strings.Fields(out), err
}

// lines returns the lines that firewall-cmd prints about the zone or service.
func (w *work) lines(ctx context.Context, option string) ([]string, error) {
	if w.absent {
		return nil, nil
	}
	out, err := firewalld.Cmd(ctx, w.c.Env, w.scope, option, "--permanent")
	return value.SplitLines(out, false), err
}

// act changes the zone or service, except in a dry run.
func (w *work) act(ctx context.Context, option string) error {
	if w.c.Test {
		return nil
	}
	_, err := firewalld.Cmd(ctx, w.c.Env, w.scope, option, "--permanent")
	return err
}

// settle adds the items of want that have lacks and, with prune, removes the others.
// It reports whether there was something to do.
func (w *work) settle(ctx context.Context, want, have []string, prune bool, add, remove string) (bool, error) {
	fresh := textfile.Without(want, have)
	for _, s := range fresh {
		if err := w.act(ctx, add+"="+s); err != nil {
			return false, err
		}
	}
	var old []string
	if prune {
		old = textfile.Without(have, want)
	}
	for _, s := range old {
		if err := w.act(ctx, remove+"="+s); err != nil {
			return false, err
		}
	}
	return len(fresh)+len(old) > 0, nil
}

// note notes a list that changed: with prune it is what was asked for, else existing
// items are part of it.
func (w *work) note(key string, want, have []string, prune bool, show func([]string) value.Value) {
	now := want
	if !prune {
		now = append(slices.Clone(have), textfile.Without(want, have)...)
	}
	w.changes.Set(key, value.MapOf("old", show(have), "new", show(now)))
}

func list(ss []string) value.Value { return value.Strings(ss...) }

// A part is a list of a zone or service. The arguments say what it has to have, and
// whether nothing else.
type part struct {
	key               string
	want              []string
	prune             bool
	show, add, remove string
	isLines           bool // one item a line
}

// ports are the open ports of the zone.
func (a *presentArgs) ports() *part {
	return &part{key: "ports", want: a.Ports, prune: a.PrunePorts, show: "--list-ports", add: "--add-port", remove: "--remove-port"}
}

// parts are the lists of a zone that need nothing else, in Salt's order.
func (a *presentArgs) parts() []part {
	rules := make([]string, len(a.RichRules))
	for i, r := range a.RichRules {
		rules[i] = normal(r)
	}
	return []part{
		{key: "services", want: a.Services, prune: a.PruneServices, show: "--list-services", add: "--add-service", remove: "--remove-service"},
		{key: "interfaces", want: a.Interfaces, prune: a.PruneInterfaces, show: "--list-interfaces", add: "--change-interface", remove: "--remove-interface"},
		{key: "sources", want: a.Sources, prune: a.PruneSources, show: "--list-sources", add: "--add-source", remove: "--remove-source"},
		{key: "rich_rules", want: rules, prune: a.PruneRichRules, show: "--list-rich-rules", add: "--add-rich-rule", remove: "--remove-rich-rule", isLines: true},
	}
}

// current returns the items of a list of the zone.
func (w *work) current(ctx context.Context, show string, isLines bool) ([]string, error) {
	have, err := w.lines(ctx, show)
	if err != nil || isLines {
		return have, err
	}
	return strings.Fields(strings.Join(have, " ")), nil
}

// part manages a list of the zone.
func (w *work) part(ctx context.Context, p *part) error {
	if len(p.want) == 0 && !p.prune {
		return nil
	}
	return w.list(ctx, p)
}

// list makes a list have what it has to have.
func (w *work) list(ctx context.Context, p *part) error {
	have, err := w.current(ctx, p.show, p.isLines)
	if err != nil {
		return err
	}
	changed, err := w.settle(ctx, p.want, have, p.prune, p.add, p.remove)
	if err == nil && changed {
		w.note(p.key, p.want, have, p.prune, list)
	}
	return err
}

// normal returns a rich rule with the quotes that firewall-cmd shows.
func normal(rule string) string {
	words := strings.Split(rule, " ")
	for i, word := range words {
		key, val, ok := strings.Cut(word, "=")
		if !ok || strings.HasPrefix(val, `"`) || strings.HasSuffix(val, `"`) {
			continue
		}
		if len(val) > 1 && val[0] == '\'' && val[len(val)-1] == '\'' {
			val = val[1 : len(val)-1]
		}
		words[i] = key + `="` + val + `"`
	}
	return strings.TrimLeft(strings.Join(words, " "), " ")
}

// icmp manages the ICMP types that the zone blocks.
func (w *work) icmp(ctx context.Context, a *presentArgs) error {
	want, prune := a.BlockICMP, a.PruneBlockICMP
	if len(want) == 0 && !prune {
		return nil
	}
	have, err := w.current(ctx, "--list-icmp-blocks", false)
	if err != nil {
		return err
	}
	if len(want) > 0 {
		known, err := w.words(ctx, "--get-icmptypes")
		if err != nil {
			return err
		}
		want = slices.DeleteFunc(want, func(s string) bool {
			if slices.Contains(known, s) {
				return false
			}
			w.c.Env.Log().Error("invalid ICMP type", "icmp", s)
			return true
		})
	}
	changed, err := w.settle(ctx, want, have, prune, "--add-icmp-block", "--remove-icmp-block")
	if err == nil && changed {
		w.note("icmp_types", want, have, prune, list)
	}
	return err
}

// defaultZone makes the zone the default one.
func (w *work) defaultZone(ctx context.Context, a *presentArgs) error {
	if !a.Default {
		return nil
	}
	have, err := firewalld.Cmd(ctx, w.c.Env, "--get-default-zone")
	if err != nil || have == w.c.Name {
		return err
	}
	if !w.c.Test {
		if _, err := firewalld.Cmd(ctx, w.c.Env, "--set-default-zone="+w.c.Name); err != nil {
			return err
		}
	}
	w.changes.Set("default", value.MapOf("old", have, "new", w.c.Name))
	return nil
}

// masquerade turns masquerading of the zone on or off.
func (w *work) masquerade(ctx context.Context, a *presentArgs) error {
	info, err := w.lines(ctx, "--list-all")
	if err != nil {
		return err
	}
	have := false
	for _, l := range info {
		if k, v, ok := strings.Cut(strings.TrimSpace(l), ":"); ok && k == "masquerade" {
			have = strings.TrimSpace(v) != "no"
		}
	}
	if a.Masquerade == have {
		return nil
	}
	option, said := "--add-masquerade", "Masquerading successfully set."
	if !a.Masquerade {
		option, said = "--remove-masquerade", "Masquerading successfully disabled."
	}
	if err := w.act(ctx, option); err != nil {
		return err
	}
	w.changes.Set("masquerade", value.MapOf("old", "", "new", said))
	return nil
}

// forwarded returns an item of port_fwd as firewall-cmd shows it.
func forwarded(s string) (string, error) {
	f := strings.SplitN(s, ":", 4)
	switch len(f) {
	case 3:
		f = append(f, "")
	case 4:
	default:
		return "", fun.Errorf("invalid port_fwd %s: it is PORT:TOPORT:PROTOCOL or PORT:TOPORT:PROTOCOL:ADDRESS", value.Repr(s))
	}
	return "port=" + f[0] + ":proto=" + f[2] + ":toport=" + f[1] + ":toaddr=" + f[3], nil
}

// showForwards shows forwarded ports as Salt does.
func showForwards(ss []string) value.Value {
	all := value.NewList()
	for _, s := range ss {
		m := value.MapOf("Source port", "", "Destination port", "", "Protocol", "", "Destination address", "")
		for f := range strings.SplitSeq(s, ":") {
			switch k, v, _ := strings.Cut(f, "="); k {
			case "port":
				m.Set("Source port", v)
			case "toport":
				m.Set("Destination port", v)
			case "proto":
				m.Set("Protocol", v)
			case "toaddr":
				_, addr, _ := strings.Cut(s, ":toaddr=") // it may have colons
				m.Set("Destination address", addr)
			}
		}
		all.Append(m)
	}
	return all
}

// forwards manages the forwarded ports of the zone.
func (w *work) forwards(ctx context.Context, a *presentArgs) error {
	want, prune := make([]string, len(a.PortFwd)), a.PrunePortFwd
	if len(want) == 0 && !prune {
		return nil
	}
	for i, s := range a.PortFwd {
		f, err := forwarded(s)
		if err != nil {
			return err
		}
		want[i] = f
	}
	have, err := w.current(ctx, "--list-forward-ports", true)
	if err != nil {
		return err
	}
	changed, err := w.settle(ctx, want, have, prune, "--add-forward-port", "--remove-forward-port")
	if err == nil && changed {
		w.note("port_fwd", want, have, prune, showForwards)
	}
	return err
}

// zone makes the zone as the arguments describe it.
func (w *work) zone(ctx context.Context, a *presentArgs) error {
	zones, err := w.words(ctx, "--get-zones")
	if err != nil {
		return err
	}
	if !slices.Contains(zones, w.c.Name) {
		if w.c.Test {
			w.absent = true
		} else {
			if _, err := firewalld.Cmd(ctx, w.c.Env, "--new-zone="+w.c.Name, "--permanent"); err != nil {
				return err
			}
			if _, err := firewalld.Cmd(ctx, w.c.Env, "--reload"); err != nil {
				return err
			}
		}
		w.changes.Set(w.c.Name, value.MapOf("old", list(zones), "new", w.c.Name))
	}
	for _, step := range [...]func(context.Context, *presentArgs) error{w.icmp, w.defaultZone, w.masquerade} {
		if err := step(ctx, a); err != nil {
			return err
		}
	}
	if err := w.part(ctx, a.ports()); err != nil {
		return err
	}
	if err := w.forwards(ctx, a); err != nil {
		return err
	}
	for _, p := range a.parts() {
		if err := w.part(ctx, &p); err != nil {
			return err
		}
	}
	return nil
}

// failed reports a failure of firewall-cmd; what changed before stays noted.
func (w *work) failed(err error) fun.Ret {
	var cmd *fun.CommandError
	if !errors.As(err, &cmd) {
		return fun.Raise(err)
	}
	ret := fun.Ret{Comment: "Error: " + cmd.Msg}
	if !w.c.Test {
		ret.Changes = w.changes
	}
	return ret
}

// reload loads the permanent configuration where it changed.
func (w *work) reload(ctx context.Context) error {
	if w.c.Test || w.changes.Len() == 0 {
		return nil
	}
	_, err := firewalld.Cmd(ctx, w.c.Env, "--reload")
	return err
}

type presentArgs struct {
	_               fun.Arguments
	_               string   `arg:"name,required" doc:"the zone"`
	BlockICMP       []string `arg:"block_icmp" doc:"ICMP types to block; those that firewalld does not know are left out"`
	PruneBlockICMP  bool     `arg:"prune_block_icmp" default:"False" doc:"block no other ICMP types"`
	Default         bool     `arg:"default" doc:"make this the default zone"`
	Masquerade      bool     `arg:"masquerade" default:"False" doc:"masquerade; False turns it off"`
	Ports           []string `arg:"ports" doc:"ports or ranges with a protocol, such as 80/tcp"`
	PrunePorts      bool     `arg:"prune_ports" default:"False" doc:"close other ports"`
	PortFwd         []string `arg:"port_fwd" doc:"forwarded ports, as PORT:TOPORT:PROTOCOL or PORT:TOPORT:PROTOCOL:ADDRESS"`
	PrunePortFwd    bool     `arg:"prune_port_fwd" default:"False" doc:"forward no other ports"`
	Services        []string `arg:"services" doc:"services to allow"`
	PruneServices   bool     `arg:"prune_services" default:"False" doc:"allow no other services"`
	Interfaces      []string `arg:"interfaces" doc:"interfaces to bind to the zone"`
	PruneInterfaces bool     `arg:"prune_interfaces" default:"False" doc:"remove other interfaces"`
	Sources         []string `arg:"sources" doc:"addresses, networks, MAC addresses or ipset:NAME to bind to the zone"`
	PruneSources    bool     `arg:"prune_sources" default:"False" doc:"remove other sources"`
	RichRules       []string `arg:"rich_rules" doc:"rich rules, in the order of words that firewall-cmd --list-rich-rules shows"`
	PruneRichRules  bool     `arg:"prune_rich_rules" default:"False" doc:"remove other rich rules"`
}

// present creates or updates a zone. Salt: salt/states/firewalld.py present.
// Difference: a dry run of a new zone says what it would have.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	w := &work{c: c, changes: value.NewMap(4), scope: "--zone=" + c.Name}
	err := w.zone(ctx, a)
	if e := w.reload(ctx); err == nil {
		err = e
	}
	switch {
	case err != nil:
		return w.failed(err)
	case w.changes.Len() == 0:
		return fun.Same("'%s' is already in the desired state.", c.Name)
	case c.Test:
		var b strings.Builder
		if err := outputter.Nested(&b, w.changes, &outputter.Options{}); err != nil {
			return fun.Raise(err)
		}
		return fun.Due("Configuration for '%s' will change:\n%s", c.Name, strings.TrimRight(b.String(), " \n"))
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("'%s' was configured.", c.Name), Changes: w.changes}
}

// make gives a service its ports and protocols.
func (w *work) make(ctx context.Context, a *serviceArgs) error {
	services, err := w.words(ctx, "--get-services")
	if err != nil {
		return err
	}
	if !slices.Contains(services, w.c.Name) {
		if w.c.Test {
			w.absent = true
		} else if _, err := firewalld.Cmd(ctx, w.c.Env, "--new-service="+w.c.Name, "--permanent"); err != nil {
			return err
		}
		w.changes.Set("service", value.MapOf("old", nil, "new", w.c.Name))
	}
	for _, p := range [...]part{
		{key: "ports", want: a.Ports, prune: true, show: "--get-ports", add: "--add-port", remove: "--remove-port"},
		{key: "protocols", want: a.Protocols, prune: true, show: "--get-protocols", add: "--add-protocol", remove: "--remove-protocol"},
	} {
		if err := w.list(ctx, &p); err != nil {
			return err
		}
	}
	if w.changes.Has("ports") || w.changes.Has("protocols") {
		w.changes.Delete("service") // Salt shows only what a new service has
	}
	return nil
}

type serviceArgs struct {
	_         fun.Arguments
	_         string   `arg:"name,required" doc:"the service"`
	Ports     []string `arg:"ports" doc:"ports or ranges with a protocol, such as 80/tcp"`
	Protocols []string `arg:"protocols" doc:"protocols"`
}

// service creates or updates a service. Salt: salt/states/firewalld.py service.
// Difference: a dry run creates nothing; a new service without ports is a change.
func service(ctx context.Context, c *fun.Call, a *serviceArgs) fun.Ret {
	w := &work{c: c, changes: value.NewMap(2), scope: "--service=" + c.Name}
	err := w.make(ctx, a)
	if e := w.reload(ctx); err == nil {
		err = e
	}
	switch {
	case err != nil:
		return w.failed(err)
	case w.changes.Len() == 0:
		return fun.Same("'%s' is already in the desired state.", c.Name)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Configuration for '%s' will change.", c.Name), Changes: w.changes}
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("'%s' was configured.", c.Name), Changes: w.changes}
}
