package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/turn"
)

// TestUIRecurring adds, pauses, resumes and removes a schedule as a person does, and looks
// at the calendar.
func TestUIRecurring(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	p := newPages(t)
	master := filepath.Join(p.dir, "master")
	text, err := os.ReadFile(master)
	if err == nil {
		err = os.WriteFile(master, append(text, "\nqueue: {store: sqlite3, database: "+p.dir+"/queue.db}\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.serve()
	p.tab = browsertest.Open(t, 1100, 900)
	p.do(p.at(strings.TrimPrefix(p.link, p.base)), visible("#orchestrations"), p.at("/recurring"), visible("table.calendar"))
	p.do(typed("#name", "weekly"), typed("#when", "monday 04:00"), typed("#queue", "ops"), click("[name=confirm]"), click("form[action='/recurring'] button"))
	p.do(visible("[aria-label='Pause weekly']"))
	if text := p.text("main"); !strings.Contains(text, "every monday 04:00") || !strings.Contains(text, "to run") && !strings.Contains(text, "not in this month") {
		t.Errorf("the page: %s", text)
	}
	p.sound("recurring")
	p.do(click("[aria-label='Pause weekly']"), visible("[aria-label='Resume weekly']"))
	out, err := p.brine("recurring", "list", "--out=json").Output()
	if err != nil || !strings.Contains(string(out), `"paused": true`) {
		t.Errorf("brine recurring list: %v: %s", err, out)
	}
	p.do(click("[aria-label='Resume weekly']"), visible("[aria-label='Pause weekly']"))
	p.do(click("[aria-label='Remove weekly']"), visible("main > .hint"))
	if text := p.text("main > .hint"); text != "Nothing runs regularly." {
		t.Errorf("after its removal: %s", text)
	}
}
