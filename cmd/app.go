// Package cmd is the command line of brine, the only place that knows of flags,
// stdout and exit statuses. Start at [Main].
//
// The core is app.go (the process), exit.go (errors and statuses), flags.go and
// session.go (one run); it knows no command. Each command has a file: its
// options, its constructor and what runs it. root.go puts them together. Uses
// between files never form a cycle.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
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

	intr    *interrupt
	screen  atomic.Pointer[progress.Screen] // what has a progress line
	late    error                           // what went wrong after the report
	json    bool                            // the report is to be JSON
	printed bool                            // a report was begun
}

// saltPrograms are the names by which brine is one of Salt's programs.
var saltPrograms = [...]string{"salt", "salt-call", "salt-run", "salt-ssh"}

// otherPrograms are those of Salt's programs that brine is not.
var otherPrograms = [...]string{
	"salt-api", "salt-cloud", "salt-cp", "salt-extend", "salt-key", "salt-master", "salt-minion", "salt-pip", "salt-proxy",
	"salt-support", "salt-syndic", "salt-unity", "spm",
}

// style is which program a command poses as: its name and its shorthands
// differ.
type style int

const (
	asBrine style = iota
	asSalt
)

// startProgress shows how the run of a function goes, from now until the func
// that it returns is called. The Progress is nil where nothing is shown.
func (a *App) startProgress(f progress.Flags, o *runFlags, name string) (*progress.Progress, func()) {
	p := progress.Start(progress.Options{
		Flags: f, Stderr: a.Err, Getenv: a.Getenv, Title: name, NoColor: o.output.noColor, Salt: slices.Contains(saltPrograms[:], a.Program),
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

// report prints err to stderr and returns the status of the process.
func (a *App) report(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errHelp) {
		return exitOK
	}
	status, hint := classify(err)
	if a.intr.draining() || errors.Is(err, context.Canceled) {
		status = exitInterrupted
	}
	var se *statusError
	if errors.As(err, &se) && se.err == nil {
		return status
	}
	printError(a.Err, err, hint)
	if a.json && !a.printed {
		a.errorDocument(err, status, hint)
	}
	return status
}

// asksJSON reports whether a command line asks for JSON: known before flags
// are parsed, since a fault in them is reported as JSON, too.
func asksJSON(args []string) bool {
	asked := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, v, ok := strings.Cut(arg, "=")
		if name != "--out" && name != "--output" {
			continue
		}
		if !ok && i+1 < len(args) {
			v = args[i+1]
		}
		asked = v // the last one holds
	}
	return asked == "json"
}

// errorDocument prints an error as the JSON document of the command, so that
// stdout always is one document.
func (a *App) errorDocument(err error, status int, hint string) {
	doc := value.MapOf("error", err.Error(), "retcode", int64(status))
	if hint != "" {
		doc.Set("hint", hint)
	}
	a.printed = true
	if perr := outputter.JSON(a.Out, doc, &outputter.Options{}); perr != nil {
		fmt.Fprintf(a.Err, "brine: print the report: %v\n", perr)
	}
}
