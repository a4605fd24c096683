package iptables

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// longName returns the key under which an option of a saved rule is returned; "" is
// for what is not an option.
func longName(flag string) string {
	switch flag {
	case "-A", "--append":
		return "append"
	case "-p":
		return "protocol"
	case "-s":
		return "source"
	case "-d":
		return "destination"
	case "-j":
		return "jump"
	case "-g":
		return "goto"
	case "-i":
		return "in-interface"
	case "-o":
		return "out-interface"
	case "-f":
		return "fragment"
	case "-c":
		return "set-counters"
	case "-m":
		return "match"
	case "--sport", "--source-port":
		return "source_port"
	case "--dport", "--destination-port":
		return "destination_port"
	case "--sports":
		return "source-ports"
	case "--dports":
		return "destination-ports"
	case "--src-cc":
		return "source-country"
	case "--dst-cc":
		return "destination-country"
	}
	name, ok := strings.CutPrefix(flag, "--")
	if !ok {
		return ""
	}
	return name
}

// A savedOption is an option of a saved rule with all that follows it up to the
// next one. A negation is written in front of the value.
type savedOption struct{ name, val string }

// options splits a saved rule. Salt: salt/modules/iptables.py _parse_conf.
func options(line string) ([]savedOption, error) {
	words, err := proc.Split(line)
	if err != nil {
		return nil, err
	}
	var out []savedOption
	open := false // an option takes further words as its value
	for i := 0; i < len(words); i++ {
		w := words[i]
		not := w == "!" && i+1 < len(words) && strings.HasPrefix(words[i+1], "-")
		if not {
			i++
			w = words[i]
		}
		if strings.HasPrefix(w, "-") {
			o := savedOption{name: longName(w)}
			if not {
				o.val = "!"
			}
			out, open = append(out, o), true
			continue
		}
		if !open || w == "!" {
			open = false
			continue
		}
		last := &out[len(out)-1]
		if last.val != "" {
			w = last.val + " " + w
		}
		last.val = w
	}
	return out, nil
}

// addRule adds a rule to its chain.
func addRule(chains *value.Map, line string) error {
	opts, err := options(line)
	if err != nil {
		return err
	}
	rule, comment, chain := value.NewMap(len(opts)), "", ""
	for _, o := range opts {
		switch o.name {
		case "":
			continue
		case "append":
			if chain == "" {
				chain = o.val
			}
			continue
		case "comment":
			if comment == "" {
				comment = strings.Trim(o.val, `"`)
			}
		}
		if l := rule.List(o.name); l != nil {
			l.Append(o.val)
		} else {
			rule.Set(o.name, value.NewList(o.val))
		}
	}
	c := chains.Map(chain)
	if c == nil {
		return fun.Errorf("the rule %s is in a chain that is not declared", line)
	}
	c.List("rules").Append(rule)
	if rule.Has("comment") {
		c.Map("rules_comment").Set(comment, rule)
	}
	return nil
}

// Parse returns rules as iptables-save(8) writes them: by table and chain, with
// policy, counters and rules.
func Parse(text string) (*value.Map, error) {
	ret := value.NewMap(4)
	var chains *value.Map
	for _, line := range value.SplitLines(text, false) {
		switch {
		case strings.HasPrefix(line, "*"):
			chains = value.NewMap(4)
			ret.Set(strings.ReplaceAll(line, "*", ""), chains)
		case strings.HasPrefix(line, ":"):
			f := strings.Fields(line)
			if chains == nil || len(f) < 2 {
				return nil, fun.Errorf("cannot read the chain %s", value.Repr(line))
			}
			packets, bytes := "0", "0"
			if len(f) > 2 {
				packets, bytes, _ = strings.Cut(strings.Trim(f[2], "[]"), ":")
			}
			chains.Set(strings.ReplaceAll(f[0], ":", ""), value.MapOf(
				"policy", f[1], "packet count", packets, "byte count", bytes, "rules", value.NewList(), "rules_comment", value.NewMap(0)))
		case strings.HasPrefix(line, "-A"):
			if chains == nil {
				return nil, fun.Errorf("the rule %s is in no table", line)
			}
			if err := addRule(chains, line); err != nil {
				return nil, err
			}
		}
	}
	return ret, nil
}

// rulesOf returns the rules of all chains, in order.
func rulesOf(tables *value.Map) *value.List {
	out := value.NewList()
	for _, chains := range tables.All() {
		for _, c := range chains.(*value.Map).All() {
			out.Append(c.(*value.Map).At("rules"))
		}
	}
	return out
}
