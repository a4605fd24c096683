package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/plantext"
	"brine/internal/core/config"
	"brine/internal/core/host"
	"brine/internal/core/version"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/lint"
)

// lintFlags say which tree is read, and for which machines.
type lintFlags struct {
	configDir   string
	fileRoots   []string
	pillarRoots []string
	grains      []string
	systems     []string
	exclude     []string
	out         string
}

func (f *lintFlags) register(fs *pflag.FlagSet, formats []string) {
	f.registerTree(fs)
	fs.StringVar(&f.out, "out", formats[0], "format: "+strings.Join(formats, ", "))
}

func (f *lintFlags) registerTree(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(app.SaltSpelling)
	fs.StringVarP(&f.configDir, "config-dir", "c", "", "directory of the configuration (default: the tree)")
	fs.StringArrayVar(&f.fileRoots, "file-root", nil, "directory of the SLS tree, for the environment base; may be repeated")
	fs.StringArrayVar(&f.pillarRoots, "pillar-root", nil, "directory of the pillar tree, for the environment base; may be repeated")
	fs.StringArrayVar(&f.grains, "grains", nil, "compile for a machine with the grains of this YAML or JSON file; may be repeated")
	fs.StringSliceVar(&f.systems, "system", nil, "compile for these built-in systems: alpine, arch, debian, rhel, suse, ubuntu (default: all)")
	fs.StringSliceVar(&f.exclude, "exclude", nil, "do not check these paths under the roots (globs)")
}

type lintOpts struct {
	lintFlags
	selected []string
	ignore   []string
	level    string
	fix      bool
	rules    bool
}

func newLintCmd(a *app.App) *cobra.Command {
	o := &lintOpts{}
	c := &cobra.Command{
		Use:   "lint [<tree>]",
		Short: "Find faults in a tree without running it",
		Long: `Find faults in a tree: in its SLS files, top files and pillar. Each SLS is
rendered and compiled for several systems. No machine is touched: execution
functions that inspect or change a machine are not called, and results that
depend on them are not checked.

The tree is a directory with a configuration (minion or master) or with SLS files;
the default is the working directory. The file .brine-lint.yaml in it configures
the rules. See docs/lint.md.

Exit status: 0 no errors and no warnings; 1 errors or warnings, or the tree
cannot be read; 64 usage error.`,
		Example: `  brine lint
  brine lint mytree --ignore secret
  brine lint mytree --out sarif > lint.sarif
  brine lint mytree --fix`,
		Args: maxOneTree,
		RunE: func(c *cobra.Command, args []string) error { return runLint(a, c, o, args) },
	}
	o.register(c.Flags(), lint.Formats())
	c.Flags().StringSliceVar(&o.selected, "select", nil, "check only these rules")
	c.Flags().StringSliceVar(&o.ignore, "ignore", nil, "do not check these rules")
	c.Flags().StringVar(&o.level, "level", "warning", "show findings from this severity on: info, warning, error")
	c.Flags().BoolVar(&o.fix, "fix", false, "fix findings where the fix does not change the meaning")
	c.Flags().BoolVar(&o.rules, "rules", false, "list the rules")
	completeLint(c, lint.Formats())
	return c
}

// completeLint completes the values of the flags that have fixed ones.
func completeLint(c *cobra.Command, formats []string) {
	var rules, systems []string
	for _, r := range lint.Rules() {
		rules = append(rules, r.ID)
	}
	for _, s := range lint.Systems() {
		systems = append(systems, s.Name)
	}
	for name, values := range map[string][]string{
		"out": formats, "select": rules, "ignore": rules, "system": systems, "level": {"info", "warning", "error"},
	} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

func maxOneTree(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return app.Usagef(c, "one tree is checked at a time, %d were given", len(args))
	}
	return nil
}

