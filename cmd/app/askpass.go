package app

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

	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/roster"
)

// askpassDefault is what asks where SSH_ASKPASS names nothing.
const askpassDefault = "/usr/bin/ssh-askpass"

// errUnasked says that nobody could be asked.
var errUnasked = errors.New("there is no terminal to ask on")

// Asker returns the func that asks a person for a secret (or, with echo, for what
// may be seen), as ssh does: on the terminal, also if stdin is another one, or by
// the program of SSH_ASKPASS, as SSH_ASKPASS_REQUIRE says. It is nil where there is
// nobody to ask.
func (a *App) Asker() func(prompt string, echo bool) (roster.Secret, error) {
	in, ok := a.In.(*os.File)
	if !ok {
		return nil // not a person's own run
	}
	getenv := a.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	if getenv(OnBehalf) != "" {
		return nil // whose browser may be elsewhere
	}
	program, prefer := askpass(getenv)
	byProgram := func(prompt string, _ bool) (roster.Secret, error) { return a.runAskpass(program, prompt) }
	if program != "" && prefer {
		return byProgram
	}
	if isatty.IsTerminal(in.Fd()) {
		return func(prompt string, echo bool) (roster.Secret, error) { return a.askOn(in, a.Err, prompt, echo) }
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

// askOn asks on a terminal, without echo where the answer is a secret.
func (a *App) askOn(tty *os.File, w io.Writer, prompt string, echo bool) (roster.Secret, error) {
	fmt.Fprint(w, printable.Text(prompt))
	if echo {
		line, err := readLine(tty)
		return roster.NewSecret(line), err
	}
	b, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(w)
	return roster.NewSecret(string(b)), err
}

// readLine reads a line and nothing behind it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		switch {
		case n == 1 && b[0] == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case n == 1:
			line = append(line, b[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
}

// askTTY asks on the controlling terminal. The prompt goes through stderr where
// that is a terminal, which has the progress line.
func (a *App) askTTY(prompt string, echo bool) (roster.Secret, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return roster.Secret{}, errUnasked
	}
	defer tty.Close()
	if a.screen.Load() != nil {
		return a.askOn(tty, a.Err, prompt, echo)
	}
	return a.askOn(tty, tty, prompt, echo)
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
