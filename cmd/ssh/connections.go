package ssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/output"
	"brine/cmd/target"
	"brine/internal/py/value"
	"brine/sshexec"
)

// connections lists the connections that are kept between runs, or ends them: those of
// the targets that a glob means, by id or host, or all.
func connections(ctx context.Context, rep *output.Report, o *target.Options, args []string) error {
	s := rep.Session
	if len(args) > 1 {
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--connections takes one target, not %d arguments", len(args)), Hint: "brine ssh --connections=close 'web*'"}
	}
	glob := "*"
	if len(args) == 1 {
		glob = args[0]
	}
	if _, err := path.Match(glob, ""); err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--connections: %q is not a glob", glob), Hint: "brine ssh --connections 'web*'"}
	}
	uid := s.App.Host.Geteuid()
	dir, err := assembly.KeepDir(s.App.Getenv, s.Cfg, uid, false)
	var kept []sshexec.Kept
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing was ever kept
	case err != nil:
		return err
	default:
		if kept, err = sshexec.ListKept(ctx, dir, uid); err != nil {
			return err
		}
	}
	kept = slices.DeleteFunc(kept, func(k sshexec.Kept) bool { return !means(glob, k) })
	if o.Connections == target.CloseConnections {
		return closeConnections(ctx, rep, dir, uid, glob, kept)
	}
	if len(kept) == 0 && !s.App.JSON {
		fmt.Fprintln(s.App.Err, "brine: no connections are kept")
		return app.Silent(s.StrictStatus(app.ExitOK))
	}
	out, now := value.NewMap(len(kept)), s.App.Host.Now()
	for i := range kept {
		out.Set(nameIn(out, &kept[i]), row(&kept[i], now))
	}
	if err := rep.Print(out, "nested", app.ExitOK); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}

func closeConnections(ctx context.Context, rep *output.Report, dir string, uid int, glob string, kept []sshexec.Kept) error {
	s := rep.Session
	if len(kept) == 0 {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("no connection is kept to %s", glob), Hint: "brine ssh --connections lists those that are"}
	}
	keys, names := make([]string, len(kept)), value.NewList()
	for i := range kept {
		keys[i] = kept[i].Key
		names.Append(kept[i].ID)
	}
	if _, err := sshexec.CloseKept(ctx, dir, uid, keys); err != nil {
		return err
	}
	if err := rep.Print(value.MapOf("closed", names), "nested", app.ExitOK); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}

// means reports whether a glob means the target of a connection, by id or host.
func means(glob string, k sshexec.Kept) bool {
	host, _, _ := net.SplitHostPort(k.Addr)
	for _, name := range [...]string{k.ID, host} {
		if ok, err := path.Match(glob, name); err == nil && ok {
			return true
		}
	}
	return false
}

// nameIn returns the name of a connection in a list: the id, with what tells it from
// another one of the same id.
func nameIn(out *value.Map, k *sshexec.Kept) string {
	name := k.ID
	for _, more := range [...]string{" " + k.User, " " + k.Key} {
		if !out.Has(name) {
			return name
		}
		name += more
	}
	return name
}

// row is what is shown of a connection. Times are whole seconds.
func row(k *sshexec.Kept, now time.Time) *value.Map {
	const layout = time.RFC3339
	ends, idle := "not by itself", int64(0)
	switch at := k.Ends(); {
	case k.Used.IsZero():
		ends = "it is in use"
	case !at.IsZero():
		ends = at.Format(layout)
	}
	if !k.Used.IsZero() {
		idle = int64(max(0, now.Sub(k.Used)) / time.Second)
	}
	return value.MapOf(
		"host", k.Addr, "user", k.User, "since", k.Since.Format(layout), "idle", idle, "sessions", int64(k.Sessions),
		"ends", ends, "socket", k.Path, "pid", int64(k.PID),
	)
}
