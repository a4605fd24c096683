package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"brine/internal/core/printable"
	"brine/internal/core/roster"
)

// TTY returns stdin where a person types there; else nil.
func (a *App) TTY() *os.File {
	if f, ok := a.In.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return f
	}
	return nil
}

// AskLine asks for a line of text.
func (a *App) AskLine(ctx context.Context, in *os.File, prompt string) (string, error) {
	fmt.Fprint(a.Err, printable.Text(prompt))
	text, err := readLine(in)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		fmt.Fprintln(a.Err)
		return "", errors.New("the input ended before all questions were answered")
	}
	return strings.TrimSpace(text), nil
}

// AskStdin asks on stdin, without echo.
func (a *App) AskStdin(prompt string) (roster.Secret, error) {
	f, ok := a.In.(*os.File)
	if !ok {
		return roster.Secret{}, errUnasked
	}
	return a.askOn(f, a.Err, prompt, false)
}

// Confirm shows what will run and asks whether it may. It returns an error if it
// may not.
func (a *App) Confirm(ctx context.Context, in *os.File, what string, test bool) error {
	fmt.Fprint(a.Err, printable.Text(what))
	question := "Run it? [y/N] "
	if test {
		question = "Show what it would change? [y/N] "
	}
	answer, err := a.AskLine(ctx, in, question)
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return &StatusError{Status: ExitGeneric, Err: errors.New("not confirmed: nothing was run")}
	}
	return nil
}
