package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/tee"
	"brine/internal/fleet/kept"
)

// TestUIScaleBench tells what a run on many hosts that print a lot takes of the server: its
// memory, its time, and the bytes of the pages. BRINE_BENCH_UI_HOSTS is how many hosts print
// 10 MB each.
func TestUIScaleBench(t *testing.T) {
	hosts, err := strconv.Atoi(os.Getenv("BRINE_BENCH_UI_HOSTS"))
	if err != nil {
		t.Skip("BRINE_BENCH_UI_HOSTS is not set")
	}
	p := newPages(t)
	p.serve()
	client, sent := &http.Client{}, counter{}
	ask := p.asker(client)
	ask(http.MethodGet, strings.TrimPrefix(p.link, p.base), nil)
	st := kept.New(filepath.Join(p.dir, "cache"), time.Now)
	run, lock, err := st.Create(kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy", User: "root"}, nil, func(*kept.Run) []string { return []string{"orchestrate"} })
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	log, err := run.Log()
	if err != nil {
		t.Fatal(err)
	}
	line := func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) }
	line(`{"event":"run_start","jid":%q,"total":1}`, run.Spec.JID)
	line(`{"event":"step_start","id":"all","fun":"salt.state"}`)
	line(`{"event":"job_start","jid":"20260101000000000001","step":"all","hosts":%d}`, hosts)
	keeper, err := run.Keeper(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	page := "/runs/" + run.Spec.JID
	began := p.cpu(t)
	// Somebody looks at the run, and at the output of a host, while all this happens.
	for _, path := range []string{page + "/events", page + "/output/events?host=web7&offset=0"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			res, err := client.Do(r)
			if err != nil {
				return
			}
			defer res.Body.Close()
			_, _ = io.Copy(&sent, res.Body)
		}()
	}
	text := strings.Repeat(strings.Repeat("x", 120)+"\n", 64<<10/121)
	for i := range hosts {
		id := fmt.Sprintf("web%d", i)
		for _, phase := range []string{"connecting", "authenticating", "pushing", "running"} {
			line(`{"event":"host_phase","step":"all","host":%q,"phase":%q}`, id, phase)
		}
		for range 10_000_000 / len(text) {
			keeper.Take(tee.Place{JID: run.Spec.JID, Host: id}, tee.Part{Of: "cmd.run", Program: 1, Text: text})
		}
		line(`{"event":"host_end","step":"all","host":%q,"result":"changed"}`, id)
	}
	if err := keeper.Close(); err != nil {
		t.Fatal(err)
	}
	var size int64
	_ = filepath.WalkDir(run.Dir(), func(path string, d os.DirEntry, err error) error {
		if st, serr := os.Stat(path); err == nil && serr == nil && !d.IsDir() {
			size += st.Size()
		}
		return nil
	})
	for _, path := range []string{page, page + "/hosts?step=1", page + "/hosts?step=1&from=500", page + "/output", page + "/output?host=web7", page + "/output?q=none", "/hosts", "/"} {
		at := time.Now()
		used := p.cpu(t)
		body := ask(http.MethodGet, path, nil)
		t.Logf("%-60s %7d bytes, %s, %s of CPU", path, len(body), time.Since(at).Round(time.Millisecond), p.cpu(t)-used)
	}
	t.Logf("the page of the run and that of a host were sent %d KiB", sent.Load()>>10)
	t.Logf("%d hosts: %d MiB of files, memory of the server: %s MiB now, %s MiB at most, %s of CPU", hosts, size>>20, p.memory(t, "VmRSS"), p.memory(t, "VmHWM"), p.cpu(t)-began)
}

// A counter counts bytes.
type counter struct{ atomic.Int64 }

// Write counts.
func (c *counter) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

// memory is a row of /proc/PID/status of the server, in MiB.
func (p *pages) memory(t *testing.T, row string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	m := regexp.MustCompile(row + `:\s+(\d+) kB`).FindSubmatch(text)
	if err != nil || m == nil {
		t.Fatalf("no %s: %v", row, err)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return strconv.Itoa(n >> 10)
}

// cpu is the time that the server has used.
func (p *pages) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
