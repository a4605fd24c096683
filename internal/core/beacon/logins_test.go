package beacon

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/core/host"
)

// login is a record of wtmp.
func login(kind int, line, user, from string, at time.Time) string {
	b := make([]byte, recordSize())
	binary.NativeEndian.PutUint16(b, uint16(kind))
	binary.NativeEndian.PutUint32(b[4:], 4711)
	copy(b[8:], line)
	copy(b[40:], "s/0")
	copy(b[44:], user)
	copy(b[76:], from)
	binary.NativeEndian.PutUint16(b[334:], 3)
	if len(b) > 384 {
		binary.NativeEndian.PutUint64(b[344:], uint64(at.Unix()))
	} else {
		binary.NativeEndian.PutUint32(b[340:], uint32(at.Unix()))
	}
	return string(b)
}

// stamp is a time as it is in an event.
func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func TestLogins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.h.PutGroup(host.Group{Name: "ops", GID: 700, Members: []string{"kim"}})
	day := time.Date(2026, 11, 30, 0, 0, 0, 0, b.h.Now().Location())
	at := func(hour int) time.Time { return day.Add(time.Duration(hour) * time.Hour) }
	b.put(wtmpFile, login(7, "tty1", "old", "", at(1)))
	b.put(btmpFile, "")
	conf := "{wtmp: [], btmp: [], ops: [beacon_module: wtmp, groups: {ops: }, users: {zoe: {time_range: {start: 8am, end: '16:00'}}}, defaults: {time_range: {start: 7am, end: 11pm}}]}"
	b.want(conf, "wtmp: looked\nbtmp: looked\nops: looked")
	more := func(path, text string) {
		t.Helper()
		if err := b.h.AppendFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := login(7, "pts/1", "zoe", "", at(17))
	more(wtmpFile, login(7, "pts/0", "zoe", "a.example", at(9))+next[:100])
	more(btmpFile, login(6, "ssh:notty", "root\x1b", "10.0.0.9", at(3)))
	zoe := `{"type": 7, "PID": 4711, "line": "pts/0", "inittab": "s/0", "user": "zoe", "hostname": "a.example", "exit_status": 0, "session": 3, "time": 0, "addr": ` + stamp(at(9)) + `, "action": "login"}`
	b.want(conf, "wtmp: looked; wtmp/ "+zoe+
		"\nbtmp: looked; btmp/ "+`{"type": 6, "PID": 4711, "line": "ssh:notty", "inittab": "s/0", "user": "root\u001b", "hostname": "10.0.0.9", "exit_status": 0, "session": 3, "time": 0, "addr": `+stamp(at(3))+"}"+
		"\nops: looked; ops/ "+zoe)
	more(wtmpFile, next[100:]+login(7, "pts/2", "kim", "", at(17))+login(7, "pts/3", "lee", "", at(9))+login(8, "pts/0", "", "", at(10)))
	got := b.run(conf)
	lines := strings.Split(got, "\n")
	if n := strings.Count(lines[0], `"action": "login"`); n != 3 || !strings.Contains(lines[0], `"user": "zoe", "hostname": "", "exit_status": 0, "session": 3, "time": 0, "addr": `+stamp(at(10))+`, "action": "logout"`) {
		t.Errorf("wtmp: %s", lines[0])
	}
	if of := lines[2]; strings.Count(of, "; ops/") != 2 || !strings.Contains(of, `"user": "kim"`) || !strings.Contains(of, `"action": "logout"`) {
		t.Errorf("users and groups: %s", of)
	}
	if err := b.h.Remove(wtmpFile); err != nil { // it is rotated
		t.Fatal(err)
	}
	b.put(wtmpFile, login(7, "pts/9", "zoe", "", at(9)))
	if got := b.run("wtmp: []"); strings.Count(got, "; wtmp/") != 1 {
		t.Errorf("after the file was rotated: %s", got)
	}
	b.want("w: [beacon_module: wtmp, groups: {nobody-there: }]", "w: failed; groups: group nobody-there: no such account")
	if err := b.h.Remove(btmpFile); err != nil {
		t.Fatal(err)
	}
	if got := b.run("btmp: []"); !strings.Contains(got, "btmp: failed; ") {
		t.Errorf("without its file: %s", got)
	}
}

func TestLoginFaults(t *testing.T) {
	t.Parallel()
	for conf, want := range map[string]string{
		"[user: {zoe: }]":                                   `there is no option "user" (did you mean "users"?)`,
		"[users: [zoe]]":                                    "users must be a mapping",
		"[users: {zoe: 8am}]":                               "users: zoe must be a mapping, not",
		"[users: {zoe: {time_rang: {}}}]":                   `users: zoe: there is no option "time_rang" (did you mean "time_range"?)`,
		"[groups: {ops: {time_range: {start: 8am}}}]":       "groups: ops: time_range: it must have start and end",
		"[defaults: {time_range: {start: x, end: 8}}]":      `defaults: time_range: "x" is not a date or time`,
		"[defaults: {range: {start: 8am, end: 9am}}]":       `defaults: there is no option "range"`,
		"[defaults: {time_range: {start: 10pm, end: 6am}}]": "6am is before 10pm, so that nothing is between them",
		"[ut_type: {logn: 7}]":                              `ut_type: there is no option "logn" (did you mean "login"?)`,
		"[ut_type: {login: seven}]":                         "ut_type: login: 'seven' is not a whole number",
		"[ut_type: 7]":                                      "ut_type must be a mapping",
	} {
		c := Read(readYAML(t, "wtmp: "+conf))
		if len(c.Faults) != 1 || !strings.Contains(c.Faults[0].Error(), want) {
			t.Errorf("%s: %v, want %q", conf, c.Faults, want)
		}
	}
}
