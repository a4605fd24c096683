package jobs

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// TestLargeReturns records returns and notes of some megabytes: they take little room
// where they can, and are read back as they were.
func TestLargeReturns(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 3<<20)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(noise)
	for i := range noise {
		noise[i] = ' ' + noise[i]%64
	}
	for _, tt := range []struct {
		name string
		v    value.Value
		most int64 // how long the record may be
	}{
		{"lines", strings.Repeat("a line with \"quotes\", \té and \xff\n", 100_000), 100 << 10},
		{"noise", string(noise), 4 << 20},
		{"small parts", value.NewList(strings.Repeat("x", 1<<19), strings.Repeat("y", 1<<19), strings.Repeat("z", 1<<19)), 10 << 10},
		{"dict", value.MapOf("a", strings.Repeat("x", 2<<20), "b", int64(1), "c", value.NewList(nil, true, 1.5)), 10 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := NewFiles(t.TempDir(), time.Hour, time.Now)
			var ids JIDs
			jid := ids.Next(time.Now())
			r, err := f.Begin(load(jid, "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			ret := returned("a", tt.v, 3)
			ret.Out = "nested"
			for _, err := range []error{
				r.Return(ret), r.Return(returned("b", "small", 0)), r.Note("step", value.MapOf("tag", "x", "return", tt.v)), r.End(),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			st, err := os.Stat(f.path(jid))
			if err != nil {
				t.Fatal(err)
			}
			if st.Size() > 2*tt.most {
				t.Errorf("the record has %d bytes, want %d at most", st.Size(), 2*tt.most)
			}
			j, err := f.Job(t.Context(), jid)
			if err != nil || j == nil {
				t.Fatalf("Job = %v, %v", j, err)
			}
			want := value.MapOf("return", tt.v, "retcode", int64(3), "success", false, "out", "nested")
			if got := j.Returns.Map("a"); !value.Equal(got, want) {
				t.Errorf("the return is not the same, with the keys %v", got.Keys())
			}
			if got := j.Returns.Map("b").Str("return"); got != "small" {
				t.Errorf("the small return is %q", got)
			}
			if len(j.Steps) != 1 || !value.Equal(j.Steps[0].At("return"), tt.v) {
				t.Error("the note is not the same")
			}
			if j.Damage != "" {
				t.Errorf("Damage = %q", j.Damage)
			}
		})
	}
}

// TestTooLargeReturns: what a line keeps of its values can be read again, however
// little they can be compressed.
func TestTooLargeReturns(t *testing.T) {
	t.Parallel()
	const stored = 5 // bytes that gzip adds to each 65,535 it cannot compress, and at its ends a few
	if longest := (maxPacked+(maxPacked/65535+10)*stored)/3*4 + packAbove; longest > value.MaxJSONSize {
		t.Errorf("a line may have %d bytes, of which %d can be read", longest, value.MaxJSONSize)
	}
	half := strings.Repeat("x", 3<<19)
	text, large := split(value.MapOf("id", "a", "first", half, "second", half, "third", strings.Repeat("y", 1<<18)), 2<<20)
	if got := large.Keys(); !slices.Equal(got, []value.Value{"first", "third"}) {
		t.Errorf("compressed are %v", got)
	}
	if want := `{"id":"a","second":"not in the record: it has more than 2 MiB"}`; string(text) != want {
		t.Errorf("the rest is %.100s, want %s", text, want)
	}
}

// TestDamagedLargeReturn damages a compressed return: the record says so, and has how
// the target fared.
func TestDamagedLargeReturn(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), time.Hour, time.Now)
	var ids JIDs
	jid := ids.Next(time.Now())
	r, err := f.Begin(load(jid, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Return(returned("a", strings.Repeat("0123456789", 1<<18), 7)); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.path(jid))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte(`"packed":"`))
	if at < 0 {
		t.Fatalf("nothing is packed in %.200s", b)
	}
	copy(b[at+200:], "AAAAAAAAAAAAAAAA")
	if err := os.WriteFile(f.path(jid), b, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := f.Job(t.Context(), jid)
	if err != nil || j == nil {
		t.Fatalf("Job = %v, %v", j, err)
	}
	got := j.Returns.Map("a")
	if !strings.Contains(j.Damage, "return of a") || !got.Has("damaged") || got.At("retcode") != int64(7) {
		t.Errorf("Damage = %q, the return has the keys %v", j.Damage, got.Keys())
	}
	if found := j.State; found != Complete {
		t.Errorf("the job is %s", found)
	}
}
