package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// The rules for packets are facts by table (iptables, nftables), set (ipset) or file of a zone
// or service (firewalld): what a program prints of them, and what it reads to have them so.

// textArg is an argument of a state, or what it is where it is missing.
func textArg(c *fun.Chunk, arg, missing string) string {
	if v, ok := c.Low.At(arg).(string); ok && v != "" {
		return v
	}
	return missing
}

// ruleChunks are a chunk of rules, or those that aggregation joined into it.
func ruleChunks(c *fun.Chunk) []*fun.Chunk {
	var out []*fun.Chunk
	if l := c.Low.List("rules"); l != nil {
		for _, x := range l.Items {
			if m, ok := x.(*value.Map); ok {
				out = append(out, &fun.Chunk{State: c.State, Fun: c.Fun, Name: c.Name, Low: m})
			}
		}
		return out
	}
	return []*fun.Chunk{c}
}

func iptablesSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	var out []subject
	for _, x := range ruleChunks(c) {
		if s := (subject{"iptables", textArg(x, "family", "ipv4") + " " + textArg(x, "table", "filter")}); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func nftablesSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	family := textArg(c, "family", "ip")
	switch family {
	case "ipv4", "ip4":
		family = "ip"
	case "ipv6":
		family = "ip6"
	}
	table := textArg(c, "table", "filter")
	if strings.HasPrefix(c.Fun, "table_") {
		table = c.Name
	}
	return []subject{{"nftables", family + " " + table}}
}

func ipsetSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	return []subject{{"ipset", textArg(c, "set_name", c.Name)}}
}

func firewalldSubjects(ctx context.Context, env *fun.Env, c *fun.Chunk) []subject {
	if c.Name != path.Base(c.Name) {
		return nil
	}
	out := []subject{{"firewalld", "/etc/firewalld/zones/" + c.Name + ".xml"}}
	if c.Fun == "service" {
		out = []subject{{"firewalld", "/etc/firewalld/services/" + c.Name + ".xml"}}
	} else if value.Truth(c.Low.At("default")) {
		out = append(out, subject{"firewalld", "default"})
	}
	if value.Truth(c.Low.At("interfaces")) { // they leave the zones in which they are
		zones, _, _ := ask(ctx, env, "firewall-cmd", "--get-zones", "--permanent")
		for zone := range strings.FieldsSeq(zones) {
			if zone != c.Name && zone == path.Base(zone) {
				out = append(out, subject{"firewalld", "/etc/firewalld/zones/" + zone + ".xml"})
			}
		}
	}
	return out
}

// ask runs a program that only looks. ok says that it ended well.
func ask(ctx context.Context, env *fun.Env, argv ...string) (text string, ok bool, err error) {
	out, err := env.Host.Run(ctx, host.Cmd{Argv: argv, ReadOnly: true, Private: true})
	return string(out.Stdout), out.Status == 0, err
}

// tell runs a program that changes something, with its input.
func tell(ctx context.Context, env *fun.Env, stdin string, argv ...string) error {
	out, err := env.Host.Run(ctx, host.Cmd{Argv: argv, Stdin: strings.NewReader(stdin), Private: true})
	if err == nil && out.Status != 0 {
		why, _, _ := strings.Cut(strings.TrimSpace(string(out.Stderr)), "\n")
		err = fun.Errorf("%s failed: %s", argv[0], why)
	}
	return err
}

func iptablesProgram(family string) string {
	if family == "ipv6" {
		return "ip6tables"
	}
	return "iptables"
}

// passing matches what iptables-save prints beside the rules: comments and counters.
var passing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^#.*\n| \[\d+:\d+\]`) })

