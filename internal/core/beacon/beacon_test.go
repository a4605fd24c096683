package beacon

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// functions stand in for the execution functions that beacons call.
type functions map[string]value.Value

func (f functions) Invoke(_ context.Context, _ fun.Kind, name string, args fun.Args) (fun.Result, error) {
	for _, key := range []string{name + " " + value.Str(value.NewList(args.Pos...)), name} {
		switch v := f[key].(type) {
		case nil:
		case error:
			return fun.Result{}, v
		default:
			return fun.Result{Value: v}, nil
		}
	}
	return fun.Result{}, fmt.Errorf("%s %v was not expected", name, args.Pos)
}

// Bind is not called.
func (functions) Bind(*fun.Module, *fun.Spec, fun.Args) (*fun.Call, error) {
	return nil, errors.ErrUnsupported
}

// A bench is a machine with beacons.
type bench struct {
	t     *testing.T
	h     *host.Fake
	f     functions
	sent  []Event
	warns []string
	fail  error // of the delivery
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, h: host.NewFake(), f: functions{}}
}

func (b *bench) put(path, text string) { b.h.PutFile(path, text, 0o600) }

func readYAML(t *testing.T, text string) *value.Map {
	t.Helper()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "minion"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Map)
}

// run has the beacons of a configuration look, and returns what became of them in a line.
func (b *bench) run(conf string, names ...string) string {
	b.t.Helper()
	c := Read(readYAML(b.t, conf))
	for _, f := range c.Faults {
		b.t.Fatal(f)
	}
	warn := func(err error) { b.warns = append(b.warns, err.Error()) }
	env := &fun.Env{Machine: fun.Machine{Host: b.h}, Functions: fun.Functions{Invoker: b.f}}
	env.ID = "web1"
	r := &Runner{Env: env, Store: NewStore(b.h, "/cache", warn), Deliver: func(e []Event) error {
		if b.fail == nil {
			b.sent = append(b.sent, e...)
		}
		return b.fail
	}}
	reports, err := r.Run(b.t.Context(), c, names)
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, rep := range reports {
		line := rep.Name + ": " + rep.What
		for _, e := range rep.Events {
			data := e.Data.Copy()
			data.Delete("_stamp")
			data.Delete("id")
			text, err := value.AppendJSON(nil, data, value.JSONOptions{Repr: true, EscapeNonASCII: true})
			if err != nil {
				b.t.Fatal(err)
			}
			line += fmt.Sprintf("; %s %s", strings.TrimPrefix(e.Tag, "salt/beacon/web1/"), text)
		}
		if rep.Err != nil {
			line += "; " + strings.ReplaceAll(rep.Err.Error(), "\n", ", ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func (b *bench) want(conf, want string, names ...string) {
	b.t.Helper()
	if got := b.run(conf, names...); got != want {
		b.t.Errorf("%s\n%s\nwant\n%s", conf, got, want)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mounts := value.NewList()
	for _, m := range []string{"/", "/home", "/srv"} {
		mounts.Append(value.MapOf("mountpoint", m))
	}
	b.f["ps.disk_partitions"] = mounts
	b.f["ps.disk_usage ['/']"] = value.MapOf("percent", 63.0)
	b.f["ps.disk_usage ['/home']"] = value.MapOf("percent", 62.9)
	b.f["ps.disk_usage ['/srv']"] = errors.New("Permission denied")
	b.want("diskusage: [/: 63%, /home: 63]", `diskusage: looked; diskusage/ {"diskusage": 63.0, "mount": "/"}`)
	b.want("diskusage: ['^/(?!srv).*': 10%, /mnt: 5%]", `diskusage: failed; diskusage/ {"diskusage": 63.0, "mount": "/"}; diskusage/ {"diskusage": 62.9, "mount": "/home"}; nothing is mounted at /mnt`)
	b.want("diskusage: [/srv: 5%]", "diskusage: failed; ps.disk_usage: Permission denied")
	b.f["ps.virtual_memory"] = value.MapOf("percent", 50.5, "total", int64(9))
	b.f["ps.swap_memory"] = value.MapOf("percent", 0.0, "total", int64(0))
	b.want("{memusage: [percent: 50%], swapusage: [percent: 1%]}", "memusage: looked; memusage/ {\"memusage\": 50.5}\nswapusage: looked")
	b.f["ps.virtual_memory"] = value.MapOf("percent", 0.0, "total", int64(0))
	b.want("memusage: [percent: 50%]", "memusage: failed; how much memory there is cannot be read on this system")
}

func TestLoad(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	set := func(one float64) {
		b.f["status.loadavg"] = value.MapOf("1-min", one, "5-min", 1.0, "15-min", 1.0)
	}
	event := func(one string) string { return `load: looked; load/ {"1m": ` + one + `, "5m": 1.0, "15m": 1.0}` }
	const each, change = "load: [averages: {1m: [0.0, 2.0], 5m: [0, 9]}]", "load: [averages: {1m: [0.0, 2.0]}, onchangeonly: True, emitatstartup: False]"
	set(1)
	b.want(each, "load: looked")
	set(3)
	b.want(each, event("3.0"))
	b.want(each, event("3.0"))
	b = newBench(t)
	for _, step := range []struct {
		is   float64
		want string
	}{{3, "load: looked"}, {4, "load: looked"}, {1, "load: looked"}, {2.5, event("2.5")}, {2.6, "load: looked"}} {
		set(step.is)
		b.want(change, step.want)
	}
}

func TestService(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = "service: [services: {web: {onchangeonly: True, emitatstartup: False, uncleanshutdown: /run/web.pid}, db: }]"
	db := `service/db {"service_name": "db", "db": {"running": true}}`
	b.f["service.status ['db']"], b.f["service.status ['web']"] = true, true
	b.want(conf, "service: looked; "+db)
	b.f["service.status ['web']"] = false
	b.want(conf, `service: looked; service/web {"service_name": "web", "web": {"running": false, "uncleanshutdown": false}}; `+db)
	b.want(conf, "service: looked; "+db)
	b.f["service.status ['web']"] = errors.New("no bus")
	b.want(conf, "service: failed; "+db+"; web: service.status: no bus")
	b.f["service.status ['web']"] = false // as before
	b.want(conf, "service: looked; "+db)
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = "ps: [processes: {sshd: running, mysqld: stopped, a-name-that-is-long: running, none: running}]"
	b.want(conf, "ps: failed; processes cannot be read: readdir /proc: no such file or directory")
	b.put("/proc/12/comm", "sshd\n")
	b.put("/proc/13/comm", "a-name-that-is-\n")
	b.put("/proc/13/cmdline", "/usr/bin/a-name-that-is-long\x00-v\x00")
	b.want(conf, `ps: looked; ps/ {"sshd": "Running"}; ps/ {"mysqld": "Stopped"}; ps/ {"a-name-that-is-long": "Running"}`)
}

func TestPackages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = "pkg: [pkgs: [zsh]]"
	b.f["pkg.version"], b.f["pkg.latest_version"] = "1.0", ""
	b.want(conf, "pkg: looked")
	b.f["pkg.latest_version"] = "1.1"
	b.want(conf, `pkg: looked; pkg/ {"pkg": "zsh", "version": "1.1", "status": "upgrade"}`)
	b.want(conf, "pkg: looked")
	b.f["pkg.version"] = errors.New("dpkg is locked")
	b.want(conf, "pkg: failed; zsh: pkg.version: dpkg is locked")
	b.f["pkg.version"] = ""
	b.want(conf, `pkg: looked; pkg/ {"pkg": "zsh", "version": null, "status": "not-installed"}`)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.f["status.loadavg"] = value.MapOf("1-min", 0.5, "5-min", 0.25)
	b.f["status.w"] = value.NewList("ann", "bob")
	b.f["status.time"] = "now"
	tag := "status: looked; status/2024-01-02T03:04:05.678901 "
	b.want("status: [loadavg: [5-min], w: [1], time: [0]]", tag+`{"data": {"loadavg": {"5-min": 0.25}, "w": {"1": "bob"}, "time": {"0": "now"}}}`)
	b.want("status: [loadavg: all]", tag+`{"data": {"loadavg": {"1-min": 0.5, "5-min": 0.25}}}`)
	b.want("status: [loadavg: [9-min]]", strings.Replace(tag, "looked", "failed", 1)+`{"data": {}}; status.loadavg: it returns no field '9-min'`)
}

func TestLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = `log: [file: /var/log/app, tags: {bad/line: {regex: .*error}, all: {regex: x}}]`
	b.want(conf, "log: failed; stat /var/log/app: no such file or directory")
	b.put("/var/log/app", "an old error\n")
	b.want(conf, "log: looked")
	add := func(text string) {
		t.Helper()
		if err := b.h.AppendFile("/var/log/app", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add("fine\nnew error \xff\nx no end")
	b.want(conf, `log: looked; log/bad/line {"match": "yes", "raw": "new error `+"\\ufffd"+`", "error": ""}`)
	b.want(conf, "log: looked")
	b.put("/var/log/app", "error after it was emptied\n")
	b.want(conf, `log: looked; log/bad/line {"match": "yes", "raw": "error after it was emptied", "error": ""}`)
	add(strings.Repeat("some error\n", maxFound+7))
	if first, second := strings.Count(b.run(conf), `"match"`), strings.Count(b.run(conf), `"match"`); first != maxFound || second != 7 {
		t.Errorf("%d lines were found, and then %d", first, second)
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = "journald: [services: {sshd: {SYSLOG_IDENTIFIER: sshd, PRIORITY: 6}, cron: {_COMM: cron}}]"
	var argv []string
	out := host.Output{}
	b.h.HandleCommand("journalctl *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		argv = c.Argv
		return out, nil
	})
	b.want(conf, "journald: looked")
	out.Stdout = []byte(`{"__CURSOR": "c1", "SYSLOG_IDENTIFIER": "sshd", "PRIORITY": "6", "MESSAGE": [104, 105], "_PID": "7"}` + "\n" + `{"__CURSOR": "c2", "SYSLOG_IDENTIFIER": "sshd", "PRIORITY": "3"}` + "\n")
	b.want(conf, `journald: looked; journald/sshd {"__CURSOR": "c1", "SYSLOG_IDENTIFIER": "sshd", "PRIORITY": 6, "MESSAGE": "hi", "_PID": 7}`)
	if want := "journalctl --quiet --no-pager --output=json --since=@1704164645 SYSLOG_IDENTIFIER=sshd PRIORITY=6 + _COMM=cron --all"; strings.Join(argv, " ") != want {
		t.Errorf("%q, want %q", argv, want)
	}
	out.Stdout = nil
	b.want(conf, "journald: looked")
	if argv[4] != "--after-cursor=c2" {
		t.Errorf("%q", argv)
	}
	out = host.Output{Status: 1, Stderr: []byte("no journal")}
	b.want(conf, "journald: failed; journalctl failed (1): no journal")
	out = host.Output{Stdout: []byte("hello\n")}
	b.want(conf, "journald: failed; journalctl printed what is not an entry of the journal")
}

func TestInotify(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const conf = `inotify: [files: {/etc/app: {recurse: True, mask: [create, delete, modify, attrib], exclude: [/etc/app/tmp, '*.swp', {'x[0-9]$': {regex: True}}]}, /etc/one: {mask: [create, close_write, delete_self]}}]`
	write := b.put
	write("/etc/app/a", "1")
	b.want(conf, "inotify: looked")
	b.want(conf, "inotify: looked")
	write("/etc/app/a", "2")
	write("/etc/app/sub/b", "1")
	write("/etc/app/tmp", "1")
	write("/etc/app/c.swp", "1")
	write("/etc/app/x7", "1")
	write("/etc/one", "1")
	b.want(conf, `inotify: looked; inotify//etc/app {"path": "/etc/app/a", "change": "IN_MODIFY"}; inotify//etc/app {"path": "/etc/app/sub", "change": "IN_CREATE|IN_ISDIR"}; `+
		`inotify//etc/app/sub {"path": "/etc/app/sub/b", "change": "IN_CREATE"}; inotify//etc/one {"path": "/etc/one", "change": "IN_CREATE"}`)
	if err := b.h.Chmod("/etc/app/a", 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.h.Chtimes("/etc/one", time.Unix(9, 0), time.Unix(9, 0)); err != nil { // the content is the same
		t.Fatal(err)
	}
	if err := b.h.Remove("/etc/app/sub/b"); err != nil {
		t.Fatal(err)
	}
	b.want(conf, `inotify: looked; inotify//etc/app {"path": "/etc/app/a", "change": "IN_ATTRIB"}; inotify//etc/app/sub {"path": "/etc/app/sub/b", "change": "IN_DELETE"}`)
	write("/etc/one", "2")
	b.want(conf, `inotify: looked; inotify//etc/one {"path": "/etc/one", "change": "IN_CLOSE_WRITE"}`)
	if err := b.h.Remove("/etc/one"); err != nil {
		t.Fatal(err)
	}
	b.want(conf, `inotify: looked; inotify//etc/one {"path": "/etc/one", "change": "IN_DELETE_SELF"}`)
}

// An interval, names, states that run, run_once and a spool that takes nothing.
func TestWhenABeaconLooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.f["ps.virtual_memory"] = value.MapOf("percent", 60.0, "total", int64(9))
	b.f["saltutil.is_running"] = value.NewList()
	found := `looked; %s/ {"memusage": 60.0}`
	event := func(name string) string { return name + ": " + fmt.Sprintf(found, name) }
	conf := "{m: [beacon_module: memusage, percent: 1, interval: 60], idle: [beacon_module: memusage, percent: 1, enabled: False]}"
	b.want(conf, event("m")+"\nidle: disabled")
	b.want(conf, "m: not due\nidle: disabled")
	b.want(conf, event("m"), "m")
	b.h.SetNow(b.h.Now().Add(59500 * time.Millisecond))
	b.want(conf, event("m")+"\nidle: disabled")
	if got := b.run(conf, "n"); got != `error: no beacon "n"; the configuration has m, idle` {
		t.Error(got)
	}
	b.want("{enabled: False, m: [beacon_module: memusage, percent: 1]}", "m: disabled")
	once := "m: [beacon_module: memusage, percent: 1, run_once: True]"
	b.want(once, event("m"))
	b.want(once, "m: disabled")
	quiet := "q: [beacon_module: memusage, percent: 1, disable_during_state_run: True]"
	b.f["saltutil.is_running"] = value.NewList(value.MapOf("fun", "state.apply"))
	b.want(quiet, "q: states are applied")
	b.f["saltutil.is_running"] = value.NewList()
	b.want(quiet, event("q"))
	b.fail = errors.New("no space left on device")
	b.want(quiet, "q: failed; its events go nowhere, and come again in the next run: no space left on device")
}

// The file of what is kept may have anything, and belong to anybody.
func TestHostileState(t *testing.T) {
	t.Parallel()
	const conf = "pkg: [pkgs: [zsh]]"
	for _, text := range []string{
		"", "x", "[]", "{", `{"pkg": 1}`, `{"pkg": {"kind": "pkg", "at": "x", "data": {}}}`, `{"pkg": {"kind": "pkg", "at": "2024-01-02T03:04:05Z", "data": {"last": [1]}}}`,
		`{"pkg": {"kind": "load", "at": "2024-01-02T03:04:05Z", "data": {}}}`, strings.Repeat("[", 100000),
	} {
		b := newBench(t)
		b.f["pkg.version"], b.f["pkg.latest_version"] = "1.0", ""
		b.put("/cache/beacons/state.json", text)
		b.want(conf, "pkg: looked")
		b.f["pkg.latest_version"] = "1.1"
		b.want(conf, `pkg: looked; pkg/ {"pkg": "zsh", "version": "1.1", "status": "upgrade"}`)
	}
	b := newBench(t)
	b.put("/etc/shadow", "secret")
	b.put("/cache/beacons/x", "")
	if err := b.h.Symlink("/etc/shadow", "/cache/beacons/state.json"); err != nil {
		t.Fatal(err)
	}
	b.f["pkg.version"], b.f["pkg.latest_version"] = "1.0", ""
	b.want(conf, "pkg: looked")
	if text, _ := b.h.ReadFile("/etc/shadow"); string(text) != "secret" || len(b.warns) == 0 {
		t.Errorf("%q, %v", text, b.warns)
	}
	b = newBench(t)
	b.put("/cache/beacons/x", "")
	if err := b.h.Lchown("/cache/beacons", 7, 7); err != nil {
		t.Fatal(err)
	}
	if got := b.run(conf); !strings.Contains(got, "belongs to the user 7") {
		t.Error(got)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conf, want string }{
		{"diskusage: {/: 5%}", `minion:1:1: beacon "diskusage": its options must be a list, not a mapping`},
		{"diskusage: [/: 5%, 3]", `minion:1:20: beacon "diskusage": an option must be a mapping, not 3`},
		{"diskusage: [/: much]", `beacon "diskusage": /: 'much' is not a percentage such as 90%`},
		{"diskusage: [/: 101%]", `'101%' is not a percentage`},
		{"diskusage: ['(': 5%]", `"(" is not a regular expression`},
		{"diskusage: []", "no file system is named"},
		{"diskusag: [/: 5%]", `there is no beacon "diskusag" (did you mean "diskusage"?)`},
		{"x: [beacon_module: sh]", `beacon "x": the beacon sh of Salt is not there: it follows shells with strace`},
		{"a/b: [beacon_module: load]", "has no slash"},
		{"memusage: [percent: 5, intervall: 5]", `there is no option "intervall" (did you mean "interval"?)`},
		{"memusage: [percent: 5, interval: often]", "interval: 'often' is not a number of seconds"},
		{"memusage: [percent: 5, enabled: 3]", "enabled: 3 is neither True nor False"},
		{"memusage: []", "the option percent is missing"},
		{"load: [averages: {2m: [0, 1]}]", `"2m" is none of 1m, 5m and 15m`},
		{"load: [averages: {1m: [0]}]", "[0] is not a list of a lower and an upper limit"},
		{"load: [averages: {1m: [2, 1]}]", "the lower limit 2 is above the upper one 1"},
		{"service: [services: {web: {onchange: True}}]", `services: web: there is no option "onchange"`},
		{"service: [services: {web: 1}]", "services: web must be a mapping, not a number"},
		{"ps: [processes: {web: dead}]", "'dead' is neither running nor stopped"},
		{"log: [file: app.log, tags: {x: {regex: y}}]", "'app.log' is not an absolute path"},
		{"log: [file: /x, tags: {x: {regex: '('}}]", `"(" is not a regular expression`},
		{"journald: [services: {x: {message: y}}]", `"message" is not a field of the journal`},
		{"inotify: [files: {/x: {mask: [open]}}]", "open needs a process that watches all the time"},
		{"inotify: [files: {/x: {mask: [modfy]}}]", `there is no mask "modfy" (did you mean "modify"?)`},
		{"inotify: [files: {x: {}}]", "'x' is not an absolute path"},
		{"cert_info: [files: [a.pem]]", `"a.pem" is not an absolute path`},
		{"pkg: [pkgs: zsh]", "pkgs must be a list, not text"},
		{"network_info: [interfaces: {eth0: {type: less}}]", "type: 'less' is neither equal nor greater"},
		{"network_settings: [interfaces: {eth0: {ipadr: }}]", `there is no option "ipadr" (did you mean "ipaddr"?)`},
		{"status: [time: [{}]]", "time: {} is not the name of a field"},
	} {
		c := Read(readYAML(t, tt.conf))
		if len(c.Entries) > 0 || len(c.Faults) == 0 || !strings.Contains(errors.Join(c.Faults...).Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.conf, c.Faults, tt.want)
		}
	}
}

// certificate makes a certificate that expires at a time.
func certificate(t *testing.T, until time.Time) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "web1", Organization: []string{"Brine"}},
		NotBefore: until.AddDate(-1, 0, 0), NotAfter: until, DNSNames: []string{"web1.example.com"}, BasicConstraintsValid: true,
	}, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA"}}, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return "a comment\n" + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	soon := host.FakeTime().Truncate(time.Second).AddDate(0, 0, 20)
	b.put("/etc/ssl/soon.pem", certificate(t, soon))
	b.put("/etc/ssl/later.pem", certificate(t, soon.AddDate(1, 0, 0)))
	b.put("/etc/ssl/none.pem", "nothing")
	b.want("cert_info: [files: [/etc/ssl/later.pem, {/etc/ssl/soon.pem: {notify_days: 10}}]]", "cert_info: looked")
	b.want("cert_info: [files: [/etc/ssl/none.pem, /etc/ssl/gone.pem]]", "cert_info: failed; /etc/ssl/none.pem: it has no certificate in the format PEM, /etc/ssl/gone.pem: stat /etc/ssl/gone.pem: no such file or directory")
	b.want("cert_info: [files: [/etc/ssl/soon.pem, /etc/ssl/later.pem], notify_days: 30]", `cert_info: looked; cert_info/ {"certificates": [{"cert_path": "/etc/ssl/soon.pem", "issuer": "CN=\"CA\"", "issuer_dict": {"CN": "CA"}, `+
		`"notAfter_raw": "20240122030405Z", "notAfter": "2024-01-22 03:04:05Z", "notBefore_raw": "20230122030405Z", "notBefore": "2023-01-22 03:04:05Z", "serial_number": 7, "signature_algorithm": "Ed25519", `+
		`"subject": "O=\"Brine\",CN=\"web1\"", "subject_dict": {"O": "Brine", "CN": "web1"}, "version": 2, `+
		`"extensions": [{"ext_name": "basicConstraints", "ext_data": "CA:FALSE"}, {"ext_name": "subjectAltName", "ext_data": "DNS:web1.example.com"}], "has_expired": false}]}`)
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.f["ps.network_io_counters ['eth0']"] = value.MapOf("bytes_sent", int64(10), "errin", int64(3))
	b.f["ps.network_io_counters ['eth1']"] = false
	sent := `network_info: looked; network_info/ {"interface": "eth0", "network_info": {"bytes_sent": 10, "errin": 3}}`
	b.want("network_info: [interfaces: {eth0: {bytes_sent: 10}}]", sent)
	b.want("network_info: [interfaces: {eth0: {type: greater, bytes_sent: 10, errin: 2}}]", sent)
	b.want("network_info: [interfaces: {eth0: {type: greater, bytes_sent: 10, errin: 3}}]", "network_info: looked")
	b.want("network_info: [interfaces: {eth1: {errin: 3}}]", "network_info: failed; there is no interface eth1")

	const conf = "network_settings: [interfaces: {'eth.*': {ipaddr: , promiscuity: {onvalue: 1}, mtu: }}]"
	set := func(mtu, flags, addr string) {
		b.put("/sys/class/net/eth0/mtu", mtu+"\n")
		b.put("/sys/class/net/eth0/flags", flags+"\n")
		ip, ipnet, err := net.ParseCIDR(addr)
		if err != nil {
			t.Fatal(err)
		}
		ipnet.IP = ip
		b.h.Ifaces = []host.Interface{{Name: "lo"}, {Name: "eth0", Addrs: []*net.IPNet{ipnet}}}
	}
	set("1500", "0x1003", "10.0.0.1/24")
	b.want(conf, "network_settings: looked")
	set("1500", "0x1003", "10.0.0.2/24")
	b.want(conf, `network_settings: looked; network_settings/eth0 {"interface": "eth0", "change": {"ipaddr": [["10.0.0.2", 24]]}}`)
	set("9000", "0x1103", "10.0.0.2/24")
	b.want(strings.Replace(conf, "[", "[coalesce: True, ", 1), `network_settings: looked; network_settings/result {"changes": {"eth0": {"promiscuity": 1, "mtu": 9000}}}`)
	set("9000", "0x1003", "10.0.0.2/24")
	b.want(conf, "network_settings: looked")
	b.h.Ifaces = nil
	b.want(conf, "network_settings: failed; there is no interface eth.*")
}

