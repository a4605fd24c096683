package cmd

import (
	"strings"

	"github.com/spf13/pflag"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// runFlags are the flags that every command that runs functions has.
type runFlags struct {
	configDir   string
	saltfile    string
	fileRoots   []string
	pillarRoots []string
	id          string
	saltenv     string
	pillarenv   string
	logLevel    string
	logFile     string
	fileLevel   string // of logFile
	cacheDir    string
	strict      bool
	at          []string // pins of git remotes
	noParse     []string

	output outFlags
	ret    retFlags
	lock   lockFlags
}

// outFlags say how the report is printed.
type outFlags struct {
	out          string
	file         string
	fileAppend   bool
	indent       string
	stateOutput  string
	stateVerbose string
	diff         bool
	noColor      bool
	forceColor   bool
	reports      []string // files
	metrics      string   // file
	reportMode   string   // of new files of reports
}

// register adds the flags of a command that runs functions.
func (f *runFlags) register(fs *pflag.FlagSet) {
	f.registerRun(fs)
	fs.StringArrayVar(&f.noParse, "no-parse", nil, "keep the values of these keyword arguments as strings (comma-separated)")
	fs.Bool("args-stdin", false, "read further arguments from stdin, one per line") // see argsFromStdin
}

// registerRun adds the flags of a command that runs functions and takes no
// arguments for them.
func (f *runFlags) registerRun(fs *pflag.FlagSet) {
	f.registerConfig(fs)
	fs.StringVar(&f.ret.names, "return", "", "send each return to these returners (comma-separated)")
	fs.StringVar(&f.ret.config, "return-config", "", "alternative configuration of the returners")
	fs.StringVar(&f.ret.kwargs, "return-kwargs", "", "settings of the returners, a mapping; they override the configuration")
	f.output.register(fs)
	f.output.registerReports(fs)
}

// registerConfig adds the flags that say which configuration and which trees are
// read, and what is logged.
func (f *runFlags) registerConfig(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(saltSpelling)
	fs.StringVarP(&f.configDir, "config-dir", "c", "", "directory of the configuration (default: see docs/guide.md)")
	fs.StringVar(&f.saltfile, "saltfile", "", "Saltfile to read (default: ./Saltfile, else ~/.salt/Saltfile)")
	fs.StringArrayVar(&f.fileRoots, "file-root", nil, "directory of the SLS tree, for the environment base; may be repeated")
	fs.StringArrayVar(&f.pillarRoots, "pillar-root", nil, "directory of the pillar tree, for the environment base; may be repeated")
	fs.StringVar(&f.id, "id", "", "id of this machine")
	fs.StringVar(&f.saltenv, "saltenv", "", "environment of SLS files")
	fs.StringArrayVar(&f.at, "at", nil, "use this commit, tag or branch of gitfs_remotes; NAME=REF for one of several remotes; may be repeated")
	fs.StringVar(&f.pillarenv, "pillarenv", "", "environment of the pillar")
	fs.StringVar(&f.cacheDir, "cachedir", "", "directory of the cache")
	fs.StringVarP(&f.logLevel, "log-level", "l", "", "log messages of this level and above to stderr: quiet, critical, error, warning, info, debug, trace, all")
	fs.StringVar(&f.logFile, "log-file", "", "also log to this file")
	fs.StringVar(&f.fileLevel, "log-file-level", "", "log messages of this level and above to the file (default: as --log-level)")
	fs.BoolVar(&f.strict, "strict", false, "treat warnings as errors")
}

// registerPlaces adds the flags that say where the configuration and the tree of
// a command are that runs no functions.
func (f *runFlags) registerPlaces(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(saltSpelling)
	fs.StringVarP(&f.configDir, "config-dir", "c", "", "directory of the configuration (default: see docs/guide.md)")
	fs.StringArrayVar(&f.fileRoots, "file-root", nil, "directory of the SLS tree")
	fs.StringVar(&f.cacheDir, "cachedir", "", "directory of the cache")
}

// unparsed returns the keyword arguments of --no-parse.
func (f *runFlags) unparsed() []string {
	var names []string
	for _, list := range f.noParse {
		for name := range strings.SplitSeq(list, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

func (f *outFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.out, "out", "", "outputter: highstate, nested, json, yaml, txt, raw, pprint, table, key, quiet, html, junit, markdown, ndjson, sarif, profile, ...")
	fs.StringVar(&f.file, "out-file", "", "write the report to this file instead of stdout")
	fs.BoolVar(&f.fileAppend, "out-file-append", false, "append to --out-file instead of replacing it")
	fs.StringVar(&f.indent, "out-indent", "", "spaces per level of indentation; -1 prints all on one line if the outputter supports it")
	fs.StringVar(&f.stateOutput, "state-output", "", "full, terse, mixed, changes, filter, live (each state as it finishes), or one of them with _id")
	fs.StringVar(&f.stateVerbose, "state-verbose", "", "true or false: show states that succeeded without changes")
	fs.BoolVar(&f.diff, "output-diff", false, "show only states that made changes or failed")
	fs.BoolVar(&f.noColor, "no-color", false, "print without colours")
	fs.BoolVar(&f.forceColor, "force-color", false, "print with colours even if stdout is not a terminal")
}

// registerReports adds the flags of commands whose results can be a report.
func (f *outFlags) registerReports(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.reports, "report", nil, "also write reports to these files (comma-separated): .html, .xml (JUnit), .md, .ndjson, .prom, .sarif")
	fs.StringVar(&f.reportMode, "report-mode", "", "mode of new files of --report, such as 0644; default 0600")
	fs.StringVar(&f.metrics, "metrics", "", "also write metrics of the run to this file, in Prometheus' text format")
}

// retFlags name the returners of a command line.
type retFlags struct {
	names  string
	config string
	kwargs string
}

// typed reads text as a positional argument is read.
func typed(text string) value.Value {
	return dispatch.Typed(fun.Args{Pos: []value.Value{text}}).Pos[0]
}
