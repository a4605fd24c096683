package yumpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
)

// lockPlugins are the packages that bring the plugin versionlock.
var lockPlugins = []string{
	"python3-dnf-plugin-versionlock", "python2-dnf-plugin-versionlock", "python3-dnf-plugins-extras-versionlock", "python-dnf-plugins-extras-versionlock",
	"yum-plugin-versionlock", "yum-versionlock",
}

// lockConfigs are the configuration files of the plugin.
var lockConfigs = []string{"/etc/dnf/plugins/versionlock.conf", "/etc/yum/pluginconf.d/versionlock.conf"}

// plugin returns the package that is to bring the plugin versionlock here.
func (y *yum) plugin() string {
	if y.name == dnf {
		return lockPlugins[0]
	}
	return "yum-plugin-versionlock"
}

// canLock fails where the program cannot hold packages. dnf5 needs no plugin.
func (y *yum) canLock(ctx context.Context) error {
	switch y.name {
	case dnf5:
		return nil
	case tdnf:
		return &fun.InvocationError{Msg: "Cannot proceed, no versionlock for tdnf"}
	}
	db, err := rpm.Read(ctx, y.env, "")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(db.Packages, func(p rpm.Package) bool { return slices.Contains(lockPlugins, p.Base) }) ||
		slices.ContainsFunc(lockConfigs, func(f string) bool { return machine.Exists(y.env.Host, f) }) {
		return nil
	}
	return &fun.InvocationError{Msg: "Cannot proceed, " + y.plugin() + " is not installed."}
}

// defaultPattern is that of names of packages.
const defaultPattern = `[\w+]+(?:[.-][^-]+)*`

func listHolds(ctx context.Context, c *fun.Call, a *holdsArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	list, err := y.holds(ctx, a.Pattern, a.Full)
	if err != nil {
		return fun.Result{}, err
	}
	return y.result(value.Strings(list...))
}

// holds returns the packages that are held, by the name alone or as the program
// writes them: NAME-EPOCH:VERSION-RELEASE.* for dnf, EPOCH:NAME-VERSION-RELEASE.* for
// yum.
// Salt: salt/modules/yumpkg.py list_holds.
func (y *yum) holds(ctx context.Context, pattern string, full bool) ([]string, error) {
	if err := y.canLock(ctx); err != nil {
		return nil, err
	}
	out, err := y.query(ctx, "versionlock", "list")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		y.retcode = out.Status
	}
	expr := `(` + pattern + `-\S+)`
	text := out.Stdout
	switch {
	case y.name == dnf5:
		text = locksOfDNF5(text)
	case !y.isDNF() && full:
		expr = `(\d+:` + pattern + `-\S+)`
	case !y.isDNF():
		expr = `\d+:(` + pattern + `-\S+)`
	}
	re, err := pyre.Compile(expr, 0)
	if err != nil {
		return nil, &fun.InvocationError{Msg: "invalid pattern: " + err.Error(), Arg: "pattern"}
	}
	var list []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "Last metadata expiration check") || strings.HasPrefix(line, "#") {
			continue
		}
		m, err := re.Search(line)
		if err != nil {
			return nil, &fun.InvocationError{Msg: "invalid pattern: " + err.Error(), Arg: "pattern"}
		}
		if m == nil {
			continue
		}
		lock, _ := m.Group(1)
		if !full {
			lock = lockedName(lock)
		}
		if !slices.Contains(list, lock) {
			list = append(list, lock)
		}
	}
	return list, nil
}

// lockedName returns the name of a lock such as vim-enhanced-2:7.4.827-1.fc22.*
func lockedName(lock string) string {
	for _, end := range ".--" {
		if i := strings.LastIndexByte(lock, byte(end)); i >= 0 {
			lock = lock[:i]
		}
	}
	return lock
}

