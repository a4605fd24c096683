package config_test

import (
	"io/fs"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/host"
)

// TestUpwards looks for a Saltfile above the working directory.
func TestUpwards(t *testing.T) {
	t.Parallel()
	const text = "salt-call:\n  id: found\n"
	put := func(f *host.Fake, path string, uid, gid int, mode fs.FileMode) {
		f.PutFile(path, text, mode)
		if err := f.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		made func(*host.Fake)
		o    config.Options
		uid  int
		want bool
	}{
		{name: "in the parent", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 0, 0, 0o644) }, want: true},
		{name: "further up", made: func(f *host.Fake) { put(f, "/srv/Saltfile", 0, 0, 0o644) }, want: true},
		{name: "of the user", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 1000, 1000, 0o644) }, uid: 1000, want: true},
		{name: "of root for a user", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 0, 0, 0o644) }, uid: 1000, want: true},
		{name: "nowhere", made: func(*host.Fake) {}},
		{name: "of another", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 1001, 0, 0o644) }},
		{name: "of another for a user", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 1001, 0, 0o644) }, uid: 1000},
		{name: "writable by others", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 0, 0, 0o666) }},
		{name: "writable by a group", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 0, 100, 0o664) }},
		{name: "in a directory for all, as /tmp", made: func(f *host.Fake) {
			put(f, "/srv/Saltfile", 0, 0, 0o644)
			if err := f.Chmod("/srv", 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "above a directory for all", made: func(f *host.Fake) {
			put(f, "/Saltfile", 0, 0, 0o644)
			if err := f.Chmod("/srv", 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "in a directory of another", made: func(f *host.Fake) {
			put(f, "/srv/t/Saltfile", 0, 0, 0o644)
			if err := f.Chown("/srv/t", 1001, 0); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a link", made: func(f *host.Fake) {
			put(f, "/srv/real", 0, 0, 0o644)
			if err := f.Symlink("/srv/real", "/srv/t/Saltfile"); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a directory", made: func(f *host.Fake) { f.PutDir("/srv/t/Saltfile", 0o755); put(f, "/srv/Saltfile", 0, 0, 0o644) }},
		{name: "with -c", made: func(f *host.Fake) { put(f, "/srv/t/Saltfile", 0, 0, 0o644) }, o: config.Options{Dir: "/etc"}},
		{name: "with a variable", made: func(f *host.Fake) {
			put(f, "/srv/t/Saltfile", 0, 0, 0o644)
			f.Env = append(f.Env, "BRINE_CONFIG_DIR=/etc")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := host.NewFake()
			f.PutDir("/srv/t/sub", 0o755)
			f.PutDir("/etc", 0o755)
			f.Cwd = "/srv/t/sub"
			f.UID = tt.uid
			tt.made(f)
			o := tt.o
			o.Kind, o.Host, o.Section, o.Upwards = config.Minion, f, "salt-call", true
			cfg, err := config.Load(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.Opts.Str("id") == "found"; got != tt.want || (cfg.Saltfile != "") != tt.want {
				t.Errorf("read: %v (%q), want %v", got, cfg.Saltfile, tt.want)
			}
			if o.Upwards = false; tt.want {
				if cfg, err = config.Load(o); err != nil || cfg.Opts.Str("id") == "found" {
					t.Errorf("without Upwards: %v, %v", cfg.Opts.Str("id"), err)
				}
			}
		})
	}
}
