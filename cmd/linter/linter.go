// Package linter reads the flags and files of the commands that look at a tree without
// running it: lint, check and lsp.
package linter

import (
	"cmp"
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
	"brine/internal/core/config"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/lint"
)

// Flags say which tree is read, and for which machines.
type Flags struct {
	ConfigDir   string
	FileRoots   []string
	PillarRoots []string
	grains      []string
	systems     []string
	Exclude     []string
	Out         string
}

// Register adds the flags of a command whose report has one of the formats.
func (f *Flags) Register(fs *pflag.FlagSet, formats []string) {
	f.RegisterTree(fs)
	fs.StringVar(&f.Out, "out", formats[0], "format: "+strings.Join(formats, ", "))
}

// RegisterTree adds the flags that say which tree is read.
func (f *Flags) RegisterTree(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(app.SaltSpelling)
	fs.StringVarP(&f.ConfigDir, "config-dir", "c", "", "directory of the configuration (default: the tree)")
	app.RepeatedVar(fs, &f.FileRoots, "file-root", "", "directory of the SLS tree, for the environment base; may be repeated")
	app.RepeatedVar(fs, &f.PillarRoots, "pillar-root", "", "directory of the pillar tree, for the environment base; may be repeated")
	app.RepeatedVar(fs, &f.grains, "grains", "", "compile for a machine with the grains of this YAML or JSON file; may be repeated")
	fs.StringSliceVar(&f.systems, "system", nil, "compile for these built-in systems: alpine, arch, debian, rhel, suse, ubuntu (default: all)")
	fs.StringSliceVar(&f.Exclude, "exclude", nil, "do not check these paths under the roots (globs)")
}

// Complete completes the values of the flags that have fixed ones.
func Complete(c *cobra.Command, formats []string) {
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

// MaxOneTree makes a second argument a usage fault.
func MaxOneTree(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return app.Usagef(c, "one tree is checked at a time, %d were given", len(args))
	}
	return nil
}

// Options finds the tree that a command line names, with its configuration.
func Options(a *app.App, c *cobra.Command, f *Flags, args []string) (lint.Options, error) {
	o := lint.Options{Table: assembly.Table(), Disk: a.Host}
	tree := "."
	if len(args) > 0 {
		tree = args[0]
	} else if f.ConfigDir == "" && len(f.FileRoots) == 0 {
		above, err := treeAbove(a)
		if err != nil {
			return o, err
		}
		if above != "" {
			fmt.Fprintf(a.Err, "brine: the tree is %s, where its Saltfile is\n", printable.Line(above))
			tree = above
		}
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
	loaded, err := treeConfig(a, abs, f, &o.Config)
	if err != nil {
		return o, err
	}
	o.Opts = loaded.Opts
	o.Config.Exclude = append(o.Config.Exclude, f.Exclude...)
	if len(f.systems) > 0 {
		o.Config.Systems = f.systems
	}
	if err := o.Config.Check(); err != nil {
		return o, app.Usagef(c, "%v", err)
	}
	o.Chosen = len(o.Config.Systems) > 0 || len(f.grains) > 0
	for _, s := range lint.Systems() {
		wanted := len(o.Config.Systems) == 0 && len(f.grains) == 0 || slices.Contains(o.Config.Systems, s.Name)
		if wanted {
			o.Systems = append(o.Systems, s)
		}
	}
	for _, name := range f.grains {
		s, err := ReadGrains(name)
		if err != nil {
			return o, err
		}
		o.Systems = append(o.Systems, s)
	}
	return o, nil
}

// treeAbove returns the directory above the working directory whose Saltfile holds there, as
// it does for other commands; "" is none.
func treeAbove(a *app.App) (string, error) {
	section, above, err := config.Saltfile(config.Options{Host: a.Host, Section: "salt-call", Upwards: a.Upwards()})
	if err != nil || above == "" {
		return "", err
	}
	return cmp.Or(section.Str("config_dir"), filepath.Dir(above)), nil
}

// Nothing is the error of a report of a tree that has nothing to judge: that nothing is
// wrong with it says nothing.
func Nothing(o *lint.Options, r *lint.Report) error {
	if r.SLS > 0 || len(r.Findings) > 0 {
		return nil
	}
	var roots []string
	for _, dirs := range o.Opts.Map("file_roots").All() {
		l, _ := dirs.(*value.List)
		for i := range l.Len() {
			roots = append(roots, value.Str(l.Items[i]))
		}
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("there are no SLS files in %s: nothing was checked", strings.Join(roots, ", ")),
		Hint: "name the directory of the tree, or that of its SLS files with --file-root; 'brine init DIRECTORY' writes a tree to start from",
	}
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

// ReadGrains reads the grains of a machine, such as grains.items prints with --out
// yaml or json; there they are under the id of the machine.
func ReadGrains(name string) (lint.System, error) {
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

// TreeConfig returns the configuration of a tree: that in it, or one whose roots are the
// directories of SLS and pillar files in it.
func TreeConfig(a *app.App, tree string, f *Flags) (*config.Config, error) {
	return treeConfig(a, tree, f, &lint.Config{})
}

// treeConfig is [TreeConfig]. It tells the rules which directories are not to be checked.
func treeConfig(a *app.App, tree string, f *Flags, cfg *lint.Config) (*config.Config, error) {
	dir := tree
	configured := f.ConfigDir != ""
	if configured {
		dir = f.ConfigDir
	}
	for _, name := range []string{"minion", "master"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() {
			configured = true
		}
	}
	o := config.Options{Kind: config.Minion, Host: a.Host, Dir: dir, Section: "salt-call", NoSaltfile: true, FileRoots: f.FileRoots, PillarRoots: f.PillarRoots}
	if !configured && len(f.FileRoots) == 0 {
		o.FileRoots = []string{firstDir(tree, "salt", "states", "srv/salt")}
	}
	noPillar := false
	if !configured && len(f.PillarRoots) == 0 {
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
	return loaded, nil
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
