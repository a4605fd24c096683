package cmd

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

// terminal returns stdin where a person types there; else nil.
func (a *App) terminal() *os.File {
	if f, ok := a.In.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return f
	}
	return nil
}

// askLine asks for a line of text.
func (a *App) askLine(ctx context.Context, in *os.File, prompt string) (string, error) {
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

// askStdin asks on stdin, without echo.
func (a *App) askStdin(prompt string) (roster.Secret, error) {
	f, ok := a.In.(*os.File)
	if !ok {
		return roster.Secret{}, errUnasked
	}
	return a.askOn(f, a.Err, prompt, false)
}

// confirm shows what will run and asks whether it may. It returns an error if it
// may not.
func (a *App) confirm(ctx context.Context, in *os.File, what string, test bool) error {
	fmt.Fprint(a.Err, printable.Text(what))
	question := "Run it? [y/N] "
	if test {
		question = "Show what it would change? [y/N] "
	}
	answer, err := a.askLine(ctx, in, question)
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return &statusError{status: exitGeneric, err: errors.New("not confirmed: nothing was run")}
	}
	return nil
}
