// Package iptables is Salt's execution module "iptables": the rules of the
// kernel's packet filter. States use [For].
package iptables

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "iptables".
func Module() fun.Module {
	return fun.Module{Name: "iptables", Kind: fun.Exec, Doc: "Manage the rules of iptables.", Avail: tool.Needs("iptables", "The iptables execution module cannot be loaded: iptables not installed."), Specs: specs}
}

// Tables are the tables of one family of addresses.
type Tables struct {
	env    *fun.Env
	Family string // "ipv4" or "ipv6"
	path   string // of iptables or ip6tables
	// Status is the exit status of the last program, which Salt keeps as that of
	// the function.
	Status int
	// Stderr is what the last program printed on stderr.
	Stderr string
}

// For returns the tables of a family. It fails where its program is missing.
func For(env *fun.Env, family string) (*Tables, error) {
	name := "iptables"
	if family == "ipv6" {
		name = "ip6tables"
	}
	p, err := env.Host.LookPath(name, "")
	if err != nil {
		return nil, fun.Errorf("%s is not installed", name)
	}
	return &Tables{env: env, Family: family, path: p}, nil
}

// run runs a program.
func (t *Tables) run(ctx context.Context, argv ...string) (tool.Out, error) {
	out, err := tool.Run(ctx, t.env.Host, argv...)
	t.Status, t.Stderr = out.Status, strings.TrimRight(out.Stderr, " \t\r\n\v\f")
	return out, err
}

type helpKey struct{ path string }

// can reports whether the program has an option.
func (t *Tables) can(ctx context.Context, option string) (bool, error) {
	if memo := t.env.Memo; memo != nil {
		if v, ok := memo.Load(helpKey{t.path}); ok {
			return strings.Contains(v.(string), option), nil
		}
	}
	out, err := tool.Look(ctx, t.env.Host, t.path, "--help")
	if err != nil {
		return false, err
	}
	help := out.Stdout
	if t.env.Memo != nil && out.Status == 0 {
		t.env.Memo.Store(helpKey{t.path}, help)
	}
	return strings.Contains(help, option), nil
}

// wait returns the option that waits for another iptables to finish, or "".
func (t *Tables) wait(ctx context.Context) (string, error) {
	ok, err := t.can(ctx, "--wait")
	if !ok {
		return "", err
	}
	return "--wait", err
}

// named refuses what is not the name of a table or chain.
func named(what, name string) error {
	if name == "" || name[0] == '-' || strings.ContainsAny(name, " \t\r\n\x00") {
		return fun.Errorf("invalid name of a %s: %s", what, value.Repr(name))
	}
	return nil
}

// change runs iptables for a table with arguments that follow it.
func (t *Tables) change(ctx context.Context, table string, args ...string) (tool.Out, error) {
	if err := named("table", table); err != nil {
		return tool.Out{}, err
	}
	argv := []string{t.path}
	w, err := t.wait(ctx)
	if err != nil {
		return tool.Out{}, err
	}
	if w != "" {
		argv = append(argv, w)
	}
	return t.run(ctx, append(append(argv, "-t", table), args...)...)
}

// ruleChange runs iptables with a command about a rule.
func (t *Tables) ruleChange(ctx context.Context, table string, args []string, rule string) error {
	words, err := proc.Split(rule)
	if err != nil {
		return fun.Errorf("cannot split the rule %s into words: %v", value.Repr(rule), err)
	}
	_, err = t.change(ctx, table, append(args, words...)...)
	return err
}

// saved returns the rules of a table, or of all, as iptables-save writes them.
func (t *Tables) saved(ctx context.Context, table string) (string, error) {
	argv := []string{t.path + "-save"}
	if table != "" {
		if err := named("table", table); err != nil {
			return "", err
		}
		argv = append(argv, "-t", table)
	}
	out, err := t.run(ctx, argv...)
	return out.Text(), err
}

// Check reports whether a rule is in a chain.
func (t *Tables) Check(ctx context.Context, table, chain, rule string) (bool, error) {
	if err := errors.Join(named("table", table), named("chain", chain)); err != nil {
		return false, err
	}
	ok, err := t.can(ctx, "--check")
	if err != nil {
		return false, err
	}
	if !ok {
		return t.checkSaved(ctx, table, chain, rule)
	}
	words, err := proc.Split(rule)
	if err != nil {
		return false, fun.Errorf("cannot split the rule %s into words: %v", value.Repr(rule), err)
	}
	out, err := t.run(ctx, append([]string{t.path, "-t", table, "-C", chain}, words...)...)
	return out.OK(), err
}

