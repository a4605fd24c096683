package helm

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A command is the arguments of a function that runs the command of helm that it is
// named after.
type command interface {
	words() []string // what the command line has after the name of the command
	Options() Flags
}

// FlagArgs are the options that all functions have.
type FlagArgs struct {
	_       fun.Arguments
	Flags   []string   `arg:"flags" doc:"options without values, with or without dashes"`
	KVFlags *value.Map `arg:"kvflags,secret" doc:"options with values"`
}

func (*FlagArgs) words() []string { return nil }

// Options returns the options that the arguments ask for.
func (a *FlagArgs) Options() Flags { return a.with() }

// with returns the options and those of pairs, names and values, that have a value.
func (a *FlagArgs) with(pairs ...value.Value) Flags {
	f := Flags{Plain: a.Flags, Pairs: value.NewMap(4)}
	if a.KVFlags != nil {
		f.Pairs.Update(a.KVFlags)
	}
	for k, v := range value.MapOf(pairs...).All() {
		if value.Truth(v) {
			f.Pairs.Set(k, v)
		}
	}
	return f
}

// NamespaceArgs are the options of what acts in a namespace.
type NamespaceArgs struct {
	Namespace string `arg:"namespace" doc:"namespace of Kubernetes"`
	FlagArgs
}

// Options returns the options that the arguments ask for.
func (a *NamespaceArgs) Options() Flags { return a.with("namespace", a.Namespace) }

// ChartArgs are the options of what installs a chart.
type ChartArgs struct {
	Values    string   `arg:"values,path" doc:"file of values"`
	Version   string   `arg:"version" doc:"version of the chart; without it, the latest"`
	Namespace string   `arg:"namespace" doc:"namespace of Kubernetes"`
	Set       []string `arg:"set" doc:"value, or list of values, as name=value"`
	FlagArgs
}

// Options returns the options that the arguments ask for.
func (a *ChartArgs) Options() Flags {
	return a.with("values", a.Values, "version", a.Version, "namespace", a.Namespace, "set", value.Strings(a.Set...))
}

type completionArgs struct {
	Shell string `arg:"shell,required" doc:"bash, zsh or fish"`
	FlagArgs
}

func (a *completionArgs) words() []string { return []string{a.Shell} }

type createArgs struct {
	Name string `arg:"name,required" doc:"name of the chart"`
	FlagArgs
}

func (a *createArgs) words() []string { return []string{a.Name} }

type chartArgs struct {
	Chart string `arg:"chart,required" doc:"name or path of the chart"`
	FlagArgs
}

func (a *chartArgs) words() []string { return []string{a.Chart} }

type releaseArgs struct {
	Release string `arg:"release,required" doc:"name of the release"`
	FlagArgs
}

func (a *releaseArgs) words() []string { return []string{a.Release} }

type helpArgs struct {
	Command string `arg:"command,required" doc:"name of the command"`
	FlagArgs
}

func (a *helpArgs) words() []string { return []string{a.Command} }

type installArgs struct {
	Release string `arg:"release,required" doc:"name of the release"`
	Chart   string `arg:"chart,required" doc:"name or path of the chart"`
	ChartArgs
}

func (a *installArgs) words() []string { return []string{a.Release, a.Chart} }

type lintArgs struct {
	Path      string   `arg:"path,required,path" doc:"path or URL"`
	Values    string   `arg:"values,path" doc:"file of values"`
	Namespace string   `arg:"namespace" doc:"namespace of Kubernetes"`
	Set       []string `arg:"set" doc:"value, or list of values, as name=value"`
	FlagArgs
}

func (a *lintArgs) words() []string { return []string{a.Path} }

func (a *lintArgs) Options() Flags {
	return a.with("values", a.Values, "namespace", a.Namespace, "set", value.Strings(a.Set...))
}

type pathArgs struct {
	Path string `arg:"path,required,path" doc:"path or URL"`
	FlagArgs
}

func (a *pathArgs) words() []string { return []string{a.Path} }

type pluginArgs struct {
	Plugin string `arg:"plugin,required" doc:"name of the plugin"`
	FlagArgs
}

func (a *pluginArgs) words() []string { return []string{a.Plugin} }

type pullArgs struct {
	Pkg string `arg:"pkg,required" doc:"name or URL of the chart"`
	FlagArgs
}

func (a *pullArgs) words() []string { return []string{a.Pkg} }

type repoAddArgs struct {
	Name string `arg:"name,required" doc:"name of the repository"`
	URL  string `arg:"url,required" doc:"URL of the repository"`
	NamespaceArgs
}

func (a *repoAddArgs) words() []string { return []string{a.Name, a.URL} }

type repoIndexArgs struct {
	Directory string `arg:"directory,required,path" doc:"directory of the charts"`
	NamespaceArgs
}

func (a *repoIndexArgs) words() []string { return []string{a.Directory} }

type repoRemoveArgs struct {
	Name string `arg:"name,required" doc:"name of the repository"`
	NamespaceArgs
}

func (a *repoRemoveArgs) words() []string { return []string{a.Name} }

type rollbackArgs struct {
	Release  string `arg:"release,required" doc:"name of the release"`
	Revision string `arg:"revision,required" doc:"number of the revision"`
	NamespaceArgs
}

func (a *rollbackArgs) words() []string { return []string{a.Release, a.Revision} }

type searchArgs struct {
	Keyword string `arg:"keyword,required" doc:"what to search for"`
	FlagArgs
}

func (a *searchArgs) words() []string { return []string{a.Keyword} }

type statusArgs struct {
	Release string `arg:"release,required" doc:"name of the release"`
	NamespaceArgs
}

func (a *statusArgs) words() []string { return []string{a.Release} }

type templateArgs struct {
	Name      string   `arg:"name,required" doc:"name of the release"`
	Chart     string   `arg:"chart,required" doc:"name or path of the chart"`
	Values    string   `arg:"values,path" doc:"file of values"`
	OutputDir string   `arg:"output_dir,path" doc:"directory to write to"`
	Set       []string `arg:"set" doc:"value, or list of values, as name=value"`
	FlagArgs
}

func (a *templateArgs) words() []string { return []string{a.Name, a.Chart} }

func (a *templateArgs) Options() Flags {
	return a.with("values", a.Values, "set", value.Strings(a.Set...), "output-dir", a.OutputDir)
}
