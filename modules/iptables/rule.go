package iptables

import (
	"context"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/dispatch"
	"brine/internal/py/value"
)

// A Rule is what a rule and the command about it are made of.
type Rule struct {
	Table, Chain string
	Command      string      // "A", "I", "D", or a long option without its dashes
	Position     value.Value // number in the chain; nil and "" are none
	Options      *value.Map  // options of iptables(8) without their dashes
}

// noProtocol is what Salt returns as the rule for ports without a protocol.
const noProtocol = "Error: protocol must be specified"

// targetOptions belong to the target of a rule and follow it, in this order.
// Salt: salt/modules/iptables.py build_rule.
var targetOptions = sync.OnceValue(func() []string {
	return strings.Fields(`j jump
		add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set ecn-tcp-remove exist
		expevents gateway hash-init hashmode helper label local-node log-ip-options log-level log-prefix log-tcp-options
		log-tcp-sequence log-uid mask new nfmask nflog-group nflog-prefix nflog-range nflog-threshold nodst notrack on-ip
		on-port or-mark or-tos persistent queue-balance queue-bypass queue-num random rateest-ewmalog rateest-interval
		rateest-name reject-with restore restore-mark save-mark selctx set-class set-dscp set-dscp-class set-mark set-mss
		set-tos set-xmark strip-options timeout to to-destination to-ports to-source total-nodes tproxy-mark ttl-dec
		ttl-inc ttl-set type ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold xor-mark xor-tos zone
		dst-pfx hl-dec hl-inc hl-set hmark-dport-mask hmark-dst-prefix hmark-mod hmark-offset hmark-proto-mask hmark-rnd
		hmark-spi-mask hmark-sport-mask hmark-src-prefix hmark-tuple led-always-blink led-delay led-trigger-id
		queue-cpu-fanout src-pfx to-port
		addr and-mask delude honeypot or-mask prefix reset reuse set-mac shift static tarpit tname ttl`)
})

// A builder makes the text of a rule from options, which it takes out.
type builder struct {
	opts  *value.Map
	parts []string
}

// negated reports whether a value begins with ! or not, and returns it without.
func negated(s string) (string, bool) {
	for _, p := range []string{"!", "not"} {
		if strings.HasPrefix(s, p) {
			return plain(s), true
		}
	}
	return s, false
}

// plain drops every ! and not of a value, with a blank after it, as Salt does.
func plain(s string) string {
	var b strings.Builder
	for s != "" {
		rest, ok := strings.CutPrefix(s, "!")
		if !ok {
			rest, ok = strings.CutPrefix(s, "not")
		}
		if !ok {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if rest != "" && strings.ContainsRune(" \t\r\n\v\f", rune(rest[0])) {
			rest = rest[1:]
		}
		s = rest
	}
	return b.String()
}

// take removes an option and returns its value.
func (b *builder) take(name string) (value.Value, bool) {
	v, ok := b.opts.Get(name)
	if ok {
		b.opts.Delete(name)
	}
	return v, ok
}

func (b *builder) add(part string) { b.parts = append(b.parts, part) }

// has reports whether a part is there.
func (b *builder) has(part string) bool { return slices.Contains(b.parts, part) }

// option adds "flag value", with ! where the value is negated.
func (b *builder) option(flag string, v value.Value) {
	s, not := negated(value.Str(v))
	part := flag + " " + s
	if not {
		part = "! " + part
	}
	b.add(part)
}

// move adds an option under the flag that it has on the command line, and
// reports whether it was given.
func (b *builder) move(name, flag string) bool {
	v, ok := b.take(name)
	if ok {
		b.option(flag, v)
	}
	return ok
}

// words returns a list, or the text of a single value split at commas.
func words(v value.Value) []string {
	l, ok := v.(*value.List)
	if !ok {
		return strings.Split(value.Str(v), ",")
	}
	out := make([]string, 0, l.Len())
	for _, x := range l.Items {
		out = append(out, value.Str(x))
	}
	return out
}

// matches adds the match extensions.
func (b *builder) matches() {
	v, ok := b.take("match")
	if !ok {
		return
	}
	for _, m := range words(v) {
		b.add("-m " + m)
		switch strings.TrimSpace(m) {
		case "pknock", "quota2", "recent":
			if name, ok := b.take("name_"); ok {
				b.add("--name " + value.Str(name))
			}
		}
	}
	if v == "policy" {
		b.move("proto", "--proto")
	}
}

// sets adds the sets of ipset that addresses have to be in.
func (b *builder) sets() {
	v, ok := b.take("match-set")
	if !ok {
		return
	}
	all := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		all = l.Items
	}
	for _, x := range all {
		s, not := negated(value.Str(x))
		if not {
			s = "! --match-set " + s
		} else {
			s = "--match-set " + s
		}
		b.add("-m set " + s)
	}
}

