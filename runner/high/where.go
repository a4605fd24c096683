package high

import (
	"fmt"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Where says where SLS files of an environment are looked for, as a hint for a
// user whose SLS is not found; "" where nothing is configured. Where the working directory has a tree that is not
// in use, it says how to use that.
func Where(env *fun.Env, saltenv string) string {
	roots, ok := option(env, "file_roots").(*value.Map)
	if !ok {
		return ""
	}
	var dirs []string
	switch v := roots.At(saltenv).(type) {
	case *value.List:
		for _, d := range v.Items {
			dirs = append(dirs, value.Str(d))
		}
	case string:
		dirs = []string{v}
	}
	text := fmt.Sprintf("saltenv %s has no file_roots", saltenv)
	if len(dirs) > 0 {
		text = "looked in " + strings.Join(dirs, ", ")
	}
	if env.Host == nil {
		return text
	}
	cwd, err := env.Host.Getwd()
	if err != nil {
		return text
	}
	there := false
	for _, d := range dirs {
		if st, err := env.Host.Stat(d); err == nil && st.Mode.IsDir() {
			there = true
		}
		if d == cwd || strings.HasPrefix(d, strings.TrimSuffix(cwd, "/")+"/") {
			return text // the tree of this directory
		}
	}
	has := func(name string) bool {
		st, err := env.Host.Stat(path.Join(cwd, name))
		return err == nil && st.Mode.IsRegular()
	}
	switch {
	case has("minion") || has("master") || has("Saltfile"):
		text += "; -c . takes the configuration of this directory"
	case has("salt/top.sls"):
		text += "; --file-root salt takes the tree of this directory"
	case has("top.sls"):
		text += "; --file-root . takes the tree of this directory"
	case !there:
		text += "; 'brine init DIRECTORY' writes a tree to start from, --file-root names one"
	}
	return text
}
