package orchestration

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
)

// Clone copies the files of a template to another name below a root, and returns the
// paths of the copies. It returns fs.ErrExist if there is a template with the name.
func Clone(files host.Host, t *Template, root, name string) ([]string, error) {
	if err := free(files, root, name); err != nil {
		return nil, err
	}
	all, err := t.members(files)
	if err != nil {
		return nil, err
	}
	return write(files, root, name, all)
}

// A member is a file of a template.
type member struct {
	part, path string // path is below the directory of the part
	mode       fs.FileMode
	text       []byte
}

// below is where a member of a template with a name is, below a root.
func (m *member) below(root, name string) string {
	return filepath.Join(root, m.part, name, filepath.FromSlash(m.path))
}

// members reads the files of a template.
func (t *Template) members(files host.Host) (all []member, err error) {
	for part, dir := range map[string]string{"states": t.Dir, "metadata": filepath.Dir(t.Metadata)} {
		if all, err = appendMembers(files, part, dir, "", all); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Or(strings.Compare(b.part, a.part), strings.Compare(a.path, b.path)) })
	return all, nil
}

// appendMembers appends what is in a directory of a part, whose path there is at.
func appendMembers(files host.Host, part, dir, at string, all []member) ([]member, error) {
	names, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		src, rel := filepath.Join(dir, n), path.Join(at, n)
		st, err := files.Lstat(src)
		switch {
		case err != nil:
		case st.Mode.IsDir():
			all, err = appendMembers(files, part, src, rel, all)
		case st.Mode.IsRegular():
			var text []byte
			text, err = files.ReadFile(src)
			all = append(all, member{part: part, path: rel, mode: st.Mode.Perm(), text: text})
		default:
			err = fmt.Errorf("%s is neither a file nor a directory: copy the template by hand", src)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// write writes members of a template with a name below a root, and returns their paths.
func write(files host.Host, root, name string, all []member) (made []string, err error) {
	for _, m := range all {
		to := m.below(root, name)
		if err := files.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return made, err
		}
		if err := files.WriteFile(to, bytes.NewReader(m.text), host.WriteOptions{Mode: new(m.mode)}); err != nil {
			return made, err
		}
		made = append(made, to)
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
