package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkUndo is a whole run that changes 50 files, without undo and with it. What to aim
// at is 1.3 times the time and the processor time, at most; nothing here passes or fails by
// a time.
func BenchmarkUndo(b *testing.B) {
	bin, err := buildBrine()
	if err != nil {
		b.Fatal(err)
	}
	var sls strings.Builder
	for i := range 50 {
		fmt.Fprintf(&sls, "{{ opts.cachedir }}/../out/%02d/file:\n  file.managed:\n    - makedirs: True\n    - mode: '0640'\n    - contents: |\n        file %d\n        {{ pillar.n }}\n%s\n", i, i, strings.Repeat("        a line of a file of some size\n", 50))
	}
	for _, undo := range []bool{false, true} {
		b.Run(fmt.Sprintf("undo=%t", undo), func(b *testing.B) {
			dir := b.TempDir()
			for name, text := range map[string]string{
				"sls.sls": sls.String(),
				"minion":  fmt.Sprintf("cachedir: %s/cache\nfile_client: local\nfile_roots: {base: [%s]}\nundo: %t\n", dir, dir, undo),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			n := 0
			var cpu time.Duration
			run := func() {
				n++
				c := exec.Command(bin, "call", "-c", dir, "--out=json", "state.apply", "sls", fmt.Sprintf("pillar={n: %d}", n))
				out, err := c.Output()
				if err != nil || strings.Count(string(out), `"diff"`) != 50 {
					b.Fatalf("%v: %s", err, out)
				}
				cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			}
			run()
			cpu = 0
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
