package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/absent"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// furtherGrains are names of grains that only some machines have: those of other
// systems, of hypervisors and of clouds.
const furtherGrains = `boardname computenode_chassis computenode_sn_chassis datacenter_name dynamic esxi fibre_channel_host_wwns
	fibre_channel_host_wwpns filesystem global_zone hypervisor_uuid iscsi_iqn kubernetes lsb_distrib_description lvm mdata
	meta-data motherboard nvme_nqn osmanufacturer osservicepack osversion package pillar proxy sdc_version timezone
	user-data virtual_hw_pv virtual_hw_version windowsdomain windowsdomaintype zfs_feature_flags zfs_support zone zonename
	zpool`

// moduleDirs are the directories of custom modules that have no functions, by kind.
var moduleDirs = map[string]string{
	"_renderers": absent.Renderer, "_pillar": absent.Pillar, "_returners": absent.Returner, "_sdb": absent.SDB, "_tops": absent.Top,
	"_roster": absent.Roster, "_matchers": absent.Matcher,
}

// learn notes the names that the tree makes known: grains, and custom renderers.
func (l *linter) learn() {
	l.grains, l.own, l.renderers = words(machineGrains+" "+furtherGrains), map[string]bool{}, map[string]bool{}
	for _, s := range append(slices.Clone(l.o.Systems), Systems()...) {
		for k := range s.Grains.All() {
			l.grains[value.Str(k)] = true
		}
	}
	for k := range l.o.Opts.Map("grains").All() {
		l.own[value.Str(k)] = true
	}
	for _, f := range l.files {
		if f.lines == nil {
			continue
		}
		dir, _, _ := strings.Cut(f.Path, "/")
		base := path.Base(f.Path)
		name := strings.TrimSuffix(base, path.Ext(base))
		if kind := moduleDirs[dir]; kind != "" {
			if l.used.Modules[kind] == nil {
				l.used.Modules[kind] = map[string]bool{}
			}
			l.used.Modules[kind][name] = true
		}
		if dir == "_renderers" {
			l.renderers[name] = true
			continue
		} else if dir != "_grains" && !f.setsGrains() {
			continue
		}
		for _, line := range f.lines {
			for word := range strings.FieldsFuncSeq(line, notWord) {
				l.own[word] = true
			}
		}
	}
}

// setsGrains reports whether an SLS has states or calls that set grains.
func (f *file) setsGrains() bool {
	return slices.ContainsFunc(f.lines, func(line string) bool {
		_, word, _ := strings.Cut(line, "grains.")
		return slices.ContainsFunc([]string{"present", "append", "list_present", "set", "make_hashable"}, func(fn string) bool { return strings.HasPrefix(word, fn) })
	})
}

var grainUses = sync.OnceValue(func() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, re := range []string{
		`\bgrains\[\s*(['"])([\w-]+)['"]\s*\]`,
		`(?:^|[^\w.'"])(grains)\.get\(\s*['"]([\w-]+)['"]`,
		`(?:^|[^\w.'"])(grains)\.(\w+)`,
		`\bsalt(\[\s*['"]|\.)grains\.get(?:['"]\s*\])?\(\s*['"]([\w-]+)`,
		`\b(G)@([\w-]+):`,
	} {
		out = append(out, regexp.MustCompile(re))
	}
	return out
})

// methods of a mapping, which templates call on the grains.
var mapMethods = words("get items keys values copy update pop setdefault iteritems iterkeys itervalues has_key filter_by item")

// grainNames finds grains that no known machine has, and whose name is near to that of
// one.
func (l *linter) grainNames(f *file, lines []string) {
	for i, line := range lines {
		if !strings.Contains(line, "grains") && !strings.Contains(line, "G@") {
			continue
		}
		seen := map[int]bool{}
		for n, re := range grainUses() {
			for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
				name := line[m[4]:m[5]]
				if n == 2 && (mapMethods[name] || !strings.Contains(line, "{")) || seen[m[4]] {
					continue
				}
				seen[m[4]] = true
				if near := l.grainMeant(name); near != "" {
					f.addf(i+1, m[4]+1, unknownGrain, fmt.Sprintf("did you mean %q?", near), "no known machine has the grain %q", name)
				}
			}
		}
	}
}

// grainMeant returns the grain that a name likely means, if there is none of the name;
// "" is none. A name that begins otherwise is one of the user's own.
func (l *linter) grainMeant(name string) string {
	if len(name) < 4 || l.grains[name] || l.own[name] {
		return ""
	}
	var names []string
	for g := range l.grains {
		if g != "" && strings.EqualFold(g[:1], name[:1]) {
			names = append(names, g)
		}
	}
	slices.Sort(names)
	near, _ := source.Nearest(name, names)
	return near
}
