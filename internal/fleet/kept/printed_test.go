package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/core/tee"
)

// read returns what a host printed from an offset on, in a line, and where to go on.
func read(t *testing.T, h *PrintedHost, offset int64) (string, int64) {
	t.Helper()
	var out []string
	next, err := h.Read(offset, func(p Printed, _ int64) bool {
		out = append(out, fmt.Sprintf("%s%q-%d", p.Of, p.Text, p.Dropped))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " "), next
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir(), time.Now)
	r, _ := create(t, s)
	if _, asked := r.Heard(); !asked {
		t.Error("nobody listens to a run of the pages")
	}
	// Lines of one length, so that half of all is where the second begins: of other times
	// zeros at the end are left out.
	k, err := r.Keeper(func() time.Time { return time.Unix(1, 0) })
	if err != nil {
		t.Fatal(err)
	}
	k.Take(tee.Place{Host: "web2"}, tee.Part{Of: "a", Text: "other\n"})
	for _, text := range []string{"one\n", "two\n"} {
		k.Take(tee.Place{Host: "../web1"}, tee.Part{Of: "a", Text: text})
	}
	hosts, removed, err := r.PrintedHosts()
	if err != nil || removed || len(hosts) != 2 || hosts[1].ID != "../web1" {
		t.Fatalf("%+v, %v, %v", hosts, removed, err)
	}
	all, end := read(t, &hosts[1], 0)
	if all != `a"one\n"-0 a"two\n"-0` || end != hosts[1].Size {
		t.Errorf("%s, %d of %d", all, end, hosts[1].Size)
	}
	// An offset goes on with the next line that is whole.
	for offset, want := range map[int64]string{1: `a"two\n"-0`, end / 2: `a"two\n"-0`, end - 1: "", end: "", end + 99: "", -5: all} {
		if got, next := read(t, &hosts[1], offset); got != want || next != end {
			t.Errorf("from %d: %s, %d; want %s, %d", offset, got, next, want, end)
		}
	}
	// What is being written is not whole.
	if err := appendTo(hosts[1].file, []byte(`{"text": "half`)); err != nil {
		t.Fatal(err)
	}
	if hosts, _, err = r.PrintedHosts(); err != nil {
		t.Fatal(err)
	}
	if got, next := read(t, &hosts[1], end); got != "" || next != end {
		t.Errorf("a line that is not whole: %s, %d", got, next)
	}
}

// TestHostilePrinted: a host that prints without end fills no disk, and what is missing is
// counted.
func TestHostilePrinted(t *testing.T) {
	t.Parallel()
	r, _ := create(t, New(t.TempDir(), time.Now))
	k, err := r.Keeper(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for range MaxHost>>20 + 4 {
		k.Take(tee.Place{Host: "web1"}, tee.Part{Of: "a", Text: text})
	}
	k.Take(tee.Place{Host: "web1"}, tee.Part{Of: "a", Ended: true, Status: 3})
	k.Take(tee.Place{Host: "web1"}, tee.Part{Of: "b", Text: text})
	k.size = MaxPrinted
	k.Take(tee.Place{Host: "web2"}, tee.Part{Of: "c", Text: "no room\n"})
	k.size = 0
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	hosts, _, err := r.PrintedHosts()
	if err != nil || len(hosts) != 2 || hosts[0].Size > MaxHost+1<<20 {
		t.Fatalf("%+v, %v", hosts, err)
	}
	dropped := map[string]int64{}
	for i := range hosts {
		_, err := hosts[i].Read(0, func(p Printed, _ int64) bool {
			dropped[p.Of] += p.Dropped
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if dropped["a"] < 4<<20 || dropped["b"] != 1<<20 || dropped["c"] != 8 {
		t.Errorf("dropped %v", dropped)
	}
}

// TestForgetPrinted: of old runs the output is removed, and that it was there is known.
func TestForgetPrinted(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir(), time.Now)
	var first *Run
	for range keepsPrinted + 2 {
		r, lock := create(t, s)
		if _, err := r.Keeper(time.Now); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, printedDir, hostsFile), []byte("\"web1\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = flock(lock, syscall.LOCK_UN)
		if first == nil {
			first = r
		}
	}
	if hosts, removed, err := first.PrintedHosts(); len(hosts) > 0 || !removed || err != nil {
		t.Errorf("%v, removed %v, %v", hosts, removed, err)
	}
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	newest, err := s.Open(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if hosts, _, err := newest.PrintedHosts(); len(hosts) != 1 || err != nil {
		t.Errorf("the newest run: %v, %v", hosts, err)
	}
}
