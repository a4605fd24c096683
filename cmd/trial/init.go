package trial

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/casefile"
)

// first are the files that --init writes.
//
//go:embed first
var first embed.FS

// workflows are the files that run the tests, by where they run.
var workflows = map[string]struct{ from, to string }{
	"github": {"first/workflow.yml", ".github/workflows/brine-test.yml"},
	"gitlab": {"first/gitlab.yml", ".gitlab-ci.yml"},
}

// initCases writes a first case and a workflow. Files that exist stay as they are.
func initCases(a *app.App, tree, ci string) error {
	what, err := whatToApply(tree)
	if err != nil {
		return err
	}
	for _, f := range []struct{ from, to string }{
		{"first/case.yml", casefile.Dir + "/default.yml"},
		workflows[ci],
	} {
		text, err := first.ReadFile(f.from)
		if err != nil {
			return err
		}
		to := filepath.Join(tree, f.to)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return mayNotWrite(err)
		}
		out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s exists already", a.NameOf(to)), Hint: "add cases to it, or remove it first"}
		}
		if err != nil {
			return mayNotWrite(err)
		}
		_, err = out.WriteString(strings.ReplaceAll(string(text), "WHAT\n", what))
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "wrote %s\n", a.NameOf(to))
	}
	next := "Next: brine test --compile\n"
	if !hasSLS(tree) {
		next = "Next: write SLS files, and name them under sls in " + casefile.Dir + "/default.yml, or a top.sls; then: brine test --compile\n"
	}
	_, err = fmt.Fprint(a.Out, next)
	return err
}

// mayNotWrite adds what to do where the directory belongs to somebody else.
func mayNotWrite(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "run it as the owner of the directory, or in a copy of it"}
	}
	return err
}

// highstate is the line of a case that applies it.
const highstate = "    highstate: true\n"

// hasSLS reports whether a tree has an SLS file.
func hasSLS(tree string) bool {
	found := false
	_ = filepath.WalkDir(tree, func(path string, _ fs.DirEntry, err error) error {
		found = found || err == nil && filepath.Ext(path) == ".sls"
		if found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// isFile reports whether a path is that of a file.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// whatToApply returns the line of a case that says what is applied: the formula of the
// tree, the highstate, or without a top file all SLS of the first level.
func whatToApply(tree string) (string, error) {
	text, err := os.ReadFile(filepath.Join(tree, "FORMULA"))
	if errors.Is(err, fs.ErrNotExist) {
		if names := firstSLS(tree); len(names) > 0 {
			return slsLine(value.Strings(names...))
		}
		return highstate, nil
	}
	if err != nil {
		return "", err
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "FORMULA"}, text)
	if err != nil {
		return "", err
	}
	m, _ := v.(*value.Map)
	name, _ := m.At("name").(string)
	if name == "" {
		return "", &app.StatusError{Status: app.ExitGeneric, Err: errors.New("the file FORMULA has no name"), Hint: "name: is the directory of the formula's SLS files"}
	}
	return slsLine(name)
}

// slsLine is the line of a case that applies one SLS, or a list of them.
func slsLine(sls value.Value) (string, error) {
	if l, ok := sls.(*value.List); ok && l.Len() == 1 {
		sls = l.Items[0]
	}
	line, err := yamlsalt.Dump(value.MapOf("sls", sls), yamlsalt.SafeOptions())
	return "    " + strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "{}")) + "\n", err
}

// firstSLS are the SLS on the first level of a tree without a top file.
func firstSLS(tree string) (names []string) {
	exists := func(name string) bool { return isFile(filepath.Join(tree, name)) }
	entries, err := os.ReadDir(tree)
	if err != nil || exists("top.sls") {
		return nil
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".sls")
		if ok && exists(e.Name()) || exists(filepath.Join(name, "init.sls")) {
			names = append(names, name)
		}
	}
	return slices.Compact(names)
}
