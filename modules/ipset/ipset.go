// Package ipset is Salt's execution module "ipset": sets of addresses, networks and
// ports that rules of firewalls name.
//
// [Client] runs ipset(8); the state module "ipset" uses it, too.
package ipset

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "ipset".
func Module() fun.Module {
	return fun.Module{Name: "ipset", Kind: fun.Exec, Doc: "Manage sets of addresses of firewalls.", Avail: tool.Needs("ipset", "The ipset execution modules cannot be loaded: ipset binary not in path."), Specs: specs}
}

// A Client manages the sets of a machine.
type Client struct{ Env *fun.Env }

// run runs ipset(8). What it says where it fails is an error.
func (s Client) run(ctx context.Context, args ...string) error {
	out, err := tool.Merged(ctx, s.Env.Host, append([]string{"ipset"}, args...)...)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("%s", out.Text)
	}
	return err
}

// checkWords refuses what ipset(8) would take for an option.
func checkWords(words ...string) error {
	for _, w := range words {
		if w == "" || strings.HasPrefix(w, "-") || strings.ContainsAny(w, "\x00\n") {
			return fun.Errorf("invalid name or entry %s", value.Repr(w))
		}
	}
	return nil
}

// A Set is a set as ipset(8) lists it.
type Set struct {
	Name    string
	Info    *value.Map // Name, Type, Header ... in their order
	Members []string
}

// Type returns the type of the set, such as hash:ip,port.
func (s *Set) Type() string { return s.Info.Str("Type") }

// Parse reads what ipset list prints: paragraphs of "Key: value", and the members of
// each set after the line "Members:".
func Parse(text string) []*Set {
	var sets []*Set
	var s *Set
	members := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		key, val, ok := strings.Cut(line, ":")
		switch {
		case strings.TrimSpace(line) == "":
			s, members = nil, false
		case s != nil && members:
			s.Members = append(s.Members, line)
		case !ok:
		case key == "Members":
			members = true
		default:
			if s == nil {
				s = &Set{Info: value.NewMap(8)}
				sets = append(sets, s)
			}
			val = strings.TrimPrefix(val, " ")
			s.Info.Set(key, val)
			if key == "Name" {
				s.Name = val
			}
		}
	}
	return sets
}

// list lists all sets or one, with their members or without.
func (s Client) list(ctx context.Context, args ...string) ([]*Set, error) {
	out, err := tool.LookMerged(ctx, s.Env.Host, append([]string{"ipset", "list"}, args...)...)
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		if strings.Contains(out.Text, "does not exist") {
			return nil, nil
		}
		return nil, fun.Errorf("%s", out.Text)
	}
	return Parse(out.Text), nil
}

// Find returns a set; nil where it is not there.
func (s Client) Find(ctx context.Context, name string) (*Set, error) {
	if err := checkWords(name); err != nil {
		return nil, err
	}
	sets, err := s.list(ctx, name)
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	return sets[0], nil
}

// A Definition is what a set is to be.
type Definition struct {
	Name, Type, Family string
	Options            *value.Map // by their names for ipset(8)
	Comment            bool
}

// Types of sets, and the options that they take.
const (
	common     = "timeout counters comment skbinfo"
	hashed     = "family hashsize maxelem netmask " + common
	flags      = "counters comment skbinfo"
	ofBitmaps  = "range " + common
	ofAddition = "timeout packets bytes skbmark skbprio skbqueue nomatch"
)

var createOptions = [...][2]string{
	{"bitmap:ip", "netmask " + ofBitmaps},
	{"bitmap:ip,mac", ofBitmaps},
	{"bitmap:port", ofBitmaps},
	{"hash:ip", hashed},
	{"hash:ip,mark", "family markmask hashsize maxelem " + common},
	{"hash:ip,port", hashed},
	{"hash:ip,port,ip", hashed},
	{"hash:ip,port,net", hashed},
	{"hash:mac", "hashsize maxelem " + common},
	{"hash:net", hashed},
	{"hash:net,iface", hashed},
	{"hash:net,net", hashed},
	{"hash:net,port", hashed},
	{"hash:net,port,net", hashed},
	{"list:set", "size timeout counters comment"},
}

