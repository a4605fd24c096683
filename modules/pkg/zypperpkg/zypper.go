// Package zypperpkg is the provider of Salt's execution module "pkg" for SUSE's
// systems: rpm with zypper.
package zypperpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
	"brine/modules/tool"
)

// Module returns the provider zypperpkg of the execution module "pkg".
func Module() fun.Module {
	m := fun.Module{Name: "pkg", Kind: fun.Exec, Doc: "Query, install and remove packages with zypper and rpm.", Avail: avail}
	for _, s := range rpm.ProviderSpecs {
		if !slices.ContainsFunc(specs, func(own fun.Spec) bool { return own.Name == s.Name }) {
			m.Specs = append(m.Specs, s)
		}
	}
	m.Specs = append(m.Specs, specs...)
	m.SortSpecs()
	return m
}

func avail(env *fun.Env) (bool, string) {
	if machine.Grain(env, "os_family") != "Suse" {
		return false, "os_family is not Suse"
	}
	if !tool.Has(env.Host, "zypper") {
		return false, "zypper is missing"
	}
	return true, ""
}

// The statuses of zypper that are not failures.
var (
	successes = []int{0, 100, 101, 102, 103}
	warnings  = []int{6, 7, 106, 107}
)

const (
	locked   = 7   // another process has the lock
	notFound = 104 // no such package
)

// A zypper is the package manager of a call.
type zypper struct {
	env  *fun.Env
	root string
}

func newZypper(c *fun.Call, root string) *zypper { return &zypper{env: c.Env, root: root} }

// How says how zypper is run.
type how struct {
	query     bool // it changes nothing, so that it needs no lock
	refresh   bool // it may refresh repositories
	xml       bool
	notFound  bool // it is not a failure that there is no such package
	faults    bool // failures are the caller's
	vendor    bool // packages may change their vendor
	anyStatus []int
}

// run runs zypper. A failure is an error, with zypper's own message.
// Salt: salt/modules/zypperpkg.py _Zypper.
func (z *zypper) run(ctx context.Context, h how, args ...string) (pkg.Output, error) {
	argv := []string{"zypper", "--non-interactive"}
	if h.xml {
		argv = append(argv, "--xmlout")
	}
	if !h.refresh && !slices.Contains(args, "--no-refresh") {
		argv = append(argv, "--no-refresh")
	}
	if z.root != "" {
		argv = append(argv, "--root", z.root)
	}
	argv = append(argv, args...)
	if h.vendor {
		argv = z.allowVendors(ctx, argv)
	}
	env := tool.Environ(z.env.Host)
	if h.query {
		env = append(env, "ZYPP_READONLY_HACK=1")
	}
	one := func(argv []string) (pkg.Output, error) {
		return pkg.Run(ctx, z.env.Host, pkg.Command{Argv: argv, Env: env, ReadOnly: h.query})
	}
	out, err := pkg.Locked(ctx, z.env, func() (pkg.Output, error) {
		if h.query {
			return one(argv)
		}
		return pkg.Scoped(ctx, z.env, argv, one)
	}, func(out *pkg.Output) string {
		if line := rpm.LockLine(z.env.Host, out.Stderr+"\n"+out.Stdout); line != "" && out.Status != 0 {
			return line
		}
		return holder(out)
	})
	if err != nil {
		return out, err
	}
	if h.faults || slices.Contains(successes, out.Status) || slices.Contains(warnings, out.Status) && out.Status != locked ||
		out.Status == notFound && h.notFound || slices.Contains(h.anyStatus, out.Status) {
		return out, nil
	}
	return out, fun.Errorf("Zypper command failure: %s", message(&out, h.xml))
}

// holder returns the line that says which process has zypper's lock.
func holder(out *pkg.Output) string {
	if out.Status != locked {
		return ""
	}
	for _, text := range []string{out.Stderr, out.Stdout} {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(line, "locked") {
				return strings.TrimSpace(parseXML(line).plain())
			}
		}
	}
	return "The ZYPP library is locked."
}

// plain returns all text in an element.
func (e *element) plain() string {
	var b strings.Builder
	b.WriteString(e.text)
	for _, k := range e.kids {
		b.WriteString(k.plain())
	}
	return b.String()
}

// message is what zypper says of a failure.
func message(out *pkg.Output, xml bool) string {
	var parts []string
	if xml {
		for _, m := range parseXML(out.Stdout).all("message") {
			if m.attr("type") == "error" {
				parts = append(parts, strings.TrimSpace(m.content()))
			}
		}
		if parts == nil && out.Stderr != "" {
			parts = append(parts, out.Stderr)
		}
	} else {
		for _, text := range []string{out.Stderr, out.Stdout} {
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	if parts == nil {
		return "Check Zypper's logs."
	}
	return strings.Join(parts, "\n")
}

// allowVendors adds the option that lets packages change their vendor, where this
// version of zypper has it.
func (z *zypper) allowVendors(ctx context.Context, argv []string) []string {
	db, err := rpm.Read(ctx, z.env, "")
	if err != nil {
		return argv
	}
	version := value.Str(pkg.Versions(db.Versions(), []string{"zypper"}, false))
	for _, command := range []struct{ name, since string }{{"install", "1.14.8"}, {"update", "1.14.8"}, {"dist-upgrade", "1.11.34"}} {
		if i := slices.Index(argv, command.name); i >= 0 && version != "" && rpm.Compare(version, command.since, false) >= 0 {
			return slices.Insert(argv, i+1, "--allow-vendor-change")
		}
	}
	z.env.Log().Warn("this version of zypper cannot allow packages to change their vendor")
	return argv
}

// ask runs zypper for a question and returns its answer.
func (z *zypper) ask(ctx context.Context, h how, args ...string) (*element, error) {
	h.query, h.xml = true, true
	out, err := z.run(ctx, h, args...)
	if err != nil {
		return nil, err
	}
	return parseXML(out.Stdout), nil
}

// solvables are the packages, patterns or patches that zypper search finds.
func (z *zypper) solvables(ctx context.Context, args ...string) ([]*element, error) {
	e, err := z.ask(ctx, how{notFound: true}, args...)
	if err != nil {
		return nil, err
	}
	return e.all("solvable"), nil
}

// installed returns what is installed: versions as text, or what attr names. With
// includes, products, patterns and patches are listed, too.
func (z *zypper) installed(ctx context.Context, includes, attr []string) (*value.Map, error) {
	return z.list(ctx, includes, false, attr)
}
