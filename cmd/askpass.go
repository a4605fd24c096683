package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"brine/internal/host"
	"brine/internal/printable"
	"brine/internal/roster"
)

// askpassDefault is what asks where SSH_ASKPASS names nothing.
const askpassDefault = "/usr/bin/ssh-askpass"

// errUnasked says that nobody could be asked.
var errUnasked = errors.New("there is no terminal to ask on")

// asker returns the func that asks a person for a secret, as ssh does: on the
// terminal, also if stdin is another one, or by the program of SSH_ASKPASS, as
// SSH_ASKPASS_REQUIRE says. It is nil where there is nobody to ask.
func (a *App) asker() func(prompt string) (roster.Secret, error) {
	in, ok := a.In.(*os.File)
	if !ok {
		return nil // not a person's own run
	}
	getenv := a.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	program, prefer := askpass(getenv)
	byProgram := func(prompt string) (roster.Secret, error) { return a.runAskpass(program, prompt) }
	if program != "" && prefer {
		return byProgram
	}
	if isatty.IsTerminal(in.Fd()) {
		return func(prompt string) (roster.Secret, error) { return a.askOn(in, a.Err, prompt) }
	}
	// Without a controlling terminal it cannot be opened.
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		tty.Close()
		return a.askTTY
	}
	if program != "" {
		return byProgram
	}
	return nil
}

// askpass returns the program that asks, "" where none may, and whether it is
// asked before a terminal.
func askpass(getenv func(string) string) (program string, prefer bool) {
	allowed := getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
	switch strings.ToLower(getenv("SSH_ASKPASS_REQUIRE")) {
	case "force":
		allowed, prefer = true, true
	case "prefer":
		prefer = allowed
	case "never":
		allowed = false
	}
	if !allowed {
		return "", false
	}
	if program = getenv("SSH_ASKPASS"); program == "" {
		program = askpassDefault
	}
	return program, prefer
}

// askOn asks on a terminal, without echo.
func (a *App) askOn(tty *os.File, w io.Writer, prompt string) (roster.Secret, error) {
	fmt.Fprint(w, printable.Text(prompt))
	b, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(w)
	return roster.NewSecret(string(b)), err
}

// askTTY asks on the controlling terminal. The prompt goes through stderr where
// that is a terminal, which has the progress line.
func (a *App) askTTY(prompt string) (roster.Secret, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return roster.Secret{}, errUnasked
	}
	defer tty.Close()
	if a.screen.Load() != nil {
		return a.askOn(tty, a.Err, prompt)
	}
	return a.askOn(tty, tty, prompt)
}

// runAskpass asks by a program, whose first line of output is the answer.
func (a *App) runAskpass(program, prompt string) (roster.Secret, error) {
	out, err := a.Host.Run(context.Background(), host.Cmd{Argv: []string{program, prompt}})
	if err != nil {
		return roster.Secret{}, fmt.Errorf("SSH_ASKPASS: %w", err)
	}
	if out.Status != 0 {
		return roster.Secret{}, fmt.Errorf("SSH_ASKPASS: %s: status %d", program, out.Status)
	}
	answer, _, _ := bytes.Cut(out.Stdout, []byte("\n"))
	return roster.NewSecret(strings.TrimSuffix(string(answer), "\r")), nil
}
