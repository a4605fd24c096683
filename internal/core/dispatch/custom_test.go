package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// All files that cannot serve as modules are one warning; a README is not meant to.
func TestUnfitModulesAreOneWarning(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	for i := range 24 {
		f.PutFile(fmt.Sprintf("/srv/_modules/m%02d", i), "x", 0o644)
	}
	f.PutFile("/srv/_modules/old.pyc", "x", 0o644)
	for _, doc := range []string{"README.md", "NOTES.rst", "a.txt"} {
		f.PutFile("/srv/_modules/"+doc, "x", 0o644)
	}
	var warned []string
	env := &fun.Env{
		Identity: fun.Identity{SaltEnv: "base"}, Data: fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}}, Machine: fun.Machine{Host: f},
		UI: fun.UI{OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
	}
	env.Up = &fileserver.Local{Server: fileserver.New(f, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {"/srv"}}})}
	if customs, err := FindCustom(t.Context(), env); err != nil || len(customs) > 0 {
		t.Errorf("modules are %v, %v", customs, err)
	}
	want := "cannot serve as custom modules: salt://_modules/m00, salt://_modules/m01, salt://_modules/m02 and 21 more: not executable: chmod +x; " +
		"salt://_modules/old.pyc: compiled Python: put its source there"
	if !slices.Equal(warned, []string{want}) {
		t.Errorf("warned %q, want %q", warned, want)
	}
}