func optionsOf(typ string) ([]string, bool) {
	for _, o := range createOptions {
		if o[0] == typ {
			return strings.Fields(o[1]), true
		}
	}
	return nil, false
}

// families are the families of addresses and what ipset(8) calls them.
func family(name string) string {
	if name == "ipv6" || name == "ip6" {
		return "inet6"
	}
	return "inet"
}

// Create creates a set.
func (s Client) Create(ctx context.Context, d Definition) error {
	if err := checkWords(d.Name); err != nil {
		return err
	}
	known, ok := optionsOf(d.Type)
	if !ok {
		return fun.Errorf("Error: Set Type is invalid")
	}
	if strings.HasPrefix(d.Type, "bitmap:") && !value.Truth(d.Options.At("range")) {
		return fun.Errorf("Error: range is a required argument")
	}
	args := []string{"create", d.Name, d.Type}
	for _, o := range known {
		v := d.Options.At(o)
		switch {
		case o == "family":
			args = append(args, o, family(d.Family))
		case o == "comment" && d.Comment, slices.Contains(strings.Fields(flags), o) && value.Truth(v):
			args = append(args, o)
		case v != nil && !slices.Contains(strings.Fields(flags), o):
			if err := checkWords(value.Str(v)); err != nil {
				return err
			}
			args = append(args, o, value.Str(v))
		}
	}
	return s.run(ctx, args...)
}

// Destroy removes a set with its entries.
func (s Client) Destroy(ctx context.Context, name string) error {
	if err := checkWords(name); err != nil {
		return err
	}
	return s.run(ctx, "destroy", name)
}

// Flush removes the entries of a set, or of all sets where name is "".
func (s Client) Flush(ctx context.Context, name string) error {
	if name == "" {
		return s.run(ctx, "flush")
	}
	if err := checkWords(name); err != nil {
		return err
	}
	return s.run(ctx, "flush", name)
}

// extension names the extension of a set that an option of an entry needs.
func extension(option string) string {
	switch option {
	case "packets", "bytes":
		return "counters"
	case "skbmark", "skbprio", "skbqueue":
		return "skbinfo"
	case "nomatch":
		return ""
	}
	return option
}

// Add adds an entry, an address and so on with its options, to a set, or changes the
// options of one that exists.
func (s Client) Add(ctx context.Context, set *Set, entry string, options *value.Map) error {
	words := splitEntry(entry)
	if err := checkWords(words...); err != nil {
		return err
	}
	args := append([]string{"add", "-exist", set.Name}, words...)
	for _, o := range append(strings.Fields(ofAddition), "comment") {
		v := options.At(o)
		if v == nil || slices.Contains(words[1:], o) {
			continue
		}
		if need := extension(o); need != "" && !slices.Contains(strings.Fields(set.Info.Str("Header")), need) {
			return fun.Errorf("Error: Set %s not created with %s support", set.Name, need)
		}
		if o == "nomatch" {
			if value.Truth(v) {
				args = append(args, o)
			}
			continue
		}
		if err := checkWords(value.Str(v)); err != nil && o != "comment" {
			return err
		}
		args = append(args, o, value.Str(v))
	}
	return s.run(ctx, args...)
}

// Delete removes an entry from a set.
func (s Client) Delete(ctx context.Context, name, entry string) error {
	words := splitEntry(entry)
	if len(words) == 0 {
		words = []string{""}
	}
	if err := checkWords(name, words[0]); err != nil {
		return err
	}
	return s.run(ctx, "del", name, words[0])
}

// splitEntry returns the words of an entry; quotes keep a comment together.
func splitEntry(entry string) []string {
	var words []string
	var b strings.Builder
	quoted, open := false, false
	for _, r := range entry {
		switch {
		case r == '"':
			quoted, open = !quoted, true
		case r == ' ' && !quoted:
			if open {
				words = append(words, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}
