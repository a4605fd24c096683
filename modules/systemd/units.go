package systemd

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// properties are what brine asks of a unit.
const properties = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,CanReload,FragmentPath,SourcePath,Type,RemainAfterExit,Result,Job,ExecMainCode,ExecMainStatus,ExecMainExitTimestampMonotonic,InactiveExitTimestampMonotonic"

// A Unit is what systemd knows of a unit.
type Unit struct {
	ID       string // "" is a name that systemd does not take
	Load     string // loaded, masked, not-found, bad-setting, error
	Active   string // active, reloading, inactive, failed, activating, deactivating
	Type     string // of a service: simple, oneshot, ...
	Result   string // of its last run: success, exit-code, ...
	Fragment string // unit file
	Source   string // what a generator made the unit file of
	Remains  bool   // RemainAfterExit
	Changed  bool   // its files changed since systemd read them
	Reloads  bool   // can reload
	Queued   bool   // a job waits or runs

	// What systemd keeps of the main process that ended last: how it ended, as
	// waitid(2) has it, its exit status, and when; and when the unit was started.
	mainCode, mainStatus, mainEnd, unitStart int64
}

// exited returns the exit status with which the main process ended in the run of the
// unit that was the last; 0 is none that failed.
func (u *Unit) exited() int64 {
	const codeExited = 1 // CLD_EXITED
	if u.Result != "exit-code" || u.mainCode != codeExited || u.unitStart == 0 || u.mainEnd < u.unitStart {
		return 0
	}
	return u.mainStatus
}

// Running reports what systemctl is-active does.
func (u *Unit) Running() bool {
	return u.Active == "active" || u.Active == "reloading" || u.Active == "refreshing"
}

// Available reports whether there is such a unit: it has a file, is masked, or
// still is what it was when it had a file.
func (u *Unit) Available() bool {
	if u.ID == "" {
		return false
	}
	return u.Load != "not-found" || u.Active != "inactive"
}

// Ran reports whether the unit is of the kind that ends when its work is done,
// and did so.
func (u *Unit) Ran() bool {
	return u.Type == "oneshot" && !u.Remains && u.Result == "success" && u.Active == "inactive"
}

// sysv reports whether the unit stands for an init script.
func (u *Unit) sysv() bool { return strings.HasPrefix(u.Source, "/etc/init.d/") }

// parseUnits reads what systemctl show prints: blocks of NAME=VALUE, with empty
// lines between.
func parseUnits(out string) []*Unit {
	var units []*Unit
	var u *Unit
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			u = nil
			continue
		}
		if u == nil {
			u = &Unit{}
			units = append(units, u)
		}
		k, v, _ := strings.Cut(line, "=")
		switch k {
		case "Id":
			u.ID = v
		case "LoadState":
			u.Load = v
		case "ActiveState":
			u.Active = v
		case "Type":
			u.Type = v
		case "Result":
			u.Result = v
		case "FragmentPath":
			u.Fragment = v
		case "SourcePath":
			u.Source = v
		case "RemainAfterExit":
			u.Remains = v == "yes"
		case "NeedDaemonReload":
			u.Changed = v == "yes"
		case "CanReload":
			u.Reloads = v == "yes"
		case "Job":
			u.Queued = v != "" && v != "0"
		case "ExecMainCode":
			u.mainCode = number(v)
		case "ExecMainStatus":
			u.mainStatus = number(v)
		case "ExecMainExitTimestampMonotonic":
			u.mainEnd = number(v)
		case "InactiveExitTimestampMonotonic":
			u.unitStart = number(v)
		}
	}
	return units
}

// number reads a number that systemctl show prints; 0 for anything else.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// unitTypes are the kinds of units that Salt lists and takes as suffixes.
var unitTypes = []string{"service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer"}

// canonical returns the full name of a unit: a name without a type is a service.
func canonical(name string) string {
	typ := name[strings.LastIndexByte(name, '.')+1:]
	if typ != name && (slices.Contains(unitTypes, typ) || typ == "slice" || typ == "scope") {
		return name
	}
	return name + ".service"
}

