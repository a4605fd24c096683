package nftables

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The kernel shows a rule in other words than it was given: it has numbers for
// names, sorts sets and drops what is implied. nft prints the code of rules, which
// is the same for the same rule: that of the rules of a chain, and by --check that
// of a rule that is not added. The following reads this.

// volatile are the parts of code that change while a rule is in use.
var volatile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(counter) pkts \d+ bytes \d+|( consumed) \d+|(set __set\S+ )0x0 `)
})

// A coded rule is a rule of a chain as code.
type coded struct {
	handle string // "" is one that is only checked
	code   string
}

// elements returns the elements of a line "\telement K : V [end]\telement ...".
func elements(line string) []string {
	var out []string
	for part := range strings.SplitSeq(line, "[end]") {
		if _, e, ok := strings.Cut(part, "element "); ok {
			out = append(out, strings.Join(strings.Fields(e), " "))
		}
	}
	return out
}

// A reader reads the code that nft prints.
type reader struct {
	sets  map[string][]string // by name
	fresh [][]string          // of a rule that is only checked, in the order of use
	cur   string              // the set whose elements follow
	rules []coded
	lines []string
	open  bool
}

// close ends a rule.
func (r *reader) close() {
	if !r.open {
		return
	}
	r.rules[len(r.rules)-1].code = strings.Join(r.lines, "\n")
	r.lines, r.open = nil, false
}

// line adds a line of a rule's code. Anonymous sets are replaced by their elements.
func (r *reader) line(l string) {
	l = volatile().ReplaceAllString(strings.Join(strings.Fields(l), " "), "$1$2$3")
	if strings.HasPrefix(l, "[ log ") {
		l = strings.TrimSuffix(l, " level 4 ]") // the kernel shows the default level
		l = strings.TrimSuffix(l, " ]") + " ]"
	}
	if before, after, ok := strings.Cut(l, " set __"); ok {
		name, rest, _ := strings.Cut(after, " ")
		set := r.sets["__"+name]
		if strings.Contains(name, "%d") {
			set = nil
			if len(r.fresh) > 0 {
				set, r.fresh = r.fresh[0], r.fresh[1:]
			}
		}
		set = slices.Clone(set)
		slices.Sort(set)
		l = before + " set {" + strings.Join(set, ", ") + "} " + rest
	}
	r.lines = append(r.lines, l)
}

// readCode reads what nft --debug=netlink prints about the rules of a chain, whose
// blocks begin with head: "ip filter input".
func readCode(out, head string) []coded {
	r := &reader{sets: map[string][]string{}}
	owner, _, _ := cutLast(head)
	for l := range strings.Lines(out) {
		l = strings.TrimRight(l, "\n")
		rest, isRule := strings.CutPrefix(l, head)
		name, isSet := strings.CutPrefix(l, owner+" @")
		switch {
		case strings.HasPrefix(l, "  [") && r.open:
			r.line(l)
		case isRule && (rest == "" || rest[0] == ' ') && !strings.Contains(rest, "["):
			r.close()
			handle, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			r.rules, r.open = append(r.rules, coded{handle: handle}), true
		case isSet:
			r.close()
			r.cur = name
		case strings.HasPrefix(l, "__"):
			r.close()
			r.cur, _, _ = strings.Cut(l, " ")
		case strings.HasPrefix(l, "\telement ") && r.cur != "":
			if strings.Contains(r.cur, "%d") {
				r.fresh = append(r.fresh, elements(l))
			} else {
				r.sets[r.cur] = append(r.sets[r.cur], elements(l)...)
			}
		default:
			r.close()
		}
	}
	r.close()
	return r.rules
}

// cutLast cuts a text at its last blank.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
