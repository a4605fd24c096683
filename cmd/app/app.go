// Package app is the process as the commands see it: streams, exit statuses and
// errors, signals, what asks people, the log, and the flags that several commands
// have. It knows no command. Start at [App].
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"brine/cmd/internal/progress"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/outputter"
)

// An App is the process as the commands see it; tests build one from buffers.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Args     []string // without the program's name
	Program  string   // the name the binary was started by
	Getenv   func(string) string
	Host     host.Host
	// Terminal says whether Out is one, so that colours are welcome.
	Terminal bool

	Intr    *Interrupt
	screen  atomic.Pointer[progress.Screen] // what has a progress line
	Late    error                           // what went wrong after the report
	JSON    bool                            // the report is to be JSON
	Printed bool                            // a report was begun
	// Keep tells the targets that a plan is made for or applied to; nil: all that are
	// meant.
	Keep func(id string) bool
	// KeepText is Keep as an expression of --limit, for records.
	KeepText string
	// JID is the job id of the run where it is free; "": any.
	JID string
	// RunDir is the directory of the run that this process was started for; "": none.
	RunDir string
	// OnExit is called with the exit status at the end of the process; nil: nobody waits.
	OnExit func(status int)
}

// SaltPrograms are the names by which brine is one of Salt's programs.
var SaltPrograms = [...]string{"salt", "salt-call", "salt-run", "salt-ssh"}

// Style is which program a command poses as: its name and its shorthands
// differ.
type Style int

// The styles.
const (
	AsBrine Style = iota
	AsSalt
)

// StartProgress shows how the run of a function goes, from now until the func
// that it returns is called. The Progress is nil where nothing is shown.
// kept says that a Progress is wanted also there.
func (a *App) StartProgress(f progress.Flags, o *RunFlags, name string, kept bool) (*progress.Progress, func()) {
	p := progress.Start(progress.Options{
		Kept: kept, Flags: f, Stderr: a.Err, Getenv: a.Getenv, Title: name, NoColor: o.Output.NoColor, Salt: slices.Contains(SaltPrograms[:], a.Program),
	})
	screen := p.Screen()
	if screen == nil {
		return p, p.Stop
	}
	a.screen.Store(screen)
	out, errs := a.Out, a.Err
	a.Out, a.Err = screen.Writer(out), screen.Writer(errs)
	return p, func() {
		p.Stop()
		a.Out, a.Err = out, errs
	}
}

// Report prints err to stderr and returns the status of the process.
func (a *App) Report(err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, errHelp) {
		return ExitOK
	}
	status, hint := Classify(err)
	if a.Intr.Draining() || errors.Is(err, context.Canceled) {
		status = ExitInterrupted
	}
	var se *StatusError
	if errors.As(err, &se) && se.Err == nil {
		return status
	}
	PrintError(a.Err, err, hint)
	if a.JSON && !a.Printed {
		a.errorDocument(err, status, hint)
	}
	return status
}

// errorDocument prints an error as the JSON document of the command, so that
// stdout always is one document.
func (a *App) errorDocument(err error, status int, hint string) {
	doc := value.MapOf("error", err.Error(), "retcode", int64(status))
	if hint != "" {
		doc.Set("hint", hint)
	}
	a.Printed = true
	if perr := outputter.JSON(a.Out, doc, &outputter.Options{}); perr != nil {
		fmt.Fprintf(a.Err, "brine: print the report: %v\n", perr)
	}
}

// NameOf returns a path as the user knows it: relative to the working directory
// where it is under it.
func (a *App) NameOf(path string) string {
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "../") {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// OnBehalf is the environment variable that names the user of brine ui for whom
// a run is: its record has that user, and nobody is asked on the terminal.
const OnBehalf = "BRINE_ON_BEHALF_OF"