// ports adds the lists of ports; ok is false where they need a protocol that the
// rule does not have.
func (b *builder) ports(protocol bool) (ok bool) {
	for _, name := range []string{"dports", "sports"} {
		v, given := b.take(name)
		if !given {
			continue
		}
		if !b.has("-m multiport") {
			if !protocol {
				return false
			}
			b.add("-m multiport")
		}
		list := []string{value.Str(v)}
		if l, is := v.(*value.List); is {
			list = nil
			for _, x := range l.Items {
				list = append(list, value.Str(x))
			}
		}
		not := false
		for _, s := range list {
			_, n := negated(s)
			not = not || n
		}
		if not {
			for i, s := range list {
				list[i] = plain(s)
			}
			b.add("!")
		}
		b.add("--" + name + " " + strings.Join(list, ","))
	}
	return true
}

// target returns the target with its options.
func (b *builder) target() []string {
	var out []string
	for _, name := range targetOptions() {
		v, ok := b.take(name)
		if !ok {
			continue
		}
		s := value.Str(v)
		switch {
		case v == nil || s == "":
			out = append(out, "--"+name)
		case strings.ContainsAny(s, " \t\r\n\v\f"):
			out = append(out, "--"+name+` "`+s+`"`)
		default:
			out = append(out, "--"+name+" "+s)
		}
	}
	return out
}

// others adds the options that are left, in their order.
func (b *builder) others() {
	for k, v := range b.opts.All() {
		name := value.Str(k)
		flag := "--" + name
		if len(name) == 1 {
			flag = "-" + name
		}
		s, not := "", false
		if v != nil {
			s, not = negated(value.Str(v))
		}
		if s != "" {
			flag += " " + s
		}
		if not {
			flag = "! " + flag
		}
		b.add(flag)
	}
}

// Text returns the rule as iptables(8) takes it after the name of a chain. Where
// it needs a protocol that it does not have, it returns a text that begins with
// "Error:", as Salt does.
func (r Rule) Text() string {
	b := &builder{opts: value.NewMap(8)}
	if r.Options != nil {
		b.opts = r.Options.Copy()
	}
	if v, ok := b.take("target"); ok {
		b.opts.Set("jump", v)
	}
	for _, k := range b.opts.Keys() {
		switch name := value.Str(k); {
		case name == "chain", name == "save", name == "table", name == "rules", dispatch.Internal(name):
			b.opts.Delete(k)
		}
	}
	b.move("if", "-i")
	b.move("of", "-o")
	if b.opts.At("match") != "policy" {
		if v, ok := b.take("proto"); ok {
			b.opts.Set("protocol", v)
		}
	}
	protocol := b.move("protocol", "-p")
	b.matches()
	b.sets()
	if b.opts.Has("connstate") {
		if !b.has("-m state") {
			b.add("-m state")
		}
		b.move("connstate", "--state")
	}
	b.move("dport", "--dport")
	b.move("sport", "--sport")
	if !b.ports(protocol) {
		return noProtocol
	}
	if v, ok := b.take("comment"); ok {
		if !b.has("-m comment") {
			b.add("-m comment")
		}
		b.add(`--comment "` + value.Str(v) + `"`)
	}
	if value.Truth(b.opts.At("set")) {
		b.move("set", "--match-set")
	}
	target := b.target()
	b.others()
	return strings.Join(append(b.parts, target...), " ")
}

// commandFlag returns a command with its dashes.
func commandFlag(command string) string {
	if strings.Contains("ACDIRLSFZNXPE", command) {
		return "-" + command
	}
	return "--" + command
}

// Command returns the whole command line about a rule, for people to read.
// Where it cannot be made it returns a text that begins with "Error:".
func (t *Tables) Command(ctx context.Context, r Rule) (string, error) {
	text := r.Text()
	switch {
	case text == noProtocol:
		return text, nil
	case r.Table == "":
		return "Error: Table needs to be specified", nil
	case r.Chain == "":
		return "Error: Chain needs to be specified", nil
	case r.Command == "":
		return "Error: Command needs to be specified", nil
	}
	wait, err := t.wait(ctx)
	if err != nil {
		return "", err
	}
	position := ""
	if r.Position != nil {
		position = value.Str(r.Position)
	}
	return strings.Join([]string{t.path, wait, "-t", r.Table, commandFlag(r.Command), r.Chain, position, text}, " "), nil
}

// ruleOf returns the rule that the arguments of a call describe.
func ruleOf(a *buildRuleArgs) Rule {
	return Rule{Table: a.Table, Chain: a.Chain, Command: a.Command, Position: a.Position, Options: a.Rest.Map}
}
