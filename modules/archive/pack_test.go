package archive_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/archive"
)

// The names are those that zip_ of salt/modules/archive.py returns.
func TestPack(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, p := range []string{"/d/a", "/d/b.txt", "/d/s/c", "/e.txt"} {
		h.PutFile(p, "text of "+p, 0o640)
	}
	for _, tool := range []string{"/usr/bin/tar", "/usr/bin/zip", "/usr/bin/unzip"} {
		h.PutExe(tool)
	}
	h.OnCommand("tar -czf /t.tgz -C /d a b.txt", host.Output{})
	h.OnCommand("tar -tf /none", host.Output{Status: 2, Stdout: []byte("tar: /none: Cannot open\n")})
	h.OnCommand("zip -r /z.zip /d/b.txt", host.Output{Stdout: []byte("  adding: d/b.txt (stored 0%)\n")})
	h.OnCommand("unzip -o /z.zip -d /out -x a b", host.Output{Stdout: []byte("Archive: /z.zip\n one\n two\n")})
	env := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Opts: value.NewMap(0)}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "archive", Load: archive.Module}})
	env.Invoker = dispatch.New(env)
	call := func(fn, args string) (fun.Result, error) {
		kw, err := yamlsalt.LoadString(args)
		if err != nil {
			t.Fatal(err)
		}
		return env.Invoker.Invoke(t.Context(), fun.Exec, "archive."+fn, fun.Args{Kw: kw.(*value.Map)})
	}
	for _, tt := range []struct {
		fun, args, want string
		code            int
	}{
		{"zip", "{zip_file: /z1.zip, sources: '/d,/e.txt'}", "['d/', 'd/a', 'd/b.txt', 'd/s/', 'd/s/c', 'e.txt']", 0},
		{"zip", "{zip_file: /z2.zip, sources: [a, 's', none], cwd: /d}", "['a', 's/', 's/c']", 0},
		{"zip", "{zip_file: /z3.zip, sources: '/d/*.txt'}", "['d/b.txt']", 0},
		{"list", "{name: /z2.zip}", "['a', 's/', 's/c']", 0},
		{"unzip", "{zip_file: /z2.zip, dest: /o2}", "['a', 's/', 's/c']", 0},
		{"unzip", "{zip_file: /z2.zip, dest: /o3, excludes: [a], runas: root}", "['s/', 's/c']", 0},
		{"unzip", "{zip_file: /z2.zip, dest: /o3, excludes: 's/,s/c', trim_output: 1}", "['a']", 0},
		{"is_encrypted", "{name: /z2.zip}", "False", 0},
		{"tar", "{options: czf, tarfile: /t.tgz, dest: /d, sources: 'a, b.txt'}", "[]", 0},
		{"tar", "{options: tf, tarfile: /none}", "['tar: /none: Cannot open']", 2},
		{"cmd_zip", "{zip_file: /z.zip, sources: /d/*.txt}", "['  adding: d/b.txt (stored 0%)']", 0},
		{"cmd_unzip", "{zip_file: /z.zip, dest: /out, options: -o, excludes: 'a,b', trim_output: 2}", "['Archive: /z.zip', ' one', 'List trimmed after 2 files.']", 0},
	} {
		res, err := call(tt.fun, tt.args)
		if err != nil || value.Repr(res.Value) != tt.want || res.Retcode != tt.code {
			t.Errorf("archive.%s %s = %s, %d, %v, want %s, %d", tt.fun, tt.args, value.Repr(res.Value), res.Retcode, err, tt.want, tt.code)
		}
	}
	if h.Text("/o4/a") != "" || h.Text("/o3/s/c") == "" {
		t.Errorf("unpacked of the others: %q, %q", h.Text("/o4/a"), h.Text("/o3/s/c"))
	}
	if got := h.Text("/o2/s/c"); got != "text of /d/s/c" {
		t.Errorf("unpacked: %q", got)
	}
	for _, tt := range []struct{ fun, args, want string }{
		{"zip", "{zip_file: /z.zip, sources: a}", "Relative paths require the 'cwd' parameter"},
		{"zip", "{zip_file: /z.zip, sources: a, cwd: d}", "cwd must be absolute"},
		{"tar", "{options: '', tarfile: /t}", "Tar options can not be empty"},
		{"tar", "{options: tf, tarfile: /t, template: jinja}", "template must be None, not 'jinja'"},
		{"unzip", "{zip_file: /z2.zip, dest: /o4, template: jinja}", "template must be None, not 'jinja'"},
		{"unzip", "{zip_file: /z2.zip, dest: /o4, runas: web}", "archive.unzip runs as no other user; archive.cmd_unzip does"},
		{"is_encrypted", "{name: /e.txt}", "/e.txt is not a ZIP file"},
	} {
		if _, err := call(tt.fun, tt.args); err == nil || err.Error() != tt.want {
			t.Errorf("archive.%s %s: %v, want %s", tt.fun, tt.args, err, tt.want)
		}
	}
	// The flag of an encrypted member is bit 0 of its entry in the directory.
	z := []byte(h.Text("/z2.zip"))
	at := bytes.Index(z, []byte("PK\x01\x02")) + 8
	binary.LittleEndian.PutUint16(z[at:], binary.LittleEndian.Uint16(z[at:])|1)
	h.PutFile("/enc.zip", string(z), 0o644)
	if res, err := call("is_encrypted", "{name: /enc.zip}"); err != nil || res.Value != true {
		t.Errorf("is_encrypted = %v, %v, want True", res.Value, err)
	}
}

// TestHostileArguments has everybody read the arguments of unzip(1): the password
// is not among them, nor does an option stand in it.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/unzip")
	var ran []host.Cmd
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		ran = append(ran, c)
		return host.Output{}, nil
	})
	env := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Opts: value.NewMap(0)}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "archive", Load: archive.Module}})
	env.Invoker = dispatch.New(env)
	call := func(password string) error {
		_, err := env.Invoker.Invoke(t.Context(), fun.Exec, "archive.cmd_unzip", fun.Args{Kw: value.MapOf("zip_file", "/z.zip", "dest", "/out", "password", password)})
		return err
	}
	if err := call("geheim -d /etc"); err != nil {
		t.Fatal(err)
	}
	if len(ran) != 1 || strings.Contains(strings.Join(ran[0].Argv, " "), "geheim") || !slices.Contains(ran[0].Env, `UNZIP=-P "geheim -d /etc"`) {
		t.Errorf("ran %+v", ran)
	}
	for _, password := range []string{`a" -d /etc "`, `a\`, "a\x00b"} {
		if err := call(password); err == nil || strings.Contains(err.Error(), password) || len(ran) != 1 {
			t.Errorf("a password that unzip would read as options: %v, ran %d programs", err, len(ran))
		}
	}
}
