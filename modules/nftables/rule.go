package nftables

import (
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// Given are the arguments that describe a rule; false and None are not given.
type Given func(name string) value.Value

// first returns the first of some arguments that is not empty, as text.
func (g Given) first(names ...string) (string, bool) {
	given := false
	for _, n := range names {
		v := g(n)
		if v == nil {
			continue
		}
		given = true
		if s := text(v); s != "" {
			return s, true
		}
	}
	return "", given
}

// text returns a value as text; the items of a list are joined by commas.
func text(v value.Value) string {
	l, ok := v.(*value.List)
	if !ok {
		return value.Str(v)
	}
	ss := make([]string, l.Len())
	for i, x := range l.Items {
		ss[i] = value.Str(x)
	}
	return strings.Join(ss, ", ")
}

// ports returns a list of ports, from the highest, as in Salt.
func ports(s string) string {
	list := strings.Split(s, ",")
	numbers := make([]int, len(list))
	for i, p := range list {
		list[i] = strings.ReplaceAll(strings.TrimSpace(p), ":", "-")
		numbers[i], _ = strconv.Atoi(list[i])
	}
	if !slices.Contains(numbers, 0) {
		slices.SortFunc(list, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return y - x
		})
	}
	return strings.Join(list, ", ")
}

// address returns the match of an address.
func address(field, s string) string {
	if strings.Contains(s, ":") {
		return "ip6 " + field + " " + s
	}
	return "ip " + field + " " + s
}

// Rule returns the text of a rule. Salt: salt/modules/nftables.py build_rule.
// Differences: an IPv6 address is matched as such; ports may be lists and ranges;
// reject-with needs no jump.
func Rule(g Given) string {
	var parts []string
	add := func(format string, names ...string) {
		if s, ok := g.first(names...); ok {
			parts = append(parts, strings.Replace(format, "%", s, 1))
		}
	}
	add("meta iifname %", "if")
	add("meta oifname %", "of")
	add("ct state { % }", "connstate")
	add("icmp type { % }", "icmp-type")
	add("meta pkttype { % }", "pkttype")
	if v := g("counter"); v != nil && v != false {
		parts = append(parts, "counter")
	}
	for _, a := range [...][3]string{{"saddr", "saddr", "source"}, {"daddr", "daddr", "destination"}} {
		if s, ok := g.first(a[1], a[2]); ok {
			parts = append(parts, address(a[0], s))
		}
	}
	for _, field := range [...]string{"dport", "sport"} {
		if s, ok := g.first(field); ok {
			parts = append(parts, field+" { "+strings.ReplaceAll(s, ":", "-")+" }")
		}
	}
	for _, field := range [...]string{"dport", "sport"} {
		if s, ok := g.first(field + "s"); ok {
			parts = append(parts, field+" { "+ports(s)+" }")
		}
	}
	_, rejects := g.first("reject-with")
	for _, name := range [...]string{"target", "jump", "j"} {
		if s, ok := g.first(name); ok && (!rejects || s != "reject") && (name != "jump" || g("target") == nil) {
			parts = append(parts, s)
		}
	}
	add("redirect to %", "redirect-to", "to-port")
	add("--to-ports %", "to-ports")
	add("%", "to-source")
	add("%", "to-destination")
	add("reject with %", "reject-with")
	rule := strings.TrimSpace(strings.Join(parts, " "))
	proto, _ := g.first("proto")
	return strings.ReplaceAll(strings.ReplaceAll(rule, "dport", proto+" dport"), "sport", proto+" sport")
}

// Rule returns the text of the rule that the arguments describe.
func (a *RuleArgs) Rule() string {
	given := value.MapOf(
		"connstate", a.Connstate, "counter", a.Counter, "daddr", a.Daddr, "destination", a.Destination, "dport", a.Dport,
		"dports", a.Dports, "icmp-type", a.IcmpType, "if", a.If, "j", a.J, "jump", a.Jump, "of", a.Of, "pkttype", a.Pkttype,
		"proto", a.Proto, "redirect-to", a.RedirectTo, "reject-with", a.RejectWith, "saddr", a.Saddr, "source", a.Source,
		"sport", a.Sport, "sports", a.Sports, "target", a.Target, "to-destination", a.ToDestination, "to-port", a.ToPort,
		"to-ports", a.ToPorts, "to-source", a.ToSource,
	)
	return Rule(func(name string) value.Value { return given.At(name) })
}
