package roster

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"brine/internal/core/sshconf"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// sshConfig makes an entry of each host that a file names without a wildcard.
// Its host is that name, so that the rest of ssh_config holds for it too when it
// is dialled. User, port and key are those that ssh takes: the first that is
// found.
// Salt: salt/roster/sshconfig.py, where a later one counts.
func (l *loader) sshConfig(file string) error {
	if _, err := l.o.Files.ReadFile(file); err != nil {
		return fmt.Errorf("read ssh configuration: %w", err)
	}
	// Relative includes are in ~/.ssh, where ssh looks for them.
	home := cmp.Or(l.o.Home, path.Dir(path.Dir(file)))
	r := sshconf.New(sshconf.Machine{
		ReadFile: l.o.Files.ReadFile, ReadDir: l.o.Files.ReadDir, Home: home, User: l.o.Me,
		Getenv: func(string) (string, bool) { return "", true }, // of no value that is taken here
	}, sshconf.File{Path: file})
	seen := map[string]bool{}
	fault := r.Hosts(func(name string, at source.Pos) {
		_, known := l.r.index[name]
		if again := seen[name]; again && known {
			return
		}
		seen[name] = true
		l.add(name, l.sshHost(r, name, at), at)
	})
	if fault != nil {
		// The hosts of the other lines are there; that they are not reached with
		// half of their settings is up to who dials them.
		l.warn(source.Pos{File: file}, "only the names of hosts are taken: %v", fault)
	}
	return nil
}

// sshHost returns the entry of a host. Where its settings cannot be told here,
// since a program of "Match exec" decides, it has its name alone: the rest holds
// when it is dialled.
func (l *loader) sshHost(r *sshconf.Reader, name string, at source.Pos) *value.Map {
	data := value.MapOf("host", name)
	res, err := r.Lookup(context.Background(), sshconf.Query{Host: name})
	if err != nil {
		if !l.warned[at.File] {
			l.warned[at.File] = true
			l.warn(source.Pos{File: at.File}, "only the names of hosts are taken: %v", err)
		}
		return data
	}
	if c := res.Get("canonicalizehostname"); c != "" && c != "no" {
		return data // name servers decide
	}
	for _, key := range []string{"user", "port"} {
		if v := res.Get(key); v != "" {
			data.Set(key, v)
		}
	}
	// Of several keys, who dials tries all.
	if keys := res.All("identityfile"); len(keys) == 1 && !strings.EqualFold(keys[0], "none") {
		data.Set("priv", keys[0])
	}
	return data
}
