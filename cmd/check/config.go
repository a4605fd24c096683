package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/plantext"
	"brine/cmd/linter"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/config/options"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/outputter"
)

// checkConfig lists the options that the configuration in a directory sets, "" is
// that which a run reads, and what each does.
func checkConfig(a *app.App, f *linter.Flags, args []string) error {
	dir := f.ConfigDir
	if len(args) > 0 {
		dir = args[0]
	}
	all, files, refused, err := readSettings(a, dir)
	if err != nil {
		return err
	}
	session.ByVerdict(all)
	a.Printed = true
	if f.Out == "json" {
		err = outputter.JSON(a.Out, settingsDocument(a, all, files), &outputter.Options{})
	} else {
		err = printSettings(a, all, files)
	}
	if err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	if slices.ContainsFunc(all, func(x session.Setting) bool { return x.Verdict == options.Unsupported && !x.Cosmetic }) {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

// readSettings reads the master and the minion files of a directory. refused is why
// no run would begin.
func readSettings(a *app.App, dir string) (all []session.Setting, files []string, refused, err error) {
	for _, k := range []config.Kind{config.Master, config.Minion} {
		section := "salt-run"
		if k == config.Minion {
			section = "salt-call"
		}
		cfg, err := config.Load(config.Options{Kind: k, Host: a.Host, Dir: dir, Section: section, NoSaltfile: dir != "", Upwards: true})
		if err != nil {
			return nil, nil, nil, err
		}
		for _, w := range cfg.Warnings {
			fmt.Fprintf(a.Err, "brine: warning: %s\n", printable.Line(strings.TrimPrefix(w.Pos.String()+": "+w.Text, ": ")))
		}
		if slices.Equal(files, cfg.Files) {
			continue // the files of the other kind serve
		}
		files = append(files, cfg.Files...)
		all = append(all, session.Settings(cfg)...)
		_, lerr := fun.LimitsAt(cfg.Opts, cfg.Place)
		refused = errors.Join(refused, lerr)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, nil, nil, &app.StatusError{Status: app.ExitGeneric, Err: errors.New("there is no configuration file to check"), Hint: "name the directory that has the files master and minion"}
	}
	seen := map[string]bool{} // a file that both include
	all = slices.DeleteFunc(all, func(x session.Setting) bool {
		key := x.Name + "\x00" + x.Pos.String()
		defer func() { seen[key] = true }()
		return seen[key]
	})
	return all, files, refused, nil
}

func printSettings(a *app.App, all []session.Setting, files []string) error {
	var b strings.Builder
	width, verdict := 0, options.Verdict("")
	for i := range all {
		width = max(width, len(all[i].Name))
	}
	for i := range all {
		x := &all[i]
		if x.Verdict != verdict {
			verdict = x.Verdict
			fmt.Fprintf(&b, "%s:\n", verdict)
		}
		pos := x.Pos
		pos.File, pos.Col = a.NameOf(pos.File), 0
		line := fmt.Sprintf("  %-*s  %s", width, printable.Line(x.Name), printable.Line(pos.String()))
		if x.Restrictive {
			line += "  restricts"
		}
		if x.Note != "" {
			line += "  " + x.Note
		}
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "%s in %s", plantext.Count(len(all), "option"), plantext.Count(len(files), "file"))
	if c := session.Counts(all); c != "" {
		b.WriteString(": " + c)
	}
	b.WriteString("\n")
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// settingsDocument returns the report as data. Its version changes with its keys.
func settingsDocument(a *app.App, all []session.Setting, files []string) *value.Map {
	list, summary := value.NewList(), value.NewMap(8)
	for _, v := range options.Verdicts() {
		summary.Set(string(v), int64(0))
	}
	for i := range all {
		x := &all[i]
		list.Append(value.MapOf("name", x.Name, "verdict", string(x.Verdict), "restrictive", x.Restrictive, "note", x.Note, "belongs", x.In.String(),
			"file", a.NameOf(x.Pos.File), "line", int64(x.Pos.Line)))
		n, _ := value.AsInt(summary.At(string(x.Verdict)))
		summary.Set(string(x.Verdict), n+1)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = a.NameOf(f)
	}
	return value.MapOf("version", int64(1), "files", value.Strings(names...), "options", list, "summary", summary)
}
