//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
)

// peak is a program that runs another and prints the most memory that it had, in
// KiB: what a process that was forked by this one had would count as its own.
const peak = "import resource, subprocess, sys\n" +
	"status = subprocess.run(sys.argv[1:]).returncode\n" +
	"print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n" +
	"sys.exit(status)\n"

// BenchmarkMachines measures runs on a machine where nothing is to be done: the
// time and the CPU time of a run, and the most memory that it held. Nothing here
// passes or fails by a time; what to aim at is 120 ms and 40 MiB for mixed (20
// packages, 10 services, 5 cron jobs, 5 users), and 60 ms for packages.
//
//	make bench-machines
func BenchmarkMachines(b *testing.B) {
	m := machineWithBrine(b)
	run := func(b *testing.B, line string) string {
		b.Helper()
		r := m.Shell("/", line)
		if r.Exit != 0 {
			b.Fatalf("%s: exit status %d: %s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	names := strings.Fields(run(b, "dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii *//p' | sort -u | head -n 300"))
	var mixed, packages, watched strings.Builder
	for _, name := range names[:20] {
		fmt.Fprintf(&mixed, "pkg-%[1]s:\n  pkg.installed:\n    - name: %[1]s\n", name)
	}
	for i := range 10 {
		unit := "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
		m.Write(b, fmt.Sprintf("etc/systemd/system/bench%d.service", i), unit, 0o644)
		fmt.Fprintf(&mixed, "bench%d:\n  service.running:\n    - enable: True\n", i)
	}
	for i := range 5 {
		fmt.Fprintf(&mixed, "cron%[1]d:\n  cron.present:\n    - name: /bin/true %[1]d\n    - minute: %[1]d\n    - identifier: cron%[1]d\n", i)
		fmt.Fprintf(&mixed, "user%[1]d:\n  user.present:\n    - uid: %[2]d\n    - shell: /bin/sh\n", i, 2000+i)
	}
	fmt.Fprintf(&packages, "packages:\n  pkg.installed:\n    - pkgs: [%s]\n", strings.Join(names, ", "))
	for i, name := range names[:20] {
		fmt.Fprintf(&watched, "pkg%[1]d:\n  pkg.installed:\n    - name: %[2]s\nrun%[1]d:\n  cmd.run:\n    - name: 'true'\n", i, name)
	}
	run(b, "systemctl daemon-reload")
	for _, bench := range []struct {
		name, sls string
	}{
		{"nop", "x:\n  test.nop: []\n"},
		{"mixed", mixed.String()},
		{"packages", packages.String()},
		{"packages-between-commands", watched.String()},
	} {
		m.Write(b, "srv/bench/"+bench.name+".sls", bench.sls, 0o644)
		argv := []string{"/usr/local/bin/brine", "call", "--file-root", "/srv/bench", "--out=json", "state.apply", bench.name}
		apply := func(b *testing.B, under ...string) machine.Result {
			b.Helper()
			r := m.Run(time.Minute, "/", append(under, argv...)...)
			if r.Exit != 0 {
				b.Fatalf("exit status %d: %s%s", r.Exit, r.Stdout, r.Stderr)
			}
			return r
		}
		apply(b)
		b.Run(bench.name, func(b *testing.B) {
			var cpu time.Duration
			var last string
			for b.Loop() {
				r := apply(b)
				cpu, last = cpu+r.CPU, r.Stdout
			}
			kib, err := strconv.Atoi(strings.TrimSpace(apply(b, "python3", "-c", peak).Stderr))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(kib)/1024, "MiB")
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
			b.ReportMetric(0, "ns/op")
			var doc struct{ Local map[string]step }
			if err := json.Unmarshal([]byte(last), &doc); err != nil {
				b.Fatal(err)
			}
			if len(doc.Local) == 0 {
				b.Fatal("no states")
			}
			for tag, s := range doc.Local {
				if !s.ok() || len(s.Changes) > 0 && !strings.HasPrefix(tag, "cmd_") {
					b.Errorf("%s: %s, changes %v", tag, s.Comment, s.Changes)
				}
			}
		})
	}
}
