package python

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// A language is one in which the modules of a tree are written.
type language int

const (
	python3 language = iota
	starlark
)

// extensions are those of the files of each language. Where a tree has a module in
// both, the first one is used.
var extensions = [...]string{python3: ".py", starlark: ".star"}

// languageOf returns the language of a file; false where it is none that this package
// runs.
func languageOf(file string) (language, bool) {
	ext := path.Ext(file)
	for lang, e := range extensions {
		if e == ext {
			return language(lang), true
		}
	}
	return 0, false
}

func (l language) String() string {
	if l == starlark {
		return "Starlark"
	}
	return "Python"
}

// command returns what starts the helper of the language, and on which host.
func (l language) command(env *fun.Env) ([]string, host.Host, error) {
	if l == starlark {
		exe, err := host.Executable()
		if err != nil {
			return nil, nil, fmt.Errorf("run Starlark: %w", err)
		}
		// The helper is a part of brine and not of the machine that it manages.
		return []string{exe, wire.Starlark}, host.NewLocal(), nil
	}
	exe, err := env.Host.LookPath("python3", "")
	if err != nil {
		return nil, nil, ErrNoPython
	}
	return []string{exe, "-I", "-B", "-c", boot}, env.Host, nil
}

// memory returns how much memory a helper may use, in MiB; 0 means no limit.
func (l language) memory(env *fun.Env) int64 {
	if n, ok := value.AsInt(env.Opts.At("custom_memory")); ok && n >= 0 {
		return min(n, 1<<40) // more would overflow as bytes
	}
	if l == starlark {
		return starMemory
	}
	return defaultMemory
}

// stepLimit is how many steps a function in Starlark may take.
func stepLimit(env *fun.Env) int64 {
	if n, ok := value.AsInt(env.Opts.At("custom_steps")); ok && n > 0 {
		return n
	}
	return starSteps
}

// ending is the error of a helper that has ended, with what it wrote. It could have
// so many MiB of memory.
func (l language) ending(memory int64, out host.Output, stderr *tailBuffer) error {
	name := "python3"
	if l == starlark {
		name = "the process that runs Starlark"
		// The runtime of Go ends with status 2, after a line that says why. Without
		// memory it may fail in many ways.
		why := stderr.head()
		switch crashed := out.Status == 2 && !strings.HasPrefix(why, "panic:"); {
		case crashed && strings.Contains(why, "stack exceeds"):
			return errors.New("its code or its data is nested too deep")
		case crashed || out.Status == wire.OutOfMemory:
			return fmt.Errorf("it took more than %d MiB of memory (option custom_memory)", memory)
		}
	}
	if out.Status < 0 {
		return fmt.Errorf("%s was ended by signal %d%s", name, -out.Status, stderr.text())
	}
	return fmt.Errorf("%s ended with status %d%s", name, out.Status, stderr.text())
}
