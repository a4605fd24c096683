package beacon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"brine/internal/core/schedule"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Files that login programs write.
const (
	wtmpFile = "/var/log/wtmp"
	btmpFile = "/var/log/btmp"
)

// Types of records; ut_type of wtmp replaces them.
const (
	loginType  = 7
	logoutType = 8
)

// loginKeys are the options of wtmp and btmp.
var loginKeys = []key{
	{name: "users", check: (*checking).isMapping},
	{name: "groups", check: (*checking).isMapping},
	{name: "defaults", check: (*checking).isMapping},
}

// wtmp tells of logins and logouts.
// Salt: salt/beacons/wtmp.py. Differences: ut_type has an effect; time ranges hold for the time of
// the login, not for that of the look; groups without members let nobody pass.
var wtmp = Kind{
	Name: "wtmp", Doc: "logins and logouts",
	keys: append([]key{{name: "ut_type", check: isTypes}}, loginKeys...), check: checkLogins,
	look: func(_ context.Context, l *look) ([]*value.Map, error) { return l.logins(wtmpFile, true) },
}

// btmp tells of logins that failed.
// Salt: salt/beacons/btmp.py.
var btmp = Kind{
	Name: "btmp", Doc: "logins that failed", keys: loginKeys, check: checkLogins,
	look: func(_ context.Context, l *look) ([]*value.Map, error) { return l.logins(btmpFile, false) },
}

func isTypes(c *checking, at source.Pos, name string, v value.Value) {
	m, ok := v.(*value.Map)
	if !ok {
		c.fault(at, "write '{login: 7, logout: 8}'", "%s must be a mapping, not %s", name, value.Kind(v))
		return
	}
	for k, n := range m.All() {
		if k := value.Str(k); k != "login" && k != "logout" {
			c.fault(at, "options are login, logout", "%s: there is no option %q%s", name, k, source.DidYouMean(k, []string{"login", "logout"}))
		}
		c.isInt(at, name+": "+value.Str(k), n)
	}
}

func checkLogins(c *checking) {
	ofRange := func(at source.Pos, where string, m *value.Map) {
		if !m.Has("time_range") {
			return
		}
		if _, err := rangeOf(m.At("time_range")); err != nil {
			c.fault(at, "write 'time_range: {start: 8am, end: 4pm}'", "%s: time_range: %v", where, err)
		}
	}
	for _, option := range []string{"users", "groups"} {
		c.mappings(option, []string{"time_range"}, true, ofRange)
	}
	defaults := c.mapping("defaults")
	for k := range defaults.All() {
		if k := value.Str(k); k != "time_range" {
			c.fault(c.At, "options are time_range", "defaults: there is no option %q%s", k, source.DidYouMean(k, []string{"time_range"}))
		}
	}
	ofRange(c.At, "defaults", defaults)
}

// A timeRange is from a time to another one, of a day or at dates.
type timeRange struct{ start, end schedule.Date }

// rangeOf reads a time_range; nil: there is none.
func rangeOf(v value.Value) (*timeRange, error) {
	if !value.Truth(v) {
		return nil, nil
	}
	m, ok := v.(*value.Map)
	if !ok || m.Len() != 2 || !m.Has("start") || !m.Has("end") {
		return nil, fmt.Errorf("it must have start and end, not %s", value.Repr(v))
	}
	var r timeRange
	var err error
	if r.start, err = schedule.ParseDate(value.Str(m.At("start"))); err != nil {
		return nil, err
	}
	if r.end, err = schedule.ParseDate(value.Str(m.At("end"))); err != nil {
		return nil, err
	}
	if now := time.Now(); r.end.At(now).Before(r.start.At(now)) {
		return nil, fmt.Errorf("%s is before %s, so that nothing is between them", value.Str(m.At("end")), value.Str(m.At("start")))
	}
	return &r, nil
}

// has reports whether a time is in the range.
func (r *timeRange) has(t time.Time) bool {
	return r == nil || !t.Before(r.start.At(t)) && !t.After(r.end.At(t))
}

// A record is one of wtmp or btmp.
type record struct {
	data *value.Map // as in an event of Salt
	kind int64
	line string
	at   time.Time
}

// recordSize is how many bytes a record has: where the C library counts in 64 bits also here, it
// is larger.
func recordSize() int {
	switch runtime.GOARCH {
	case "arm64", "riscv64", "loong64":
		return 400
	}
	return 384
}

