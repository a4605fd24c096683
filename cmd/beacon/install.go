package beacon

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/beacon"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/schedule"
)

func newInstall(a *app.App) *cobra.Command {
	o := &options{}
	c := newSub(a, o, "install", "Have systemd run the beacons regularly, and when files change",
		`Write a timer of systemd that runs 'brine beacon run', and a path unit for the files
that inotify beacons watch, and start them. Run it again after a change of these files.
Beacons with a longer interval than --every look when it has passed.

Exit status: 0 success; 1 a beacon is configured wrong or cannot look at this machine, or
the units cannot be installed; 64 usage error.`,
		false, func(ctx context.Context, b *bench, _ []string) error { return install(ctx, a, b, o) })
	c.Flags().Float64Var(&o.every, "every", 60, "seconds between two runs")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "write nothing, print the units")
	return c
}

func install(ctx context.Context, a *app.App, b *bench, o *options) error {
	b.read()
	if len(b.Entries) == 0 {
		b.faulty = true
		b.s.Tell(fmt.Errorf("nothing is installed: there is no beacon that could look"))
		return nil
	}
	if !o.dry {
		b.try(ctx)
	}
	exe, err := host.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	files, err := b.Units(beacon.Installation{Exe: exe, Config: b.s.Cfg.Dir, CacheDir: b.env.CacheDir, Every: app.Seconds(o.every)})
	if err != nil {
		return err
	}
	if o.dry {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprint(a.Out, printable.Text("# "+filepath.Join(schedule.UnitDir, name)+"\n"+files[name]+"\n"))
		}
		return nil
	}
	if !schedule.HasSystemd(a.Host) {
		return &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("units can be installed by root, on a machine with systemd"),
			Hint: fmt.Sprintf("a line of a crontab does the same once a minute: * * * * * %s beacon run -c %s --out=quiet", schedule.ShellWord(exe), schedule.ShellWord(b.s.Cfg.Dir)),
		}
	}
	u := &schedule.Units{Host: a.Host, Dir: schedule.UnitDir}
	starting, left := parts(files)
	if err := u.Drop(ctx, present(u, left), nil); err != nil { // files are not watched any more
		return err
	}
	if err := u.Write(files); err != nil {
		return err
	}
	if err := u.Systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	if err := u.Start(ctx, starting); err != nil {
		return err
	}
	for _, name := range starting {
		fmt.Fprintf(a.Out, "%s: installed\n", name)
	}
	return nil
}

// parts returns which units that start others are among files, and which are not.
func parts(files map[string]string) (starting, left []string) {
	for _, name := range beacon.Starting {
		if _, ok := files[name]; ok {
			starting = append(starting, name)
		} else {
			left = append(left, name)
		}
	}
	return starting, left
}

// present returns the units that are installed.
func present(u *schedule.Units, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := u.Host.Lstat(filepath.Join(u.Dir, name))
		return err != nil
	})
}

func newUninstall(a *app.App) *cobra.Command {
	return newSub(a, &options{}, "uninstall", "Remove the units that run the beacons", "", false, func(ctx context.Context, b *bench, _ []string) error {
		if !schedule.HasSystemd(a.Host) {
			return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("units can be removed by root, on a machine with systemd")}
		}
		u := &schedule.Units{Host: a.Host, Dir: schedule.UnitDir}
		names := present(u, beacon.Starting)
		if len(names) == 0 {
			b.s.Note("no unit of beacons is installed")
			return nil
		}
		if err := u.Drop(ctx, names, beacon.Started); err != nil {
			return err
		}
		for _, name := range names {
			fmt.Fprintf(a.Out, "%s: removed\n", name)
		}
		return u.Systemctl(ctx, "daemon-reload")
	})
}
