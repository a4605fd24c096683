package cron

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/cron"
	files "brine/modules/file"
)

type fileArgs struct {
	Name           value.Value `arg:"name,required,str|list" doc:"salt://, http://, https:// or file:// URL or a path; the first of a list that exists"`
	SourceHash     value.Value `arg:"source_hash,str" default:"" doc:"digest of a source that is not on the file server, as TYPE=DIGEST, or a file of digests"`
	SourceHashName string      `arg:"source_hash_name" doc:"name to look up in a file of digests"`
	userArg
	Template string     `arg:"template" doc:"template engine that renders the file: jinja or pongo2"`
	Context  *value.Map `arg:"context" doc:"template variables; they override defaults"`
	Replace  bool       `arg:"replace" default:"True" doc:"replace an existing crontab"`
	Defaults *value.Map `arg:"defaults" doc:"default template variables"`
	Backup   string     `arg:"backup" default:"" doc:"minion: keep a copy of the replaced crontab"`
	Rest     fun.Kwargs
}

// file makes a file the crontab of a user.
// Salt: salt/states/cron.py file. Difference: with backup, a copy of the old
// crontab is kept, where Salt keeps one of a temporary file.
func file(ctx context.Context, c *fun.Call, a *fileArgs) fun.Ret {
	user := a.User
	acc, err := c.Env.Host.LookupUser(user)
	if err != nil {
		return fun.Fail("Could not identify group for user %s", user)
	}
	admin := cron.NewAdmin(c.Env, user)
	old, fault, err := admin.Raw(ctx)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("Unable to update user %s crontab. Error: %s", user, fault)
	}
	if !a.Replace && old != "" {
		return fun.Ret{Result: fun.OK, Comment: "User " + user + " already has a crontab. No changes made"}
	}
	fs := files.New(c.Env, c.Low.SaltEnv, c.Test)
	want, comment, err := source(ctx, a, fs)
	if err != nil {
		return fun.Fail("Unable to manage file: %s", host.OSError(err))
	}
	if comment != "" {
		return fun.Fail("%s", comment)
	}
	if !strings.HasSuffix(old, "\n") {
		old += "\n"
	}
	diff, err := files.Diff(files.Text([]byte(old)), files.Text(want))
	if err != nil {
		return fun.Raise(err)
	}
	switch {
	case diff == "":
		return fun.Ret{Result: fun.OK, Comment: "Crontab for user " + user + " is in the correct state"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The following values are set to be changed:\ndiff: " + diff + "\n"}
	}
	if mode := fs.BackupMode(a.Backup); mode == "minion" || mode == "both" {
		if spool := admin.File(); spool != "" {
			if err := fs.Backup(spool); err != nil {
				return fun.Fail("Unable to manage file: %s", host.OSError(err))
			}
		}
	}
	out, err := admin.Write(ctx, string(want))
	if err != nil {
		return fun.Raise(err)
	}
	if !out.OK() {
		return fun.Fail("Unable to update user %s crontab %s. Error: %s", user, fun.TextOf(a.Name), out.Fault())
	}
	changes := value.MapOf("diff", diff)
	if acc.UID != c.Env.Host.Geteuid() {
		changes.Set("user", user)
	}
	if acc.GID != c.Env.Host.Getegid() {
		changes.Set("group", fs.GIDToGroup(acc.GID))
	}
	return fun.Ret{Result: fun.OK, Changes: changes, Comment: "Crontab for user " + user + " was updated"}
}

// source returns the text that the crontab is to have, or what there is to say
// where it cannot be had.
func source(ctx context.Context, a *fileArgs, fs *files.FS) ([]byte, string, error) {
	src, hash, err := fs.SourceList(ctx, a.Name, a.SourceHash)
	if err != nil {
		return nil, "", err
	}
	if src == "" {
		return nil, "The name of the source file is empty", nil
	}
	further := value.MapOf("name", src, "source", src, "user", a.User, "mode", "0600")
	further.Update(a.Rest.Map)
	q := files.Request{
		Source: src, HashName: a.SourceHashName, Template: a.Template,
		Vars: cp.Vars(further, orEmpty(a.Defaults), orEmpty(a.Context)),
	}
	if value.Truth(hash) {
		q.Hash = value.Str(hash)
	}
	m, comment, err := fs.GetManaged(ctx, q)
	if err != nil || comment != "" {
		return nil, comment, err
	}
	text, err := m.Bytes()
	if err != nil || cp.Scheme(src) == "salt" || q.Template != "" {
		return text, "", err
	}
	sum, err := m.Content.Sum(m.Sum.Type)
	if err == nil && sum != m.Sum.Hex {
		return nil, "Specified " + m.Sum.Type + " checksum for " + src + " (" + m.Sum.Hex + ") does not match actual checksum (" + sum + ")", nil
	}
	return text, "", err
}

func orEmpty(m *value.Map) *value.Map {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}