// recordOf reads a record. Salt's names are not those of utmp(5): session is the exit status,
// time the session, and addr the time in seconds.
func recordOf(b []byte) record {
	text := func(from, size int) string {
		return strings.ToValidUTF8(strings.Trim(string(b[from:from+size]), "\x00"), "\ufffd")
	}
	short := func(at int) int64 { return int64(int16(binary.NativeEndian.Uint16(b[at:]))) }
	number := func(at int) int64 { return int64(int32(binary.NativeEndian.Uint32(b[at:]))) }
	session, seconds := number(336), number(340)
	if len(b) > 384 {
		session, seconds = int64(binary.NativeEndian.Uint64(b[336:])), int64(binary.NativeEndian.Uint64(b[344:]))
	}
	r := record{kind: short(0), line: text(8, 32), at: time.Unix(seconds, 0)}
	r.data = value.MapOf(
		"type", r.kind, "PID", number(4), "line", r.line, "inittab", text(40, 4), "user", text(44, 32), "hostname", text(76, 256),
		"exit_status", short(332), "session", short(334), "time", session, "addr", seconds,
	)
	return r
}

// logins returns what was added to a file since the last look; actions is whether it has logins
// and logouts. The first look knows what comes from then on.
func (l *look) logins(path string, actions bool) (found []*value.Map, err error) {
	st, err := l.env.Host.Stat(path)
	if err != nil {
		return nil, err
	}
	size := int64(recordSize())
	pos, _ := value.AsInt(l.state.At("pos"))
	inode, _ := value.AsInt(l.state.At("inode"))
	switch {
	case l.first:
		pos = st.Size - st.Size%size
	case inode != int64(st.Inode) || pos > st.Size || pos < 0: // another file, or it was emptied
		pos = 0
	}
	who, wrong := l.who()
	text, err := readFrom(l.env.Host, path, pos)
	if err != nil {
		return nil, err
	}
	ttys := l.state.Map("ttys")
	if ttys == nil {
		ttys = value.NewMap(0)
	}
	login, logout := int64(loginType), int64(logoutType)
	if n, ok := l.mapping("ut_type").At("login").(int64); ok {
		login = n
	}
	if n, ok := l.mapping("ut_type").At("logout").(int64); ok {
		logout = n
	}
	n := 0
	for ; int64(len(text)-n) >= size && len(found) < maxFound; n += int(size) {
		r := recordOf(text[n : n+int(size)])
		switch {
		case actions && r.kind == login:
			r.data.Set("action", "login")
			ttys.Set(r.line, r.data.At("user"))
		case actions && r.kind == logout:
			r.data.Set("action", "logout")
			if user, ok := ttys.Get(r.line); ok {
				r.data.Set("user", user)
				ttys.Delete(r.line)
			}
		}
		if who(r.data.Str("user"), r.at.In(l.env.Host.Now().Location())) {
			found = append(found, r.data)
		}
	}
	for ttys.Len() > maxFound {
		k, _ := ttys.Entry(0)
		ttys.Delete(k)
	}
	l.state.Set("ttys", ttys)
	l.state.Set("inode", int64(st.Inode))
	l.state.Set("pos", pos+int64(n))
	return found, wrong
}

// who returns whether a login of a user at a time is one that the beacon tells of, and an error
// of the groups that are not there.
func (l *look) who() (func(user string, at time.Time) bool, error) {
	defaults, _ := rangeOf(l.mapping("defaults").At("time_range")) // it was checked
	ranges := map[string]*timeRange{}
	add := func(user string, v value.Value) {
		of := defaults
		if m, ok := v.(*value.Map); ok && m.Has("time_range") {
			of, _ = rangeOf(m.At("time_range"))
		}
		if _, ok := ranges[user]; !ok {
			ranges[user] = of
		}
	}
	var errs []error
	for k, v := range l.mapping("users").All() {
		add(value.Str(k), v)
	}
	for k, v := range l.mapping("groups").All() {
		g, err := l.env.Host.LookupGroup(value.Str(k))
		if err != nil {
			errs = append(errs, fmt.Errorf("groups: %w", err))
			continue
		}
		for _, user := range g.Members {
			add(user, v)
		}
	}
	all := l.option("users") == nil && l.option("groups") == nil
	return func(user string, at time.Time) bool {
		of, ok := ranges[user]
		if all {
			of, ok = defaults, true
		}
		return ok && of.has(at)
	}, errors.Join(errs...)
}