func runLint(a *app.App, c *cobra.Command, o *lintOpts, args []string) error {
	if o.rules {
		for _, r := range lint.Rules() {
			fmt.Fprintf(a.Out, "%-20s %-8s %s\n", r.ID, r.Severity, r.Doc)
		}
		return nil
	}
	if !slices.Contains(lint.Formats(), o.out) {
		return app.Usagef(c, "--out: %q is not one of %s", o.out, strings.Join(lint.Formats(), ", "))
	}
	least, ok := lint.ParseSeverity(o.level)
	if !ok {
		return app.Usagef(c, "--level: %q is not one of info, warning, error", o.level)
	}
	options, err := lintOptions(a, c, &o.lintFlags, args)
	if err != nil {
		return err
	}
	cfg := &options.Config
	if len(o.selected) > 0 {
		cfg.Select, cfg.Only = o.selected, true
	}
	cfg.Ignore = append(cfg.Ignore, o.ignore...)
	if err := cfg.Check(); err != nil {
		return app.Usagef(c, "%v", err)
	}
	report, err := lint.Run(c.Context(), options)
	if large, ok := errors.AsType[*lint.LargeError](err); ok {
		return &app.StatusError{Status: app.ExitGeneric, Err: large, Hint: "name the directory of the tree, or that of its SLS files with --file-root"}
	}
	if err != nil {
		return err
	}
	if report.Unread > 0 {
		fmt.Fprintf(a.Err, "brine: warning: %d files that are not SLS files or templates were not read, because the tree has too much text\n", report.Unread)
	}
	if o.fix {
		if report, err = fixAll(c.Context(), a, options, report); err != nil {
			return err
		}
	}
	a.Printed = true
	if err := report.Write(a.Out, lint.Output{Format: o.out, Version: version.Number(), Name: a.NameOf, Least: least}); err != nil {
		return err
	}
	if report.Count(lint.Error)+report.Count(lint.Warning) > 0 {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

// fixAll writes the corrections of a report into the files and checks the tree again.
func fixAll(ctx context.Context, a *app.App, o lint.Options, r *lint.Report) (*lint.Report, error) {
	byFile := map[string][]lint.Finding{}
	for _, f := range r.Findings {
		if f.Fix != nil {
			byFile[f.Pos.File] = append(byFile[f.Pos.File], f)
		}
	}
	fixed := 0
	for path, findings := range byFile {
		text, err := a.Host.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("fix %s: %w", path, err)
		}
		after, n := lint.Fix(string(text), findings)
		if n == 0 {
			continue
		}
		if err := a.Host.WriteFile(path, strings.NewReader(after), host.WriteOptions{FollowLinks: true}); err != nil {
			return nil, fmt.Errorf("fix %s: %w", path, err)
		}
		fixed += n
	}
	if fixed == 0 {
		return r, nil
	}
	fmt.Fprintf(a.Err, "brine: corrected %s in %s\n", plantext.Count(fixed, "place"), plantext.Count(len(byFile), "file"))
	return lint.Run(ctx, o)
}

// lintOptions finds the tree that a command line names, with its configuration.
func lintOptions(a *app.App, c *cobra.Command, f *lintFlags, args []string) (lint.Options, error) {
	o := lint.Options{Table: assembly.Table(), Disk: a.Host}
	tree := "."
	if len(args) > 0 {
		tree = args[0]
	}
	abs, err := filepath.Abs(tree)
	if err != nil {
		return o, err
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return o, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s is not a directory", tree), Hint: "name the directory of the tree"}
	}
	if o.Config, err = readLintConfig(abs); err != nil {
		return o, err
	}
	if o.Opts, err = treeOpts(a, abs, f, &o.Config); err != nil {
		return o, err
	}
	o.Config.Exclude = append(o.Config.Exclude, f.exclude...)
	if len(f.systems) > 0 {
		o.Config.Systems = f.systems
	}
	if err := o.Config.Check(); err != nil {
		return o, app.Usagef(c, "%v", err)
	}
	for _, s := range lint.Systems() {
		wanted := len(o.Config.Systems) == 0 && len(f.grains) == 0 || slices.Contains(o.Config.Systems, s.Name)
		if wanted {
			o.Systems = append(o.Systems, s)
		}
	}
	for _, name := range f.grains {
		s, err := readGrains(name)
		if err != nil {
			return o, err
		}
		o.Systems = append(o.Systems, s)
	}
	return o, nil
}

func readLintConfig(tree string) (lint.Config, error) {
	name := filepath.Join(tree, lint.ConfigName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return lint.Config{}, nil
	}
	if err != nil {
		return lint.Config{}, err
	}
	return lint.ParseConfig(name, text)
}

// readGrains reads the grains of a machine, such as grains.items prints with --out
// yaml or json; there they are under the id of the machine.
func readGrains(name string) (lint.System, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return lint.System{}, fmt.Errorf("--grains: %w", err)
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: name}, text)
	if err != nil {
		return lint.System{}, err
	}
	m, ok := v.(*value.Map)
	if !ok || m.Len() == 0 {
		return lint.System{}, &source.Error{Pos: source.Pos{File: name}, Err: errors.New("the grains must be a mapping")}
	}
	if m.Len() == 1 {
		if _, inner := m.Entry(0); value.ToMap(inner) != nil {
			m = value.ToMap(inner)
		}
	}
	base := filepath.Base(name)
	return lint.System{Name: strings.TrimSuffix(base, filepath.Ext(base)), Grains: m}, nil
}

// treeOpts returns the configuration of a tree: that in it, or one whose roots are
// the directories of SLS and pillar files in it.
func treeOpts(a *app.App, tree string, f *lintFlags, cfg *lint.Config) (*value.Map, error) {
	dir := tree
	configured := f.configDir != ""
	if configured {
		dir = f.configDir
	}
	for _, name := range []string{"minion", "master"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() {
			configured = true
		}
	}
	o := config.Options{Kind: config.Minion, Host: a.Host, Dir: dir, Section: "salt-call", NoSaltfile: true, FileRoots: f.fileRoots, PillarRoots: f.pillarRoots}
	if !configured && len(f.fileRoots) == 0 {
		o.FileRoots = []string{firstDir(tree, "salt", "states", "srv/salt")}
	}
	noPillar := false
	if !configured && len(f.pillarRoots) == 0 {
		p := firstDir(tree, "pillar", "srv/pillar")
		o.PillarRoots, noPillar = []string{p}, p == tree
	}
	if !configured && slices.Contains(o.FileRoots, tree) {
		// A formula: its tests have trees of their own.
		cfg.Exclude = append(cfg.Exclude, "pillar", "test", "tests")
	}
	loaded, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	if noPillar {
		loaded.Opts.Set("pillar_roots", value.NewMap(0))
	}
	return loaded.Opts, nil
}

// firstDir returns the first directory of names that is in a tree and has files,
// else the tree.
func firstDir(tree string, names ...string) string {
	if _, err := os.Stat(filepath.Join(tree, "FORMULA")); err == nil {
		return tree // its directory may have any of the names
	}
	for _, name := range names {
		dir := filepath.Join(tree, name)
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			if sls, _ := filepath.Glob(filepath.Join(dir, "*.sls")); len(sls) > 0 {
				return dir
			}
			if sls, _ := filepath.Glob(filepath.Join(dir, "*", "*.sls")); len(sls) > 0 {
				return dir
			}
		}
	}
	return tree
}
