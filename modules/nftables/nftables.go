// Package nftables is Salt's execution module "nftables": the rules of the kernel's
// packet filter. States use [For].
package nftables

import (
	"context"
	"path"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "nftables".
func Module() fun.Module {
	return fun.Module{Name: "nftables", Kind: fun.Exec, Doc: "Manage the rules of nftables.", Avail: tool.Needs("nft", "The nftables execution module failed to load: nftables is not installed."), Specs: specs}
}

// allFamilies are those of nft, in the order in which rules are saved.
var allFamilies = [...]string{"ip", "ip6", "inet", "arp", "bridge", "netdev"}

// nftFamily returns the name that nft has for a family.
func nftFamily(family string) string {
	switch family {
	case "ipv4", "ip4":
		return "ip"
	case "ipv6":
		return "ip6"
	}
	return family
}

// A Ruleset is the rules of one family.
type Ruleset struct {
	env    *fun.Env
	family string // as it was named
	nft    string // as nft names it
	// Status is the exit status of the last nft, which Salt keeps as that of the
	// function.
	Status int
}

// For returns the rules of a family.
func For(env *fun.Env, family string) *Ruleset {
	return &Ruleset{env: env, family: family, nft: nftFamily(family)}
}

// An Answer is what most functions of the module return.
type Answer struct {
	OK      bool
	Comment string
}

func (a Answer) value() *value.Map { return value.MapOf("comment", a.Comment, "result", a.OK) }

func no(parts ...string) Answer { return Answer{Comment: strings.Join(parts, "")} }

func yes(parts ...string) Answer { return Answer{OK: true, Comment: strings.Join(parts, "")} }

// at returns " in table T in family F".
func (r *Ruleset) at(table string) string { return " in table " + table + " in family " + r.family }

// named refuses what cannot be the name of a table or chain.
func named(what, name string) error {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	if name == "" || name[0] == '-' || strings.Trim(name, chars) != "" {
		return fun.Errorf("invalid name of a %s: %s", what, value.Repr(name))
	}
	return nil
}

// word refuses what is to be a single word of a command of nft.
func word(what, s string) error {
	if s == "" || strings.ContainsAny(s, ";{}\"\r\n\t\x00#") {
		return fun.Errorf("invalid %s: %s", what, value.Repr(s))
	}
	return nil
}

// run runs nft with options and one command.
func (r *Ruleset) run(ctx context.Context, options []string, command ...string) (tool.Out, error) {
	argv := append([]string{"nft"}, options...)
	out, err := tool.Run(ctx, r.env.Host, append(argv, strings.Join(command, " "))...)
	r.Status = out.Status
	return out, err
}

// change runs a command that nft answers with silence.
func (r *Ruleset) change(ctx context.Context, command ...string) (bool, error) {
	out, err := r.run(ctx, nil, command...)
	if err == nil && !out.OK() {
		r.env.Log().Error("nft failed", "command", strings.Join(command, " "), "err", out.Fault())
	}
	return out.OK(), err
}

// HasTable says whether there is a table.
func (r *Ruleset) HasTable(ctx context.Context, table string) (Answer, error) {
	if table == "" {
		return no("Table needs to be specified"), nil
	}
	if err := named("table", table); err != nil {
		return Answer{}, err
	}
	out, err := r.run(ctx, nil, "list tables", r.nft)
	for l := range strings.Lines(out.Stdout) {
		if strings.TrimSpace(l) == "table "+r.nft+" "+table {
			return yes("Table ", table, " in family ", r.family, " exists"), err
		}
	}
	return no("Table ", table, " in family ", r.family, " does not exist"), err
}

// HasChain says whether a table has a chain.
func (r *Ruleset) HasChain(ctx context.Context, table, chain string) (Answer, error) {
	if chain == "" {
		return no("Chain needs to be specified"), nil
	}
	if err := named("table", table); err != nil {
		return Answer{}, err
	}
	if err := named("chain", chain); err != nil {
		return Answer{}, err
	}
	out, err := r.run(ctx, nil, "list table", r.nft, table)
	for l := range strings.Lines(out.Stdout) {
		if strings.TrimSpace(l) == "chain "+chain+" {" {
			return yes("Chain ", chain, r.at(table), " exists"), err
		}
	}
	return no("Chain ", chain, r.at(table), " does not exist"), err
}

// has says whether table and chain are there.
func (r *Ruleset) has(ctx context.Context, table, chain string) (Answer, error) {
	if chain == "" {
		return no("Chain needs to be specified"), nil
	}
	if a, err := r.HasTable(ctx, table); err != nil || !a.OK {
		return a, err
	}
	return r.HasChain(ctx, table, chain)
}

// find returns the handle of a rule in a chain that exists; "" is none.
func (r *Ruleset) find(ctx context.Context, table, chain, rule string) (string, error) {
	if err := oneLine(rule); err != nil {
		return "", err
	}
	out, err := r.run(ctx, []string{"--handle", "--numeric", "--numeric", "--numeric"}, "list chain", r.nft, table, chain)
	if err != nil {
		return "", err
	}
	empty := true
	for l := range strings.Lines(out.Stdout) {
		have, handle, ok := strings.Cut(strings.TrimSpace(l), " # handle ")
		if ok && have == rule {
			return handle, nil
		}
		empty = empty && (!ok || strings.HasSuffix(have, "{"))
	}
	if empty {
		return "", nil
	}
	want, err := r.run(ctx, []string{"--check", "--debug=netlink"}, "add rule", r.nft, table, chain, rule)
	if err != nil || !want.OK() {
		return "", err
	}
	have, err := r.run(ctx, []string{"--handle", "--debug=netlink"}, "list chain", r.nft, table, chain)
	if err != nil {
		return "", err
	}
	head := r.nft + " " + table + " " + chain
	code := ""
	for _, c := range readCode(want.Stdout, head) {
		if c.handle == "" {
			code = c.code
		}
	}
	if code == "" {
		return "", nil
	}
	for _, c := range readCode(have.Stdout, head) {
		if c.handle != "" && c.code == code {
			return c.handle, nil
		}
	}
	return "", nil
}

// oneLine refuses a rule that nft would read as several commands.
func oneLine(rule string) error {
	if strings.ContainsAny(rule, "\r\n\x00") {
		return fun.Errorf("the rule %s is not a single line", value.Repr(rule))
	}
	return nil
}

// Check says whether a chain has a rule, however it is written.
func (r *Ruleset) Check(ctx context.Context, table, chain, rule string) (Answer, error) {
	a, _, err := r.check(ctx, table, chain, rule)
	return a, err
}

func (r *Ruleset) check(ctx context.Context, table, chain, rule string) (a Answer, handle string, err error) {
	switch {
	case chain == "":
		return no("Chain needs to be specified"), "", nil
	case rule == "":
		return no("Rule needs to be specified"), "", nil
	}
	if a, err := r.has(ctx, table, chain); err != nil || !a.OK {
		return a, "", err
	}
	handle, err = r.find(ctx, table, chain, rule)
	if handle == "" {
		return no("Rule ", rule, " in chain ", chain, r.at(table), " does not exist"), "", err
	}
	return yes("Rule ", rule, " in chain ", chain, r.at(table), " exists"), handle, err
}

// NewTable creates a table.
func (r *Ruleset) NewTable(ctx context.Context, table string) (Answer, error) {
	a, err := r.HasTable(ctx, table)
	if err != nil || a.OK || table == "" {
		return a, err
	}
	ok, err := r.change(ctx, "add table", r.nft, table)
	if !ok {
		return no("Table ", table, " in family ", r.family, " could not be created"), err
	}
	return yes("Table ", table, " in family ", r.family, " created"), err
}

// DeleteTable deletes a table with its chains.
func (r *Ruleset) DeleteTable(ctx context.Context, table string) (Answer, error) {
	a, err := r.HasTable(ctx, table)
	if err != nil || !a.OK {
		return a, err
	}
	ok, err := r.change(ctx, "delete table", r.nft, table)
	if !ok {
		return no("Table ", table, " in family ", r.family, " could not be deleted"), err
	}
	return yes("Table ", table, " in family ", r.family, " deleted"), err
}

// A Hook makes a chain a base chain; the zero Hook does not.
type Hook struct{ Type, Hook, Priority string }

// NewChain creates a chain.
func (r *Ruleset) NewChain(ctx context.Context, table, chain string, hook Hook) (Answer, error) {
	if chain == "" {
		return no("Chain needs to be specified"), nil
	}
	if a, err := r.HasTable(ctx, table); err != nil || !a.OK {
		return a, err
	}
	if a, err := r.HasChain(ctx, table, chain); err != nil || a.OK {
		return no("Chain ", chain, r.at(table), " already exists"), err
	}
	command := []string{"add chain", r.nft, table, chain}
	if hook != (Hook{}) {
		if hook.Type == "" || hook.Hook == "" || hook.Priority == "" {
			return no("Table_type, hook, and priority required."), nil
		}
		for _, w := range [...][2]string{{"table_type", hook.Type}, {"hook", hook.Hook}, {"priority", hook.Priority}} {
			if err := word(w[0], w[1]); err != nil {
				return Answer{}, err
			}
		}
		command = append(command, "{ type "+hook.Type+" hook "+hook.Hook+" priority "+hook.Priority+"; }")
	}
	ok, err := r.change(ctx, command...)
	if !ok {
		return no("Chain ", chain, r.at(table), " could not be created"), err
	}
	return yes("Chain ", chain, r.at(table), " created"), err
}

// DeleteChain deletes a chain.
func (r *Ruleset) DeleteChain(ctx context.Context, table, chain string) (Answer, error) {
	if a, err := r.has(ctx, table, chain); err != nil || !a.OK {
		return a, err
	}
	ok, err := r.change(ctx, "delete chain", r.nft, table, chain)
	if !ok {
		return no("Chain ", chain, r.at(table), " could not be deleted"), err
	}
	return yes("Chain ", chain, r.at(table), " deleted"), err
}

// Add adds a rule to a chain: by the command "add", or by "insert" before the rule
// with a handle, 0 for the first place.
func (r *Ruleset) Add(ctx context.Context, command, table, chain string, position int64, rule string) (Answer, error) {
	a, err := r.Check(ctx, table, chain, rule)
	switch {
	case err != nil:
		return a, err
	case a.OK:
		return no("Rule ", rule, " chain ", chain, r.at(table), " already exists"), nil
	case chain == "" || rule == "":
		return a, nil
	}
	if a, err := r.has(ctx, table, chain); err != nil || !a.OK {
		return a, err
	}
	words := []string{command, "rule", r.nft, table, chain}
	if position != 0 {
		words = append(words, "position", strconv.FormatInt(position, 10))
	}
	ok, err := r.change(ctx, append(words, rule)...)
	if !ok {
		return no(`Failed to add rule "`, rule, `" chain `, chain, r.at(table), "."), err
	}
	return yes(`Added rule "`, rule, `" chain `, chain, r.at(table), "."), err
}

// HasHandle reports whether a chain has a rule with a handle.
func (r *Ruleset) HasHandle(ctx context.Context, table, chain string, handle int64) (bool, error) {
	if a, err := r.has(ctx, table, chain); err != nil || !a.OK {
		return false, err
	}
	out, err := r.run(ctx, []string{"--handle"}, "list chain", r.nft, table, chain)
	for l := range strings.Lines(out.Stdout) {
		have, h, ok := strings.Cut(strings.TrimSpace(l), " # handle ")
		if ok && h == strconv.FormatInt(handle, 10) && !strings.HasSuffix(have, "{") {
			return true, err
		}
	}
	return false, err
}

// Delete deletes a rule of a chain, by its text or, where that is empty, by its
// handle.
func (r *Ruleset) Delete(ctx context.Context, table, chain string, position int64, rule string) (Answer, error) {
	if position != 0 && rule != "" {
		return no("Only specify a position or a rule, not both"), nil
	}
	handle := strconv.FormatInt(position, 10)
	shown := rule
	if position == 0 {
		a, h, err := r.check(ctx, table, chain, rule)
		if err != nil || !a.OK {
			if chain != "" && rule != "" && strings.HasPrefix(a.Comment, "Rule ") {
				a.Comment = "Rule " + rule + " chain " + chain + r.at(table) + " does not exist"
			}
			return a, err
		}
		handle = h
	} else {
		if a, err := r.has(ctx, table, chain); err != nil || !a.OK {
			return a, err
		}
		shown = "handle " + handle
		there, err := r.HasHandle(ctx, table, chain, position)
		if !there {
			return no("Rule ", shown, " chain ", chain, r.at(table), " does not exist"), err
		}
	}
	ok, err := r.change(ctx, "delete rule", r.nft, table, chain, "handle", handle)
	if !ok {
		return no(`Failed to delete rule "`, shown, `" in chain `, chain, "  table ", table, " in family ", r.family), err
	}
	return yes(`Deleted rule "`, shown, `" in chain `, chain, r.at(table), "."), err
}

// Flush deletes the rules of a chain; "" is all chains of the table.
func (r *Ruleset) Flush(ctx context.Context, table, chain string) (Answer, error) {
	if a, err := r.HasTable(ctx, table); err != nil || !a.OK {
		return a, err
	}
	command, from := []string{"flush table", r.nft, table}, "from table "+table+" in family "+r.family+"."
	if chain != "" {
		if a, err := r.HasChain(ctx, table, chain); err != nil || !a.OK {
			return a, err
		}
		command, from = []string{"flush chain", r.nft, table, chain}, "from chain "+chain+r.at(table)+"."
	}
	ok, err := r.change(ctx, command...)
	if !ok {
		return no("Failed to flush rules ", from), err
	}
	return yes("Flushed rules ", from), err
}

// items runs nft for a list in JSON; what cannot be read is an empty list.
func (r *Ruleset) items(ctx context.Context, command ...string) ([]value.Value, error) {
	out, err := r.run(ctx, []string{"--json", "--numeric", "--numeric", "--numeric"}, append(command, r.nft)...)
	if err != nil || !out.OK() {
		return nil, err
	}
	v, err := value.ParseJSON(out.Stdout)
	if err != nil {
		return nil, nil // Salt: no list
	}
	m, _ := v.(*value.Map)
	if m == nil || m.List("nftables") == nil {
		return nil, nil
	}
	return m.List("nftables").Items, nil
}

// Tables returns the tables, as nft describes them.
func (r *Ruleset) Tables(ctx context.Context) ([]*value.Map, error) {
	items, err := r.items(ctx, "list tables")
	var out []*value.Map
	for _, x := range items {
		if m, ok := x.(*value.Map); ok && m.Map("table") != nil {
			out = append(out, m.Map("table"))
		}
	}
	return out, err
}

// Rules returns the tables with their chains and rules, as nft prints them.
func (r *Ruleset) Rules(ctx context.Context) ([]string, error) {
	tables, err := r.Tables(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range tables {
		name := t.Str("name")
		if err := named("table", name); err != nil {
			return nil, err
		}
		text, err := r.run(ctx, []string{"--numeric", "--numeric", "--numeric"}, "list table", r.nft, name)
		if err != nil {
			return nil, err
		}
		out = append(out, text.Text())
	}
	return out, nil
}

// chain returns a chain as nft describes it; nil is none.
func (r *Ruleset) chain(ctx context.Context, table, chain string) (*value.Map, error) {
	items, err := r.items(ctx, "list ruleset")
	for _, x := range items {
		m, ok := x.(*value.Map)
		if !ok || m.Map("chain") == nil {
			continue
		}
		if c := m.Map("chain"); c.Str("table") == table && c.Str("name") == chain {
			return c, err
		}
	}
	return nil, err
}

// Policy returns the policy of a chain; "" where it has none.
func (r *Ruleset) Policy(ctx context.Context, table, chain string) (string, error) {
	c, err := r.chain(ctx, table, chain)
	if c == nil {
		return "", err
	}
	return c.Str("policy"), err
}

// SetPolicy sets the policy of a base chain. It returns false where there is no such
// chain, or nft fails.
func (r *Ruleset) SetPolicy(ctx context.Context, table, chain, policy string) (bool, error) {
	if err := word("policy", policy); err != nil {
		return false, err
	}
	c, err := r.chain(ctx, table, chain)
	if c == nil || !c.Has("type") || !c.Has("hook") || !c.Has("prio") {
		return false, err
	}
	return r.change(ctx, "add chain", r.nft, table, chain,
		"{ type "+c.Str("type")+" hook "+c.Str("hook")+" priority "+value.Str(c.At("prio"))+"; policy "+policy+"; }")
}

// file returns the file or directory of rules of this system; "" is none.
func file(env *fun.Env) string {
	switch machine.Grain(env, "os_family") {
	case "RedHat", "Arch", "Debian":
		return "/etc/nftables"
	}
	if machine.Grain(env, "os") == "Gentoo" {
		return "/etc/nftables"
	}
	return ""
}

// Save writes the rules of all families to a file; "" is that of this system. It
// returns what it wrote.
func Save(ctx context.Context, env *fun.Env, filename string) (string, error) {
	if filename == "" {
		filename = file(env)
	}
	if filename == "" {
		return "", fun.Errorf("Problem writing to configuration file: this system has no file of rules, filename is needed")
	}
	var b strings.Builder
	b.WriteString("#! nft -f\n")
	for _, family := range allFamilies {
		rules, err := For(env, family).Rules(ctx)
		if err != nil {
			return "", err
		}
		if len(rules) > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.Join(rules, "\n"))
	}
	b.WriteString("\n")
	if st, err := env.Host.Stat(filename); err == nil && st.Mode.IsDir() {
		filename = path.Join(filename, "salt-all-in-one.nft")
	}
	if err := textfile.Write(env.Host, filename, b.String()); err != nil {
		return "", fun.Errorf("Problem writing to configuration file: %v", err)
	}
	return b.String(), nil
}
