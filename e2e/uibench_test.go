package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUIHistoryBench tells how long pages of the history take, from the request to
// the last byte. BRINE_BENCH_HISTORY is a history.db, such as the one that the
// benchmark Search of internal/fleet/history makes.
func TestUIHistoryBench(t *testing.T) {
	db := os.Getenv("BRINE_BENCH_HISTORY")
	if db == "" {
		t.Skip("BRINE_BENCH_HISTORY is not set")
	}
	p := newPages(t)
	if err := os.Mkdir(p.dir+"/cache", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(db), p.dir+"/cache/history"); err != nil {
		t.Fatal(err)
	}
	p.serve()
	ask := p.asker(&http.Client{})
	ask(http.MethodGet, strings.TrimPrefix(p.link, p.base), nil)
	list := regexp.MustCompile(`href="(/history/\d{20})"`).FindAllStringSubmatch(ask(http.MethodGet, "/history", nil), 2)
	if len(list) < 2 {
		t.Fatal("the history is empty")
	}
	one, two := list[0][1], list[1][1]
	for _, path := range []string{
		"/history", "/history?status=failed", "/history?name=deploy1*&since=2026-03-01", "/history?host=web7", "/history?host=none", "/history?status=killed",
		one, "/history/compare?jid=" + filepath.Base(one) + "&jid=" + filepath.Base(two), "/hosts", "/hosts/web7",
	} {
		var took []time.Duration
		for range 30 {
			began := time.Now()
			ask(http.MethodGet, path, nil)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%-45s median %s, most %s", path, took[15].Round(time.Millisecond), took[29].Round(time.Millisecond))
	}
}
