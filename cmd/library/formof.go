package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// maxForm bounds the file of a form, in bytes.
const maxForm = 1 << 20

// FormOf returns the form of an SLS that is a formula with a form; nil: it has none. The file
// form.yml is beside the SLS, in metadata/NAME, where SUSE's packages put it, or in the directory
// metadata of the formula's repository.
func FormOf(ctx context.Context, env *fun.Env, sls string) (*form.Form, error) {
	at, err := fun.FindSLS(ctx, env.Up, env.SaltEnv, sls)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const own = "metadata/form.yml"
	base := strings.ReplaceAll(sls, ".", "/")
	for _, p := range []string{base + "/form.yml", "metadata/" + base + "/form.yml", own} {
		fi, err := env.Up.Stat(ctx, env.SaltEnv, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !fi.Mode.IsRegular() || p == own && rootOf(fi) != rootOf(at) { // of another formula
			continue
		}
		r, err := env.Up.Open(ctx, env.SaltEnv, p)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(r, maxForm+1))
		if err = errors.Join(err, r.Close()); err == nil && len(text) > maxForm {
			err = fmt.Errorf("it has more than %d bytes", maxForm)
		}
		if err != nil {
			return nil, fmt.Errorf("salt://%s: %w", p, err)
		}
		return orchestration.ParseForm(p, text)
	}
	return nil, nil
}

// rootOf is the directory of the tree that a file is in.
func rootOf(fi fun.FileInfo) string { return strings.TrimSuffix(fi.Abs, "/"+fi.Path) }
