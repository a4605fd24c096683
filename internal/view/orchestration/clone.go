package orchestration

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/host"
)

// Clone copies the files of a template to another name below a root, and returns the
// paths of the copies. It returns fs.ErrExist if there is a template with the name.
func Clone(files host.Host, t *Template, root, name string) ([]string, error) {
	from := map[string]string{"states": t.Dir, "metadata": filepath.Dir(t.Metadata)}
	if err := free(files, root, name); err != nil {
		return nil, err
	}
	var made []string
	for _, part := range parts {
		copied, err := clone(files, from[part], filepath.Join(root, part, name))
		made = append(made, copied...)
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// clone copies a directory with what is in it.
func clone(files host.Host, from, to string) (made []string, err error) {
	names, err := files.ReadDir(from)
	if err != nil {
		return nil, err
	}
	if err := files.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	for _, n := range names {
		src, dst := filepath.Join(from, n), filepath.Join(to, n)
		st, err := files.Lstat(src)
		if err != nil {
			return made, err
		}
		var copied []string
		switch {
		case st.Mode.IsDir():
			copied, err = clone(files, src, dst)
		case st.Mode.IsRegular():
			var text []byte
			if text, err = files.ReadFile(src); err == nil {
				err = files.WriteFile(dst, strings.NewReader(string(text)), host.WriteOptions{Mode: new(st.Mode.Perm())})
			}
			copied = []string{dst}
		default:
			err = fmt.Errorf("%s is neither a file nor a directory: copy the template by hand", src)
		}
		if err != nil {
			return append(made, copied...), err
		}
		made = append(made, copied...)
	}
	return made, nil
}

// parts are the directories of a template, below a root.
var parts = []string{"states", "metadata"}

// free returns fs.ErrExist if there is a template with a name below a root.
func free(files host.Host, root, name string) error {
	for _, part := range parts {
		dir := filepath.Join(root, part, name)
		if _, err := files.Lstat(dir); err == nil {
			return fmt.Errorf("%s: %w", dir, fs.ErrExist)
		}
	}
	return nil
}
