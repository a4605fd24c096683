package host_test

import (
	"strings"
	"testing"

	"brine/internal/core/host"
)

// TestVeil: what nobody knows is noticed where it is read, however that is done, and only
// there.
func TestVeil(t *testing.T) {
	t.Parallel()
	below := host.NewFake()
	below.PutFile("/srv/app/old", "x", 0o644)
	below.PutFile("/srv/other", "x", 0o644)
	below.PutDir("/mnt/disk", 0o755)
	o, err := host.NewOverlay(below)
	if err != nil {
		t.Fatal(err)
	}
	o.By("clone")
	if err := o.Veil("/srv/app", false); err != nil {
		t.Fatal(err)
	}
	o.By("disk")
	if err := o.Veil("/mnt/disk", true); err != nil {
		t.Fatal(err)
	}
	o.By("job")
	if err := o.Veil("/srv/tab", true); err != nil {
		t.Fatal(err)
	}
	if err := o.Veil("/srv/none", false); err == nil {
		t.Error("a directory that is not there has a veil")
	}
	if err := o.Symlink("/srv/app", "/srv/link"); err != nil {
		t.Fatal(err)
	}
	looks := o.Looking()
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"the directory itself", func() { _, _ = looks.Stat("/srv/app") }, ""},
		{"something else", func() { _, _ = looks.ReadFile("/srv/other"); _, _ = looks.ReadDir("/srv") }, ""},
		{"a file", func() { _, _ = looks.Lstat("/srv/app/old") }, "/srv/app clone"},
		{"no file", func() { _, _ = looks.Stat("/srv/app/new/below") }, "/srv/app clone"},
		{"by a link", func() { _, _ = looks.ReadFile("/srv/link/old") }, "/srv/app clone"},
		{"the names", func() { _, _ = looks.ReadDir("/srv/app") }, "/srv/app clone"},
		{"by a fork", func() { _, _ = looks.Fork().ReadDir("/srv/app") }, "/srv/app clone"},
		{"where links lead", func() { _, _ = looks.EvalSymlinks("/mnt/disk") }, "/mnt/disk disk"},
		{"a mount point", func() { _, _ = looks.Stat("/mnt/disk") }, "/mnt/disk disk"},
		{"asked for, not read", func() { host.LookBehind(looks, "/mnt/disk/") }, "/mnt/disk disk"},
		{"asked for, and known", func() { host.LookBehind(looks, "/srv/other") }, ""},
		{"below a mount point", func() { _, _ = looks.Stat("/mnt/disk/x") }, "/mnt/disk disk"},
		{"a file that may be there", func() { _, _ = looks.Stat("/srv/tab") }, "/srv/tab job"},
		{"the first of two", func() { _, _ = looks.Stat("/mnt/disk"); _, _ = looks.Stat("/srv/tab") }, "/mnt/disk disk"},
	} {
		tt.do()
		p, by := o.Veiled()
		if got := strings.TrimSpace(p + " " + by); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if err := o.RemoveAll("/srv/app"); err != nil {
		t.Fatal(err)
	}
	if err := o.Mkdir("/srv/app", 0o755); err != nil {
		t.Fatal(err)
	}
	o.Veiled()
	if _, err := looks.Stat("/srv/app/old"); err == nil {
		t.Error("what was removed is there")
	}
	if p, _ := o.Veiled(); p != "" {
		t.Error("a new directory has the veil of the one that was removed")
	}
	if w := below.Writes(); len(w) > 0 {
		t.Errorf("the machine was written to: %v", w)
	}
}

// TestPlannedCrontab: a crontab is that of the overlay for whoever looks at it, and for
// nobody else.
func TestPlannedCrontab(t *testing.T) {
	t.Parallel()
	below := host.NewFake()
	o, err := host.NewOverlay(below)
	if err != nil {
		t.Fatal(err)
	}
	o.PutCrontab("ann", "x\n")
	for _, tt := range []struct {
		name, user string
		h          host.Host
		has, plans bool
	}{
		{"planned on", "ann", o, true, true},
		{"looked at", "ann", o.Looking(), true, false},
		{"a fork", "ann", o.Looking().Fork(), true, false},
		{"forced", "ann", o.Force(), true, true},
		{"forced to look", "ann", o.Looking().Force(), true, false},
		{"another user", "bob", o, false, true},
		{"the machine", "ann", below, false, false},
	} {
		text, ok := host.PlannedCrontab(tt.h, tt.user)
		if ok != tt.has || ok && text != "x\n" {
			t.Errorf("%s: %q, %v", tt.name, text, ok)
		}
		if plans := host.PlannedOn(tt.h) != nil; plans != tt.plans {
			t.Errorf("%s: plans: %v", tt.name, plans)
		}
	}
	if got := o.Touched(); len(got.Crontabs) != 1 || len(o.Touched().Crontabs) != 0 {
		t.Errorf("crontabs: %v", got.Crontabs)
	}
}
