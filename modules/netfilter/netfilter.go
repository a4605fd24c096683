// Package netfilter has the rules of a plan for packets: a network of its own, with the rules
// that the machine has now, in which the programs of iptables, nftables and ipset run that the
// states of a plan would run.
//
// States use [Leaves]. The rules of the machine stay as they are.
package netfilter

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// A source is a program whose rules are copied.
type source struct {
	programs    []string // those that change, or show, its rules; the first one has to be there
	show, write []string
}

// sources are the programs in the order in which rules can be written: those of iptables may
// name sets. Where iptables writes its rules by nftables, those of nft are there with it.
var sources = [...]source{
	{[]string{"ipset"}, []string{"ipset", "save"}, []string{"ipset", "restore"}},
	{[]string{"iptables", "iptables-save"}, []string{"iptables-save"}, []string{"iptables-restore"}},
	{[]string{"ip6tables", "ip6tables-save"}, []string{"ip6tables-save"}, []string{"ip6tables-restore"}},
	{[]string{"nft"}, []string{"nft", "--stateless", "--handle", "list", "ruleset"}, []string{"nft", "-f", "-"}},
}

// volatile matches what differs between two looks at the same rules: when they were made and
// how many packets they saw.
var volatile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^#.*\n|\[\d+:\d+\]`) })

// handles matches the numbers of rules, which another network gives otherwise.
var handles = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m) # handle \d+$`) })

// fixed is how nft names rules by numbers once it is known that those are the machine's.
const fixed = "nft handles"

// copied are the rules of a source.
type copied struct {
	source
	was string
}

// copy writes the rules into another network, and returns how they are shown there.
func (s *copied) copy(run func(argv []string, stdin string) (host.Output, error)) (string, error) {
	now, err := run(s.show, "")
	if err == nil && same(s.was, string(now.Stdout)) {
		return string(now.Stdout), nil
	}
	if err != nil {
		return "", fun.Errorf("no network of its own can be made for a plan: %s", host.OSError(err))
	}
	text := s.was
	if s.programs[0] == "nft" {
		text = "flush ruleset\n" + text
	}
	wrote, err := run(s.write, text)
	if err != nil {
		return "", fun.Errorf("the rules that %s shows cannot be copied for a plan: %s", s.show[0], host.OSError(err))
	}
	if wrote.Status != 0 {
		why, _, _ := strings.Cut(strings.TrimSpace(string(wrote.Stderr)), "\n")
		return "", fun.Errorf("the rules that %s shows cannot be copied for a plan: %s", s.show[0], why)
	}
	if now, err = run(s.show, ""); err != nil || !same(s.was, string(now.Stdout)) {
		return "", fun.Errorf("the rules that %s shows cannot be copied for a plan", s.show[0])
	}
	return string(now.Stdout), nil
}

// begin returns what answers for the programs of the packet filter.
func begin(ctx context.Context, h host.Host) (map[string]host.Simulation, error) {
	ns := &host.Netns{}
	out := map[string]host.Simulation{}
	run := func(argv []string, stdin string) (host.Output, error) {
		return h.Run(ctx, host.Cmd{Argv: argv, Env: tool.Environ(h), Stdin: strings.NewReader(stdin), Net: ns, ReadOnly: true, Private: true})
	}
	var all []copied
	for _, s := range sources {
		if _, err := h.LookPath(s.programs[0], ""); err != nil {
			continue
		}
		was, err := tool.Look(ctx, h, s.show...)
		if err != nil || !was.OK() {
			continue // such as one whose part of the kernel is missing
		}
		all = append(all, copied{s, was.Stdout})
		for _, p := range s.programs {
			out[p] = within(ns)
		}
	}
	numbered := true
	for _, s := range all {
		now, err := s.copy(run)
		if err != nil {
			return nil, err
		}
		numbered = numbered && (s.programs[0] != "nft" || s.was == now)
	}
	for _, s := range all { // one may have changed what another shows
		now, err := run(s.show, "")
		if err != nil || !same(s.was, string(now.Stdout)) {
			return nil, fun.Errorf("the rules that %s shows cannot be copied for a plan", s.show[0])
		}
	}
	if numbered {
		out[fixed] = within(ns)
	}
	return out, nil
}

// same reports whether two looks show the same rules.
func same(a, b string) bool {
	plain := func(s string) string {
		return strings.TrimSpace(handles().ReplaceAllString(volatile().ReplaceAllString(s, ""), ""))
	}
	return plain(a) == plain(b)
}

// within runs programs in a network. What iptables-save prints has no times: they would make
// each plan another one.
func within(ns *host.Netns) host.Simulation {
	return func(ctx context.Context, h host.Host, c host.Cmd) (host.Output, error) {
		c.Net = ns
		out, err := h.Run(ctx, c)
		if len(c.Argv) > 0 && strings.HasSuffix(c.Argv[0], "tables-save") {
			out.Stdout = timeless(out.Stdout)
		}
		return out, err
	}
}

// timeless returns what a program prints without its comments.
func timeless(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		if line[0] != '#' {
			out = append(out, line...)
		}
	}
	return out
}

// Begin has an overlay have rules of its own, which are those of the machine at first.
func Begin(ctx context.Context, o *host.Overlay) error {
	return o.Simulate("netfilter", func(h host.Host) (map[string]host.Simulation, error) { return begin(ctx, h) })
}

// Leaves has an overlay have the rules that a state leaves, which changes them by a program:
// it runs the state on it. An error says that the rules are not known.
func Leaves(ctx context.Context, c *fun.Call, o *host.Overlay, program string) error {
	if err := Begin(ctx, o); err != nil {
		return err
	}
	if !host.Simulates(o, program) {
		return fun.Errorf("a plan cannot try what %s does", program)
	}
	c.Test = false
	ret := c.Spec.State(ctx, c)
	if ret.Err != nil {
		return ret.Err
	}
	if ret.Result != fun.OK {
		return &fun.TrialError{Comment: value.Str(ret.Comment)}
	}
	return nil
}

// Numbered reports whether the numbers of nft's rules are those of the machine.
func Numbered(h host.Host) bool { return !host.Simulates(h, "nft") || host.Simulates(h, fixed) }