// untouched matches a chain of the kernel that lets everything pass.
var untouched = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A\*\w+\n(:[A-Z]+ ACCEPT\n)*COMMIT\n\z`) })

// readIptables returns the rules of a table. One without rules is as one that is not there:
// to look at it makes it.
func readIptables(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	family, table, _ := strings.Cut(name, " ")
	text, ok, err := ask(ctx, env, iptablesProgram(family)+"-save", "-t", table)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fun.Errorf("%s-save failed", iptablesProgram(family))
	}
	text = passing().ReplaceAllString(text, "")
	if untouched().MatchString(text) {
		text = ""
	}
	return value.MapOf("rules", text), nil
}

// restoreIptables has a table have the rules that it had; those of others stay.
func restoreIptables(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	family, table, _ := strings.Cut(f.Name, " ")
	text := f.Was.Str("rules")
	if text == "" {
		text = "*" + table + "\n"
		for line := range strings.Lines(now.Str("rules")) {
			if chain, policy, _ := strings.Cut(line, " "); strings.HasPrefix(line, ":") && strings.TrimSpace(policy) != "-" {
				text += chain + " ACCEPT\n"
			}
		}
		text += "COMMIT\n"
	}
	var b strings.Builder
	for line := range strings.Lines(text) { // a chain without counters is not read
		if strings.HasPrefix(line, ":") {
			line = strings.TrimSuffix(line, "\n") + " [0:0]\n"
		}
		b.WriteString(line)
	}
	return tell(ctx, env, b.String(), iptablesProgram(family)+"-restore", "-T", table)
}

func readNftables(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	family, table, _ := strings.Cut(name, " ")
	all, ok, err := ask(ctx, env, "nft", "list", "tables")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("nft list tables failed")
	}
	if !slices.Contains(strings.Split(all, "\n"), "table "+name) {
		return nil, nil
	}
	text, ok, err := ask(ctx, env, "nft", "--stateless", "list", "table", family, table)
	if err == nil && !ok {
		err = errors.New("nft list table failed")
	}
	return value.MapOf("rules", text), err
}

func restoreNftables(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	text := f.Was.Str("rules")
	if now != nil {
		text = "delete table " + f.Name + "\n" + text
	}
	return tell(ctx, env, text, "nft", "-f", "-")
}

func readIpset(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	names, ok, err := ask(ctx, env, "ipset", "list", "-name")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("ipset list failed")
	}
	if !slices.Contains(strings.Split(names, "\n"), name) {
		return nil, nil
	}
	text, ok, err := ask(ctx, env, "ipset", "save", name)
	if err == nil && !ok {
		err = errors.New("ipset save failed")
	}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 1 {
		slices.Sort(lines[1:]) // entries have no order; the set comes first
	}
	return value.MapOf("rules", strings.Join(lines, "")), err
}

func restoreIpset(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	switch {
	case f.Was == nil:
		return tell(ctx, env, "", "ipset", "destroy", f.Name)
	case now == nil:
		return tell(ctx, env, f.Was.Str("rules"), "ipset", "restore")
	}
	_, entries, _ := strings.Cut(f.Was.Str("rules"), "\n")
	return tell(ctx, env, "flush "+f.Name+"\n"+entries, "ipset", "restore")
}

// readFirewalld returns the file of a zone or service, or the default zone.
func readFirewalld(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	if path.IsAbs(name) {
		text, err := env.Host.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return value.MapOf("rules", string(text)), err
	}
	text, ok, err := ask(ctx, env, "firewall-cmd", "--get-default-zone")
	if err == nil && !ok {
		err = errors.New("firewall-cmd failed")
	}
	return value.MapOf("rules", strings.TrimSpace(text)), err
}

func restoreFirewalld(ctx context.Context, env *fun.Env, f *Fact, _ *value.Map) error {
	switch {
	case f.Name == "default":
		return tell(ctx, env, "", "firewall-cmd", "--set-default-zone="+f.Was.Str("rules"))
	case f.Was == nil:
		if err := env.Host.Remove(f.Name); err != nil {
			return err
		}
	default:
		if err := env.Host.WriteFile(f.Name, strings.NewReader(f.Was.Str("rules")), host.WriteOptions{Sync: true}); err != nil {
			return err
		}
	}
	return tell(ctx, env, "", "firewall-cmd", "--reload")
}

// packetKind returns a kind of facts about rules for packets.
func packetKind(what string, read func(context.Context, *fun.Env, string) (*value.Map, error), restore func(context.Context, *fun.Env, *Fact, *value.Map) error) kind {
	return kind{read: read, restore: restore, describe: func(name string) string { return fmt.Sprintf("%s %s", what, name) }}
}

// ruleChanges says which lines would go and come.
func ruleChanges(now, was *value.Map) *value.Map {
	less := func(a, b *value.Map) *value.List {
		out, have := value.NewList(), strings.Split(b.Str("rules"), "\n")
		for line := range strings.SplitSeq(a.Str("rules"), "\n") {
			if line != "" && !slices.Contains(have, line) && out.Len() < 50 {
				out.Append(strings.TrimSpace(line))
			}
		}
		return out
	}
	return value.MapOf("rules", value.MapOf("old", less(now, was), "new", less(was, now)))
}