// scratch is the chain in which old versions of iptables write a rule, to see how
// it is saved.
const scratch = "brine-check"

// checkSaved is Check for an iptables without --check.
func (t *Tables) checkSaved(ctx context.Context, table, chain, rule string) (bool, error) {
	if out, err := t.change(ctx, table, "-N", scratch); err != nil || !out.OK() {
		return false, err
	}
	err := t.ruleChange(ctx, table, []string{"-A", scratch}, rule)
	text := ""
	if err == nil {
		text, err = t.saved(ctx, table)
	}
	for _, command := range []string{"-F", "-X"} {
		if _, e := t.change(ctx, table, command, scratch); err == nil {
			err = e
		}
	}
	if err != nil {
		return false, err
	}
	there, want := map[string]bool{}, ""
	for _, l := range textfile.Lines(text) {
		there[l] = true
		if r, ok := strings.CutPrefix(l, "-A "+scratch+" "); ok {
			want = "-A " + chain + " " + r
		}
	}
	return want != "" && there[want], nil
}

// HasChain reports whether a table has a chain.
func (t *Tables) HasChain(ctx context.Context, table, chain string) (bool, error) {
	text, err := t.saved(ctx, table)
	return strings.Contains(text, ":"+chain+" "), err
}

// Chain runs a command about a chain: "-N", "-X", or "-F" with "" for all chains.
// It returns what iptables says about a failure, "" for success.
func (t *Tables) Chain(ctx context.Context, command, table, chain string) (string, error) {
	args := []string{command}
	if chain != "" {
		if err := named("chain", chain); err != nil {
			return "", err
		}
		args = append(args, chain)
	}
	_, err := t.change(ctx, table, args...)
	return t.Stderr, err
}

// Append adds a rule to the end of a chain. It returns false where the rule is
// there, or iptables complains.
func (t *Tables) Append(ctx context.Context, table, chain, rule string) (bool, error) {
	if ok, err := t.Check(ctx, table, chain, rule); ok || err != nil {
		return false, err
	}
	err := t.ruleChange(ctx, table, []string{"-A", chain}, rule)
	return err == nil && t.Stderr == "", err
}

// Insert puts a rule at a position of a chain; a negative one counts from its end.
// It returns what iptables says about a failure, or "". there says that the chain
// has the rule, so that nothing was done.
func (t *Tables) Insert(ctx context.Context, table, chain string, position int64, rule string) (fault string, there bool, err error) {
	if err := named("chain", chain); err != nil {
		return "", false, err
	}
	if position < 0 {
		tables, err := t.Rules(ctx)
		if err != nil {
			return "", false, err
		}
		var rules *value.List
		if c := tables.Map(table); c != nil && c.Map(chain) != nil {
			rules = c.Map(chain).List("rules")
		}
		if rules == nil {
			return "", false, fun.Errorf("table %s has no chain %s", table, chain)
		}
		position = max(int64(rules.Len())+position+1, 1)
	}
	if ok, err := t.Check(ctx, table, chain, rule); ok || err != nil {
		return "", ok, err
	}
	err = t.ruleChange(ctx, table, []string{"-I", chain, strconv.FormatInt(position, 10)}, rule)
	return t.Stderr, false, err
}

// Delete removes a rule from a chain, by its text or its position. It returns what
// iptables says about a failure, or "".
func (t *Tables) Delete(ctx context.Context, table, chain, rule string) (string, error) {
	if err := named("chain", chain); err != nil {
		return "", err
	}
	err := t.ruleChange(ctx, table, []string{"-D", chain}, rule)
	return t.Stderr, err
}

// SetPolicy sets what a chain does with packets that no rule matches. It returns what
// iptables says about a failure, or "".
func (t *Tables) SetPolicy(ctx context.Context, table, chain, policy string) (string, error) {
	if err := errors.Join(named("chain", chain), named("policy", policy)); err != nil {
		return "", err
	}
	_, err := t.change(ctx, table, "-P", chain, policy)
	return t.Stderr, err
}

