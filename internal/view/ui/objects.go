package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/kept"
)

// Users and tokens may be limited to objects, which are orchestrations, chains and templates,
// and to hosts, by globs for their names. Each route has a rule for those who are; without a
// rule, it is not for them. What lists have of others is left out by [Server.back], for pages
// and API alike; see hostlimits.go for hosts.

// limits are what a visitor is limited to.
func (v *visit) limits() *Scope {
	if v.token != nil {
		return &v.token.Scope
	}
	return &v.scope
}

// rule is the rule of a route for those who are limited; nil: it is not for them.
func (x route) rule() scopeRule {
	if x.api != nil {
		return x.api.scope
	}
	return pageRule(x.pattern)
}

// pageRule is the rule of a page.
func pageRule(pattern string) scopeRule {
	_, path, _ := strings.Cut(pattern, " ")
	switch {
	case strings.HasPrefix(path, "/chains/{name}"):
		return newName(kept.Chains, "name")
	case strings.HasPrefix(path, "/orchestrations/{sls}"):
		return newName(kept.Orchestrations, "sls")
	case strings.HasPrefix(path, "/templates/{name}"):
		return newName(kept.Templates, "name")
	case path == "/runs/{id}/plan", path == "/runs/{id}/apply":
		return ofPlan
	case strings.HasPrefix(pattern, "POST /runs/{id}"):
		return ofWholeRun
	case strings.HasPrefix(path, "/runs/{id}"):
		return ofRun
	case strings.HasPrefix(path, "/approvals/{id}"):
		return ofApproval
	}
	return pageRules()[pattern]
}

// pageRules are the rules of pages that belong to no single object.
func pageRules() map[string]scopeRule {
	return map[string]scopeRule{
		"/": harmless, "POST /logout": harmless,
		"GET /{$}": filtered, "GET /approvals": filtered, "GET /runs": filtered, "GET /search": filtered,
		"POST /chains":       newName(kept.Chains, ""),
		"GET /history":       filtered,
		"GET /history/{jid}": ofExecution, "GET /history/{jid}/events": ofExecution,
		"GET /history/compare": unlimitedOnly,
		"GET /jobs":            filtered,
		"GET /jobs/{jid}":      ofJob, "POST /jobs/{jid}/resume": ofExecution,
		"POST /jobs/{jid}/retry": ofHosts,
		"GET /audit":             filtered,
		"GET /hosts":             ofHosts, "GET /hosts/{id}": ofHosts, "POST /hosts/ping": ofFunction(pingFunction),
		"POST /hosts/facts": ofFunction(facts.Function), "POST /hosts/run": ofFunction(""), "POST /hosts/chain": ofHosts, "GET /targets": ofHosts,
		"GET /drift":     ofHosts,
		"GET /recurring": filtered, "POST /recurring": newRecurring,
		"POST /recurring/{name}/pause": ofRecurring, "POST /recurring/{name}/resume": ofRecurring, "POST /recurring/{name}/remove": ofRecurring,
		"GET /states": byHostsOnly, "GET /states/{sls}": byHostsOnly, "GET /states/{sls}/step": byHostsOnly,
	}
}

// newName is the rule of what has its name in the path, and of forms that give a further
// name: of a chain that is made, copied or renamed.
func newName(kind, param string) scopeRule {
	return func(_ *Server, r *http.Request, x *Scope) error {
		if param != "" && !x.allows(kind, r.PathValue(param)) {
			return errScope(x)
		}
		if name := strings.TrimSpace(r.PostForm.Get("name")); (name != "" || param == "") && !x.allows(kind, name) {
			return errScope(x)
		}
		return nil
	}
}

// within leaves out of a catalogue what a visitor may not see.
func (c *Catalogue) within(x *Scope) *Catalogue {
	if !x.Limited() {
		return c
	}
	entries := func(kind string, all []Entry) []Entry {
		return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return !x.allows(kind, e.Name) })
	}
	return &Catalogue{
		Orchestrations: slices.DeleteFunc(slices.Clone(c.Orchestrations), func(name string) bool { return !x.allows(kept.Orchestrations, name) }),
		Chains:         entries(kept.Chains, c.Chains), Templates: entries(kept.Templates, c.Templates),
	}
}

// asked leaves out questions that a visitor may not see.
func (x *Scope) asked(all []*approval.Entry) []*approval.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e *approval.Entry) bool { return !x.allows(e.Kind+"s", e.Name) })
}

// join adds what another scope allows.
func (x *Scope) join(y Scope) {
	for _, name := range scopeNames {
		l := x.lists()[name]
		*l = append(slices.Clip(*l), *y.lists()[name]...)
	}
	for _, word := range RightWords() {
		if globs := y.Rights[word]; len(globs) > 0 {
			_, _ = x.grantRight(word, globs) // they were checked in the group
		}
	}
}

// CheckHosts returns an error if nobody can be limited to hosts by the globs.
func CheckHosts(globs []string) error {
	for _, g := range globs {
		if strings.ContainsAny(g, "@()") || strings.HasPrefix(g, "!") {
			return fmt.Errorf("%q is not a glob for the IDs of hosts, such as web*: target expressions are not taken here", g)
		}
	}
	return nil
}

// parseLimits reads words such as chains=web-*; groups=a,b adds what groups have.
func parseLimits(text string, groups map[string]Scope) (x Scope, err error) {
	known := slices.Concat([]string{"groups"}, scopeNames, RightWords())
	for w := range strings.FieldsSeq(text) {
		key, given, ok := strings.Cut(w, "=")
		names := strings.Split(given, ",")
		switch {
		case !ok || !slices.Contains(known, key) || key == "groups" && groups == nil:
			return x, fmt.Errorf("unknown word %q: limits are %s", w, strings.Join(known, "=, ")+"=")
		case key == "groups":
			for _, name := range names {
				g, ok := groups[name]
				if !ok {
					return x, fmt.Errorf("there is no group %q: a line such as '@%s chains=web-*' makes it, above its users", name, name)
				}
				x.join(g)
			}
		default:
			if right, err := x.grantRight(key, names); err != nil {
				return x, err
			} else if right {
				continue
			}
			err := CheckGlobs(names)
			switch {
			case err == nil && key == "hosts":
				err = CheckHosts(names)
			case err == nil && key == "functions":
				err = CheckFunctions(names)
			}
			if err != nil {
				return x, err
			}
			l := x.lists()[key]
			*l = append(*l, names...)
		}
	}
	if !x.Limited() && len(x.Rights) == 0 {
		return x, fmt.Errorf("there are no limits behind the last colon: give %s", strings.Join(known, "=, ")+"=, or leave the colon out")
	}
	return x, nil
}