// plain reports whether systemctl takes a full name as it is: no pattern, no
// path, nothing to escape.
func plain(unit string) bool {
	for i := range len(unit) {
		c := unit[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(`:-_.@\`, c) >= 0 {
			continue
		}
		return false
	}
	return len(unit) > 0 && len(unit) <= 255
}

// template reports whether a full name is that of a template without instance.
func template(unit string) bool { return strings.Contains(unit, "@.") }

// A cache is what a run knows of units.
type cache struct {
	mu      sync.Mutex
	seen    uint64 // host.Host.Changes when it was learnt
	at      time.Time
	units   map[string]*Unit
	files   map[string]fileState
	renewed map[string]bool // units for whose sake systemd has read its files again
}

// A fileState is what systemctl is-enabled says.
type fileState struct {
	word string // enabled, disabled, static, masked, ...; "" is unknown
	on   bool   // whether it counts as enabled
}

type cacheKey struct{}

// A manager is systemd as one call sees it.
type manager struct {
	h   host.Host
	env *fun.Env
	*cache
}

func newManager(env *fun.Env) *manager {
	fresh := func() any { return &cache{renewed: map[string]bool{}} }
	var c any
	if env.Memo != nil {
		c = env.Memo.Once(cacheKey{}, fresh)
	} else {
		c = fresh()
	}
	return &manager{h: env.Host, env: env, cache: c.(*cache)}
}

// current empties the cache if anything may have changed. The lock is held.
func (m *manager) current() {
	now, seen := m.h.Now(), m.h.Changes()
	if m.units == nil || m.seen != seen || now.Sub(m.at) > machine.MaxAge || now.Before(m.at) {
		m.units, m.files = map[string]*Unit{}, map[string]fileState{}
		m.seen, m.at = seen, now
	}
}

// forget has units asked for again.
func (m *manager) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units = nil
}

// unit returns what systemd knows of a unit. The first question of a run is asked
// for all services that states of the run still deal with, so that one process
// answers them all.
func (m *manager) unit(ctx context.Context, name string) (*Unit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unitLocked(ctx, name)
}

func (m *manager) unitLocked(ctx context.Context, name string) (*Unit, error) {
	m.current()
	full := canonical(name)
	if u := m.units[full]; u != nil {
		return u, nil
	}
	if !plain(full) || template(full) {
		u, err := m.odd(ctx, full)
		if err == nil {
			m.units[full] = u
		}
		return u, err
	}
	if err := m.load(ctx, append([]string{full}, m.others(full, false)...)); err != nil {
		return nil, err
	}
	return m.units[full], nil
}

// odd returns a unit of which systemctl show cannot tell together with others: a
// template, or a name that it would escape.
func (m *manager) odd(ctx context.Context, full string) (*Unit, error) {
	if template(full) {
		u := &Unit{ID: full, Load: "not-found", Active: "inactive"}
		for _, dir := range unitDirs {
			if st, err := m.h.Stat(dir + "/" + full); err == nil && !st.Mode.IsDir() {
				u.Load, u.Fragment = "loaded", dir+"/"+full
				break
			}
		}
		return u, nil
	}
	u := &Unit{}
	if service.HasGlob(full) {
		return u, nil
	}
	out, err := m.look(ctx, "show", "--property", properties, "--", full)
	if got := parseUnits(out.Stdout); err == nil && out.Status == 0 && len(got) == 1 {
		u = got[0]
	}
	return u, err
}

// batch is how many units one process is asked for.
const batch = 200

// load asks systemd for units. The lock is held.
func (m *manager) load(ctx context.Context, names []string) error {
	for part := range slices.Chunk(names, batch) {
		got, err := m.show(ctx, part)
		if err != nil {
			return err
		}
		for i, name := range part {
			m.units[name] = got[i]
		}
	}
	return nil
}

// show returns units in the order of names. Where systemctl does not answer for
// all of them at once, each is asked for by itself.
func (m *manager) show(ctx context.Context, names []string) ([]*Unit, error) {
	out, err := m.look(ctx, append([]string{"show", "--property", properties, "--"}, names...)...)
	if err != nil {
		return nil, err
	}
	got := parseUnits(out.Stdout)
	switch {
	case len(got) == len(names):
		return got, nil
	case len(names) == 1:
		if out.Status != 0 {
			return nil, fun.Errorf("Failed to get information on unit '%s'%s", names[0], reasonOf(out))
		}
		return []*Unit{{}}, nil
	}
	got = got[:0]
	for _, name := range names {
		u, err := m.show(ctx, []string{name})
		if err != nil {
			return nil, err
		}
		got = append(got, u...)
	}
	return got, nil
}

// others returns the units, but one, that states of the run are still to look at;
// enable asks for those only whose enablement matters.
func (m *manager) others(but string, enable bool) []string {
	if m.env.Run == nil {
		return nil
	}
	seen := map[string]bool{but: true}
	var names []string
	for _, c := range m.env.Run.Low() {
		if c.State != "service" || enable && !enables(c) {
			continue
		}
		full := canonical(c.Name)
		if seen[full] || m.known(full, enable) || !plain(full) || template(full) || m.env.Run.Return(c.Tag()) != nil {
			continue
		}
		seen[full] = true
		names = append(names, full)
	}
	return names
}

func (m *manager) known(full string, enable bool) bool {
	if enable {
		_, ok := m.files[full]
		return ok
	}
	return m.units[full] != nil
}

// enables reports whether a state looks at whether its service starts at boot.
func enables(c *fun.Chunk) bool {
	return c.Fun == "enabled" || c.Fun == "disabled" || c.Low != nil && c.Low.At("enable") != nil
}

// fileState returns whether a unit is enabled, by its files.
func (m *manager) fileState(ctx context.Context, name string) (fileState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current()
	full := canonical(name)
	if st, ok := m.files[full]; ok {
		return st, nil
	}
	names := m.together(ctx, full)
	if len(names) > 1 {
		if err := m.loadFiles(ctx, names); err != nil {
			return fileState{}, err
		}
		if st, ok := m.files[full]; ok {
			return st, nil
		}
	}
	st, err := m.isEnabled(ctx, "", full)
	if err == nil {
		m.files[full] = st
	}
	return st, err
}

// together returns the units to ask for in one process: systemctl is-enabled ends
// at the first that has no file, and answers for init scripts out of order.
func (m *manager) together(ctx context.Context, full string) []string {
	var names []string
	for _, n := range append([]string{full}, m.others(full, true)...) {
		if !plain(n) || template(n) {
			continue
		}
		u, err := m.unitLocked(ctx, n)
		if err != nil || u.Fragment == "" && u.Load != "masked" || u.sysv() {
			continue
		}
		names = append(names, n)
	}
	return names
}

// loadFiles asks for units in one process. What it does not tell is asked for
// later, one by one.
func (m *manager) loadFiles(ctx context.Context, names []string) error {
	for part := range slices.Chunk(names, batch) {
		out, err := m.look(ctx, append([]string{"is-enabled", "--"}, part...)...)
		if err != nil {
			return err
		}
		words := strings.Fields(out.Stdout)
		if len(words) != len(part) {
			continue
		}
		for i, n := range part {
			m.files[n] = fileState{words[i], slices.Contains(enabledWords, words[i])}
		}
	}
	return nil
}

// enabledWords are the answers for which systemctl is-enabled succeeds.
var enabledWords = []string{"enabled", "enabled-runtime", "static", "alias", "indirect", "generated"}

// isEnabled asks for one unit.
func (m *manager) isEnabled(ctx context.Context, root, full string) (fileState, error) {
	argv := []string{"is-enabled", "--", full}
	if root != "" {
		argv = append([]string{"--root", root}, argv...)
	}
	out, err := m.look(ctx, argv...)
	words := strings.Fields(out.Stdout)
	st := fileState{on: err == nil && out.Status == 0}
	if len(words) > 0 {
		st.word = words[len(words)-1]
	}
	return st, err
}

// look asks systemctl something.
func (m *manager) look(ctx context.Context, argv ...string) (tool.Out, error) {
	return tool.Look(ctx, m.h, append([]string{"systemctl", "--no-pager"}, argv...)...)
}

// reasonOf is a tool's own message, after a colon.
func reasonOf(out tool.Out) string {
	text := strings.TrimSpace(out.Stderr)
	if text == "" {
		return ""
	}
	return ": " + text
}

// unitDirs are where unit files are, in the order in which systemd looks.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// fresh makes systemd read its files again where it has not seen a unit's as they
// are now.
func (m *manager) fresh(ctx context.Context, name string) error {
	u, err := m.unit(ctx, name)
	if err != nil {
		return err
	}
	if !u.Changed {
		if u.Load != "not-found" || !m.unread(name) {
			return nil
		}
	}
	return m.reload(ctx)
}

// unread reports, once for each unit, whether there is a file of a unit that
// systemd does not know.
func (m *manager) unread(name string) bool {
	full := canonical(name)
	if !plain(full) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.renewed[full] {
		return false
	}
	for _, dir := range unitDirs {
		if machine.Exists(m.h, path.Join(dir, full)) {
			m.renewed[full] = true
			return true
		}
	}
	return false
}

// reload makes systemd read all its files again.
func (m *manager) reload(ctx context.Context) error {
	out, err := m.act(ctx, "--system", "daemon-reload")
	if err == nil && out.Status != 0 {
		err = fun.Errorf("Problem performing systemctl daemon-reload: %s", strings.TrimSpace(out.Stdout+out.Stderr))
	}
	return err
}

// act has systemctl do something; it never asks for a password.
func (m *manager) act(ctx context.Context, argv ...string) (tool.Out, error) {
	return tool.Run(ctx, m.h, append([]string{"systemctl", "--no-ask-password"}, argv...)...)
}
