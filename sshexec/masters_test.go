package sshexec

import (
	"os"
	"path/filepath"
	"testing"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
)

// TestHostileControlPath: the master of a path that several hosts, ports or accounts
// may share could be that of another host, and commands would run there.
func TestHostileControlPath(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"%C": true, "cm-%C": true, "%r@%h:%p": true, "%n-%p-%r": true, "%k%p%r": true, "%L-%C-%u": true,
		"one": false, "%h": false, "%h:%p": false, "%r@%h": false, "%p%r": false, "%%C": false, "%%h%p%r": false, "%u%l%p": false,
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			conf := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(conf, []byte("ControlPath /run/cm/"+pattern+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			d := NewDialer(Options{Host: host.NewLocal(), Home: t.TempDir(), Me: "me", Config: []string{conf}})
			defer d.Close()
			to, err := d.dest(t.Context(), &roster.Entry{ID: "web1", Host: "web1", User: "root"})
			if err != nil {
				t.Fatal(err)
			}
			if got := to.master != ""; got != want {
				t.Errorf("used: %t", got)
			}
		})
	}
}

// TestControlSettings: what keeps a master from being used, and what does not.
func TestControlSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		conf string
		o    Options
		want string
	}{
		"none":         {conf: "", want: ""},
		"no":           {conf: "ControlPath none\n", want: ""},
		"path":         {conf: "ControlPath " + dir + "/%h-%p-%r\n", want: dir + "/web1-22-root"},
		"auto":         {conf: "ControlMaster auto\nControlPath " + dir + "/%h-%p-%r\n", want: dir + "/web1-22-root"},
		"autoask":      {conf: "ControlMaster autoask\nControlPath " + dir + "/%h-%p-%r\n", want: dir + "/web1-22-root"},
		"new":          {conf: "ControlMaster yes\nControlPath " + dir + "/%h-%p-%r\n", want: ""},
		"ask":          {conf: "ControlMaster ask\nControlPath " + dir + "/%h-%p-%r\n", want: ""},
		"known hosts":  {conf: "ControlPath " + dir + "/%h-%p-%r\n", o: Options{KnownHosts: []string{"/dev/null"}}, want: ""},
		"policy":       {conf: "ControlPath " + dir + "/%h-%p-%r\n", o: Options{Policy: Strict}, want: ""},
		"unknown":      {conf: "ControlPath " + dir + "/%Z\n", want: "error"},
		"another home": {conf: "ControlPath ~nobody-of-that-name/%C\n", want: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conf := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(conf, []byte(tt.conf), 0o600); err != nil {
				t.Fatal(err)
			}
			tt.o.Host, tt.o.Home, tt.o.Me, tt.o.Config = host.NewLocal(), t.TempDir(), "me", []string{conf}
			d := NewDialer(tt.o)
			defer d.Close()
			to, err := d.dest(t.Context(), &roster.Entry{ID: "web1", Host: "web1", User: "root"})
			got := "error"
			if err == nil {
				got = to.master
			}
			if got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestMasterOfAnother: a socket where nobody is a master is left alone, with a word.
func TestMasterOfAnother(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t).Start()
	file := filepath.Join(t.TempDir(), "cm-%C")
	o := options(t, known(t, line(f)))
	conf := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(conf, []byte("ControlPath "+file+"\nUserKnownHostsFile "+o.KnownHosts[0]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var warned []string
	o.Config, o.KnownHosts, o.Warn = []string{conf}, nil, func(text string) { warned = append(warned, text) }
	d := NewDialer(o)
	defer d.Close()
	e := entry(f)
	to, err := d.dest(t.Context(), e)
	if err != nil || to.master == "" {
		t.Fatal(to, err)
	}
	if err := os.WriteFile(to.master, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if len(warned) != 0 { // a file refuses connections as a dead master does
		t.Errorf("warnings %q", warned)
	}
}