// locksOfDNF5 returns what dnf5 lists, a paragraph for each lock, as dnf does.
func locksOfDNF5(text string) string {
	var b strings.Builder
	name := ""
	for line := range strings.SplitSeq(text, "\n") {
		if n, ok := strings.CutPrefix(line, "Package name:"); ok {
			name = strings.TrimSpace(n)
		}
		if key, evr, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "evr" && name != "" {
			evr = strings.TrimSpace(evr)
			if !strings.Contains(evr, ":") {
				evr = "0:" + evr
			}
			b.WriteString(name + "-" + evr + ".*\n")
		}
	}
	return b.String()
}

// holdsOrNone returns the names of held packages; none where the program cannot hold
// any.
func (y *yum) holdsOrNone(ctx context.Context) ([]string, error) {
	if y.canLock(ctx) != nil {
		return nil, nil
	}
	before := y.retcode
	defer func() { y.retcode = before }()
	return y.holds(ctx, defaultPattern, false)
}

type holdGiven struct {
	pkg.HoldArgs
	_ bool `arg:"normalize" default:"True" doc:"has no effect"`
	_ fun.Kwargs
}

func hold(ctx context.Context, c *fun.Call, a *holdGiven) (fun.Result, error) {
	return changeHolds(ctx, c, &a.HoldArgs, true)
}

type unholdArgs struct {
	pkg.HoldArgs
	_ fun.Kwargs
}

func unhold(ctx context.Context, c *fun.Call, a *unholdArgs) (fun.Result, error) {
	return changeHolds(ctx, c, &a.HoldArgs, false)
}

func changeHolds(ctx context.Context, c *fun.Call, a *pkg.HoldArgs, on bool) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if err := y.canLock(ctx); err != nil {
		return fun.Result{}, err
	}
	targets, err := a.Names()
	if err != nil {
		return fun.Result{}, err
	}
	m, err := y.setHolds(ctx, targets, on, pkg.TestMode(c))
	if err != nil {
		return fun.Result{}, err
	}
	return y.result(m)
}

// setHolds holds packages, or holds them no longer. It returns by name what came of
// it.
func (y *yum) setHolds(ctx context.Context, targets []string, on, test bool) (*value.Map, error) {
	if err := pkg.CheckNames(targets); err != nil {
		return nil, err
	}
	current, err := y.holds(ctx, defaultPattern, false)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(len(targets))
	for _, t := range targets {
		var result value.Value = true
		comment, changes := "", value.NewMap(2)
		held := slices.Contains(current, t)
		switch {
		case held == on && on:
			comment = "Package " + t + " is already set to be held."
		case held == on:
			comment = "Package " + t + " is not being held."
		case test && on:
			result, comment = nil, "Package "+t+" is set to be held."
		case test:
			result, comment = nil, "Package "+t+" is set to be unheld."
		default:
			ok, err := y.setHold(ctx, t, on)
			if err != nil {
				return nil, err
			}
			result = ok
			switch {
			case ok && on:
				comment, changes = "Package "+t+" is now being held.", value.MapOf("new", "hold", "old", "")
			case ok:
				comment, changes = "Package "+t+" is no longer held.", value.MapOf("new", "", "old", "hold")
			case on:
				comment = "Package " + t + " was unable to be held."
			default:
				comment = "Package " + t + " was unable to be unheld."
			}
		}
		ret.Set(t, value.MapOf("name", t, "changes", changes, "result", result, "comment", comment))
	}
	return ret, nil
}

func (y *yum) setHold(ctx context.Context, name string, on bool) (bool, error) {
	args := []string{"versionlock", name}
	switch {
	case on && y.name == dnf5:
		args = []string{"versionlock", "add", name}
	case !on:
		args = []string{"versionlock", "delete", name}
		if !y.isDNF() { // yum takes the locks as it lists them, not the name
			locks, err := y.holds(ctx, defaultPattern, true)
			if err != nil {
				return false, err
			}
			args = args[:2]
			for _, l := range locks {
				if _, rest, _ := strings.Cut(l, ":"); lockedName(rest) == name {
					args = append(args, l)
				}
			}
		}
	}
	out, err := y.change(ctx, false, args...)
	return out.Status == 0, err
}
