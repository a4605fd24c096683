package file_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileRecurse has a user swap what is below a directory that root manages
// with recurse, clean or tidied: for links of the user's own, and for one that
// root made, to a file and a directory of root.
func TestHostileRecurse(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const mallory = 61234
	r := localRig(t)
	home, etc := filepath.Join(r.dir, "home"), filepath.Join(r.dir, "etc")
	for _, d := range []string{home, home + "/a", etc} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	victims := []string{etc, etc + "/shadow"}
	all := []string{etc + "/shadow", home + "/a/shadow", home + "/shadow"}
	for i := range 200 { // so that work in the directory takes long enough to be led elsewhere
		f := fmt.Sprintf("/f%d", i)
		victims, all = append(victims, etc+f), append(all, etc+f, home+"/a"+f)
	}
	for _, f := range all {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// One link is root's: it leads where root wants it, but not from elsewhere.
	for link, uid := range map[string]int{"mine": mallory, "roots": 0, "file": mallory} {
		to := etc
		if link == "file" {
			to += "/shadow"
		}
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(filepath.Join(home, link), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, mallory, mallory); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pause := func() { time.Sleep(time.Duration(rand.Int64N(int64(time.Millisecond)))) }
		swap := func(a, b string) {
			a, b = filepath.Join(home, a), filepath.Join(home, b)
			_ = os.Rename(a, a+".x")
			_ = os.Rename(b, a)
			pause() // for long enough that a call comes as far as what it has found before
			_ = os.Rename(a, b)
			_ = os.Rename(a+".x", a)
			pause()
		}
		for {
			select {
			case <-stop:
				return
			default:
				swap("a", "mine")
				swap("a", "roots")
				swap("shadow", "file")
			}
		}
	}()
	end := time.Now().Add(1500 * time.Millisecond)
	rounds := 0
	for ; time.Now().Before(end) || rounds < 3; rounds++ { // a loaded machine takes longer
		owner := int64(mallory + rounds%2)
		_ = r.run("directory", false, "name", home, "user", owner, "group", owner, "file_mode", "0666", "dir_mode", "0777", "recurse", value.Strings("user", "group", "mode"))
		_ = r.run("tidied", false, "name", home, "matches", value.Strings("nothing"), "rmdirs", true)
		_ = os.Chown(home, mallory, mallory)
	}
	close(stop)
	<-ended
	h := host.NewLocal()
	for _, p := range victims {
		want := uint32(0o600)
		if p == etc {
			want = 0o755
		}
		st, err := h.Lstat(p)
		if err != nil || st.UID != 0 || st.GID != 0 || st.Perm() != want {
			t.Errorf("after %d rounds %s has %s, owner %d:%d, %v", rounds, p, st.Mode, st.UID, st.GID, err)
		}
	}
}
