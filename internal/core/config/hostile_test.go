package config_test

import (
	"errors"
	"io/fs"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/host"
)

// TestHostileFiles runs in a directory of another user, and with files that
// others may write where brine looks for its configuration: none of them is read
// unless it is named.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	const saltfile = "salt-call:\n  ext_pillar: [{cmd_json: evil}]\n"
	const conf = "ext_pillar: [{cmd_json: evil}]\n"
	for _, tt := range []struct {
		name     string
		file     string
		text     string
		uid, gid int
		mode     fs.FileMode
		me       int // 0: root
		good     bool
	}{
		{"Saltfile of another", "/root/Saltfile", saltfile, 1000, 0, 0o644, 0, false},
		{"Saltfile for all to write", "/root/Saltfile", saltfile, 0, 0, 0o666, 0, false},
		{"Saltfile of a group", "/root/Saltfile", saltfile, 0, 100, 0o664, 0, false},
		{"Saltfile of another for a user", "/root/Saltfile", saltfile, 1000, 0, 0o644, 1001, false},
		{"own Saltfile", "/root/Saltfile", saltfile, 0, 0, 0o644, 0, true},
		{"own Saltfile of a user", "/root/Saltfile", saltfile, 1001, 1001, 0o664, 1001, true},
		{"Saltfile of root for a user", "/root/Saltfile", saltfile, 0, 0, 0o644, 1001, true},
		{"home", "/root/.salt/Saltfile", saltfile, 1000, 0, 0o644, 0, false},
		{"configuration", "/etc/salt/minion", conf, 1000, 0, 0o644, 0, false},
		{"included", "/etc/salt/minion.d/x.conf", conf, 0, 0, 0o602, 0, false},
		{"own configuration", "/etc/salt/minion", conf, 0, 0, 0o640, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := host.NewFake()
			f.UID, f.GID = tt.me, tt.me
			f.PutFile(tt.file, tt.text, tt.mode)
			f.PutOwner(tt.file, tt.uid, tt.gid)
			o := config.Options{Kind: config.Minion, Host: f, Section: "salt-call"}
			cfg, err := config.Load(o)
			var bad *host.UntrustedFileError
			switch {
			case tt.good && (err != nil || cfg.Opts.At("ext_pillar") == nil):
				t.Errorf("it is not read: %v", err)
			case !tt.good && !errors.As(err, &bad):
				t.Errorf("it is read: %v", err)
			}
			// What is named is the user's word.
			if o.Saltfile, o.Dir = "", "/etc/salt"; tt.text == saltfile {
				o.Saltfile, o.Dir = tt.file, ""
			} else {
				f.PutDir("/etc/salt", 0o755)
			}
			if cfg, err = config.Load(o); err != nil || cfg.Opts.At("ext_pillar") == nil {
				t.Errorf("it is not read although it is named: %v", err)
			}
		})
	}
}
