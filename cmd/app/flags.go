package app

import (
	"strings"

	"github.com/spf13/pflag"
)

// RunFlags are the flags that every command that runs functions has.
type RunFlags struct {
	ConfigDir   string
	Saltfile    string
	FileRoots   []string
	PillarRoots []string
	ID          string
	Saltenv     string
	Pillarenv   string
	LogLevel    string
	LogFile     string
	FileLevel   string // of logFile
	CacheDir    string
	Strict      bool
	At          []string // pins of git remotes
	NoParse     []string
	Undo        bool
	CanStream   bool // what runs can be seen: see OutFlags.Stream

	Output OutFlags
	Ret    RetFlags
	Lock   lockFlags
}

// OutFlags say how the report is printed.
type OutFlags struct {
	Out          string
	File         string
	FileAppend   bool
	Indent       string
	StateOutput  string
	StateVerbose string
	Diff         bool
	NoColor      bool
	ForceColor   bool
	Reports      []string // files
	Metrics      string   // file
	ReportMode   string   // of new files of reports
	// Timing has where the time of the run and of its hosts went printed on stderr.
	Timing bool
	// Stream has what programs print shown while they run: --out=stream, which leaves the
	// outputter of the report as it is.
	Stream bool
}

// streamName is a value of --out, but not an outputter.
const streamName = "stream"

// outValue is the value of --out.
type outValue OutFlags

// Set takes an outputter, or stream.
func (v *outValue) Set(text string) error {
	if text == streamName {
		v.Stream = true
	} else {
		v.Out = text
	}
	return nil
}

// String returns the outputter.
func (v *outValue) String() string { return v.Out }

// Type is how help calls the value.
func (*outValue) Type() string { return "string" }

// Register adds the flags of a command that runs functions.
func (f *RunFlags) Register(fs *pflag.FlagSet) {
	f.RegisterRun(fs)
	RepeatedVar(fs, &f.NoParse, "no-parse", "", "keep the values of these keyword arguments as strings (comma-separated)")
	fs.Bool("args-stdin", false, "read further arguments from stdin, one per line") // see ArgsFromStdin
}

// RegisterRun adds the flags of a command that runs functions and takes no
// arguments for them.
func (f *RunFlags) RegisterRun(fs *pflag.FlagSet) {
	f.RegisterConfig(fs)
	fs.StringVar(&f.Ret.Names, "return", "", "send each return to these returners (comma-separated)")
	fs.BoolVar(&f.Undo, "undo", false, "keep what states change on each machine, for brine undo")
	fs.StringVar(&f.Ret.Config, "return-config", "", "alternative configuration of the returners")
	fs.StringVar(&f.Ret.Kwargs, "return-kwargs", "", "settings of the returners, a mapping; they override the configuration")
	f.Output.Register(fs)
	f.Output.RegisterReports(fs)
}

// RegisterConfig adds the flags that say which configuration and which trees are
// read, and what is logged.
func (f *RunFlags) RegisterConfig(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(SaltSpelling)
	fs.StringVarP(&f.ConfigDir, "config-dir", "c", "", "directory of the configuration (default: see 'brine docs guide')")
	fs.StringVar(&f.Saltfile, "saltfile", "", "Saltfile to read (default: ./Saltfile, else ~/.salt/Saltfile)")
	RepeatedVar(fs, &f.FileRoots, "file-root", "", "directory of the SLS tree, for the environment base; may be repeated")
	RepeatedVar(fs, &f.PillarRoots, "pillar-root", "", "directory of the pillar tree, for the environment base; may be repeated")
	fs.StringVar(&f.ID, "id", "", "id of this machine")
	fs.StringVar(&f.Saltenv, "saltenv", "", "environment of SLS files")
	RepeatedVar(fs, &f.At, "at", "", "use this commit, tag or branch of gitfs_remotes; NAME=REF for one of several remotes; may be repeated")
	fs.StringVar(&f.Pillarenv, "pillarenv", "", "environment of the pillar")
	fs.StringVar(&f.CacheDir, "cachedir", "", "directory of the cache")
	fs.StringVarP(&f.LogLevel, "log-level", "l", "", "log messages of this level and above to stderr: quiet, critical, error, warning, info, debug, trace, all")
	fs.StringVar(&f.LogFile, "log-file", "", "also log to this file")
	fs.StringVar(&f.FileLevel, "log-file-level", "", "log messages of this level and above to the file (default: as --log-level)")
	fs.BoolVar(&f.Strict, "strict", false, "treat warnings as errors")
}

// RegisterPlaces adds the flags that say where the configuration and the tree of
// a command are that runs no functions.
func (f *RunFlags) RegisterPlaces(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(SaltSpelling)
	fs.StringVarP(&f.ConfigDir, "config-dir", "c", "", "directory of the configuration (default: see 'brine docs guide')")
	RepeatedVar(fs, &f.FileRoots, "file-root", "", "directory of the SLS tree")
	fs.StringVar(&f.CacheDir, "cachedir", "", "directory of the cache")
}

// Unparsed returns the keyword arguments of --no-parse.
func (f *RunFlags) Unparsed() []string {
	var names []string
	for _, list := range f.NoParse {
		for name := range strings.SplitSeq(list, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// Register adds the flags.
func (f *OutFlags) Register(fs *pflag.FlagSet) {
	fs.Var((*outValue)(f), "out", "outputter: highstate, nested, json, yaml, txt, raw, pprint, table, key, quiet, html, junit, markdown, ndjson, sarif, profile, ...; or stream, to also show what programs print while they run")
	fs.StringVar(&f.File, "out-file", "", "write the report to this file instead of stdout")
	fs.BoolVar(&f.FileAppend, "out-file-append", false, "append to --out-file instead of replacing it")
	fs.StringVar(&f.Indent, "out-indent", "", "spaces per level of indentation; -1 prints all on one line if the outputter supports it")
	fs.StringVar(&f.StateOutput, "state-output", "", "full, terse, mixed, changes, filter, live (each state as it finishes), or one of them with _id")
	fs.StringVar(&f.StateVerbose, "state-verbose", "", "true or false: show states that succeeded without changes")
	fs.BoolVar(&f.Diff, "output-diff", false, "show only states that made changes or failed")
	fs.BoolVar(&f.NoColor, "no-color", false, "print without colours")
	fs.BoolVar(&f.ForceColor, "force-color", false, "print with colours even if stdout is not a terminal")
}

// RegisterReports adds the flags of commands whose results can be a report.
func (f *OutFlags) RegisterReports(fs *pflag.FlagSet) {
	RepeatedVar(fs, &f.Reports, "report", "", "also write reports to these files (comma-separated): .html, .xml (JUnit), .md, .ndjson, .prom, .sarif")
	fs.StringVar(&f.ReportMode, "report-mode", "", "mode of new files of --report, such as 0644; default 0600")
	fs.BoolVar(&f.Timing, "timing", false, "print on stderr where the time of the run and of its hosts went: connection, agent, compiling, states")
	fs.StringVar(&f.Metrics, "metrics", "", "also write metrics of the run to this file, in Prometheus' text format")
}

// RetFlags name the returners of a command line.
type RetFlags struct {
	Names  string
	Config string
	Kwargs string
}
