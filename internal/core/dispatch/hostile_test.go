package dispatch

import (
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileModules has links among the custom modules that lead out of the
// roots: they are not run.
func TestHostileModules(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/srv/_modules/good", "#!/bin/sh\n", 0o755)
	f.PutFile("/tmp/evil", "#!/bin/sh\n", 0o755)
	f.PutLink("/srv/_modules/evil", "/tmp/evil")
	f.PutLink("/srv/_modules/nowhere", "/tmp/later")
	f.PutLink("/srv/_modules/inside", "good")
	env := &fun.Env{Identity: fun.Identity{SaltEnv: "base"}, Data: fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}}, Machine: fun.Machine{Host: f}}
	env.Up = &fileserver.Local{Server: fileserver.New(f, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {"/srv"}}})}
	customs, err := FindCustom(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range customs {
		names[c.Name] = true
	}
	if !names["good"] || names["evil"] || names["nowhere"] {
		t.Errorf("modules are %v", names)
	}
}