// The units have the paths of inotify beacons, quoted, and nothing else of a beacon.
func TestUnits(t *testing.T) {
	t.Parallel()
	in := Installation{Exe: "/opt/a b/brine", Config: "/etc/salt", CacheDir: "/var/cache/100%", Every: 90 * time.Second}
	c := Read(readYAML(t, "load: [averages: {1m: [0, 1]}]"))
	files, err := c.Units(in)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for name, want := range map[string]string{
		"brine-beacon.service": "ExecStart=\"/opt/a b/brine\" beacon run -c /etc/salt --out=quiet\n", "brine-beacon.timer": "OnUnitActiveSec=90s\n",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: no %q in\n%s", name, want, files[name])
		}
	}
	if !strings.Contains(files["brine-beacon.service"], "ReadWritePaths=-/var/cache/100%%\n") {
		t.Error(files["brine-beacon.service"])
	}
	c = Read(readYAML(t, "{inotify: [files: {/b: {}, /a 5%: {}}], own: [beacon_module: inotify, files: {/b: {}}], idle: [beacon_module: inotify, enabled: False, files: {/c: {}}]}"))
	files, err = c.Units(in)
	if err != nil || !strings.Contains(files["brine-beacon-files.path"], "[Path]\nPathModified=/a 5%%\nPathModified=/b\nUnit=brine-beacon-files.service\n") {
		t.Errorf("%v, %s", err, files["brine-beacon-files.path"])
	}
	if text := files["brine-beacon-files.service"]; !strings.Contains(text, "--out=quiet inotify own\n") || !strings.Contains(text, "StartLimitIntervalSec=0\n") {
		t.Error(text)
	}
	if _, err = Read(readYAML(t, `inotify: [files: {"/a\nExecStart=/bin/sh": {}}]`)).Units(in); err == nil {
		t.Error("a path with a line break became a unit")
	}
}
