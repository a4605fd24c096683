package fileserver

import (
	"errors"
	"io/fs"
	"testing"

	"brine/internal/core/host"
)

// forgetful has a server forget its listings in the midst of each request, as the turns of
// an agent do.
type forgetful struct {
	host.Files
	s *Server
}

func (f *forgetful) Lstat(p string) (host.Stat, error) {
	f.s.Forget()
	return f.Files.Lstat(p)
}

// TestForgetMeanwhile: what is ignored stays so, and what is in the roots is not refused.
func TestForgetMeanwhile(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, map[string]string{"base/y/ignored": "x", "base/a.sls": "a: {}"}, func(r *Roots) { r.IgnoreRegex = []string{`/y/`} })
	f := &forgetful{Files: host.NewLocal()}
	f.s = New(f, s.Roots())
	if _, err := f.s.Stat(t.Context(), "base", "y/ignored"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an ignored file: %v", err)
	}
	if _, err := f.s.Stat(t.Context(), "base", "a.sls"); err != nil {
		t.Error(err)
	}
}
