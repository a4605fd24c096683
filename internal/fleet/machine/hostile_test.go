package machine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/fleet/machine"
)

// TestHostileImage: links of an image lead to no files of this machine.
func TestHostileImage(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--mount", "--pid", "--fork", "true").Run(); err != nil {
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines") {
			t.Fatalf("no machines can be made here: %v", err)
		}
		t.Skipf("no machines can be made here: %v", err)
	}
	links := map[string]string{"namespace": "tmp", "nspawn": "etc"}
	for _, d := range machine.Drivers() {
		if d.TakesReferences() || d.TakesHosts() {
			continue // its images are not on this machine, or it has none
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			h := host.NewLocal()
			if err := d.Usable(t.Context(), h); err != nil {
				t.Skip(err)
			}
			outside, image, link := t.TempDir(), t.TempDir(), links[d.Name]
			err := errors.Join(os.Chmod(outside, 0o700), os.Mkdir(filepath.Join(image, "usr"), 0o755), os.Symlink(outside, filepath.Join(image, link)))
			if err != nil {
				t.Fatal(err)
			}
			pool := &machine.Pool{Host: h, Dir: filepath.Join(t.TempDir(), "pool")}
			m, err := pool.Create(t.Context(), &d, machine.Spec{Name: "a", Image: image})
			if err == nil {
				_ = m.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "/"+link+" of the image is a link, and is not used") {
				t.Errorf("the machine: %v", err)
			}
			st, err := os.Stat(outside)
			if err != nil {
				t.Fatal(err)
			}
			files, err := os.ReadDir(outside)
			if err != nil || len(files) > 0 || st.Mode().Perm() != 0o700 {
				t.Errorf("outside of it: mode %v, %v, %v", st.Mode(), files, err)
			}
		})
	}
}