// Rules returns the rules of the kernel.
func (t *Tables) Rules(ctx context.Context) (*value.Map, error) {
	text, err := t.saved(ctx, "")
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// SavedRules returns the rules of a file; "" is the one that this system reads at
// its start.
func (t *Tables) SavedRules(file string) (*value.Map, error) {
	if file == "" {
		f, err := t.file()
		if err != nil {
			return nil, err
		}
		file = f
	}
	text, err := t.env.Host.ReadFile(file)
	if err != nil {
		return nil, fun.Errorf("Could not read from file: %s", file)
	}
	return Parse(value.DecodeReplace(text))
}

// Policy returns the policy of a chain; nil where there is no such chain.
func Policy(tables *value.Map, table, chain string) value.Value {
	if t := tables.Map(table); t != nil && t.Map(chain) != nil {
		return t.Map(chain).At("policy")
	}
	return nil
}

// file returns the file of rules that this system reads at its start.
// Salt: salt/modules/iptables.py _conf.
func (t *Tables) file() (string, error) {
	v4, v6 := "", ""
	family, system := machine.Grain(t.env, "os_family"), machine.Grain(t.env, "os")
	switch {
	case family == "RedHat":
		v4, v6 = "/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables"
	case family == "Arch", family == "Void":
		v4, v6 = "/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"
	case family == "Debian":
		v4, v6 = "/etc/iptables/rules.v4", "/etc/iptables/rules.v6"
	case system == "Gentoo":
		v4, v6 = "/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save"
	case family == "Suse":
		v4 = "/etc/sysconfig/scripts/SuSEfirewall2-custom"
		v6 = v4
	case system == "Alpine":
		v4, v6 = "/etc/iptables/rules-save", "/etc/iptables/rules6-save"
	case family == "NILinuxRT":
		v4, v6 = "/etc/natinst/share/iptables.conf", "/etc/natinst/share/ip6tables.conf"
	default:
		return "", fun.Errorf("Saving iptables to file is not supported on %s. Please file an issue with SaltStack", system)
	}
	if t.Family == "ipv6" {
		return v6, nil
	}
	return v4, nil
}

// filtered drops the lines that a pattern of the option iptables.save_filters
// matches.
func (t *Tables) filtered(ctx context.Context, text string) (string, error) {
	res, err := t.env.Exec(ctx, "config.option", nil, "iptables.save_filters", value.NewList())
	if _, missing := errors.AsType[*fun.NotFoundError](err); missing {
		return text, nil
	}
	if err != nil {
		return "", err
	}
	list := []value.Value{}
	switch v := res.(type) {
	case *value.List:
		list = v.Items
	case string:
		if v != "" {
			list = append(list, v)
		}
	}
	for _, x := range list {
		re, err := pyre.Compile(value.Str(x), 0)
		if err != nil {
			t.env.Log().Warn("iptables.save_filters: skipping a pattern", "pattern", value.Str(x), "err", err)
			continue
		}
		var kept []string
		for _, l := range value.SplitLines(text, true) {
			hit, err := re.Has(l)
			if err != nil {
				return "", err
			}
			if !hit {
				kept = append(kept, l)
			}
		}
		text = strings.Join(kept, "")
	}
	return text, nil
}

// Save writes the rules of the kernel to a file; "" is the one that this system
// reads at its start. It returns what was done.
func (t *Tables) Save(ctx context.Context, file string) (string, error) {
	if file == "" {
		f, err := t.file()
		if err != nil {
			return "", err
		}
		file = f
	}
	text, err := t.saved(ctx, "")
	if err != nil {
		return "", err
	}
	if t.Status != 0 {
		return "", fun.Errorf("cannot save the rules: %s", t.Stderr)
	}
	if text, err = t.filtered(ctx, text); err != nil {
		return "", err
	}
	h := t.env.Host
	if err := h.MkdirAll(path.Dir(file), 0o755); err != nil {
		return "", fun.Errorf("Could not write to file: %s", host.OSError(err))
	}
	if err := textfile.Write(h, file, text+"\n"); err != nil {
		return "", fun.Errorf("Could not write to file: %s", host.OSError(err))
	}
	return `Wrote 1 lines to "` + file + `"`, nil
}

// Differs reports whether a file has other rules than the kernel, or is missing.
func (t *Tables) Differs(ctx context.Context, file string) (bool, error) {
	text, err := t.saved(ctx, "")
	if err != nil {
		return false, err
	}
	if text, err = t.filtered(ctx, text); err != nil {
		return false, err
	}
	now, err := Parse(text)
	if err != nil {
		return false, err
	}
	if file == "" {
		if file, err = t.file(); err != nil {
			return false, err
		}
	}
	if _, err := t.env.Host.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	kept, err := t.SavedRules(file)
	if err != nil {
		return false, err
	}
	return !value.Equal(rulesOf(now), rulesOf(kept)), nil
}
