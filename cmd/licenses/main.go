// Command licenses writes the licences of all modules that brine is built from to
// licenses.txt.zst in the working directory, which is internal/core/licenses. It fails if a module has no licence,
// or one that is not known to allow what brine does with it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"github.com/klauspost/compress/zstd"
)

// allowed are the licences, by their SPDX names, that a program under Apache-2.0 may
// contain without further duties than to carry their text, and MPL-2.0, whose files
// are used unchanged and whose source is that of the module named here.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense", "Zlib"}

// systems are what releases are built for: some modules are used by one alone.
var systems = []string{"linux", "darwin", "freebsd"}

// A module is one that brine is built from. Go itself has no version here, since
// that of the build at hand differs.
type module struct {
	path, version, dir string
	packages           []string // directories of the packages in use
}

// A text is a licence with where it is.
type text struct {
	file string // with slashes, relative to the module
	kind []string
	body []byte
}

func main() {
	if err := run("licenses.txt.zst"); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	b, err := gather()
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := z.Write(b); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, packed.Bytes(), 0o644)
}

// gather returns the list and the texts.
func gather() ([]byte, error) {
	all, err := modules()
	if err != nil {
		return nil, err
	}
	var list, body bytes.Buffer
	var faults []error
	for _, m := range all {
		texts, err := m.texts()
		if err == nil && len(texts) == 0 {
			err = errors.New("it has no file of a licence")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", m.path, m.version, err))
			continue
		}
		var kinds []string
		for _, t := range texts {
			kinds = append(kinds, t.kind...)
		}
		slices.Sort(kinds)
		name := strings.TrimSpace(m.path + " " + m.version)
		fmt.Fprintf(&list, "%s: %s\n", name, strings.Join(slices.Compact(kinds), ", "))
		for _, t := range texts {
			rule := strings.Repeat("-", 80)
			fmt.Fprintf(&body, "\n%s\n%s: %s\n%s\n\n%s\n", rule, name, t.file, rule, bytes.TrimSpace(t.body))
		}
	}
	return append(list.Bytes(), body.Bytes()...), errors.Join(faults...)
}

// modules returns those that the packages of the program are in, with Go itself as
// the first one. brine's own licence is not among them.
func modules() ([]*module, error) {
	root, err := output(nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found := map[string]*module{}
	for _, system := range systems {
		lines, err := output([]string{"GOOS=" + system, "CGO_ENABLED=0"}, "list", "-deps",
			"-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}\t{{$.ImportPath}}{{end}}", "../../..")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(lines) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) != 5 {
				continue
			}
			if f[1] == "" { // a package of brine, which may be a copy of another's code
				if copied, _ := filepath.Glob(filepath.Join(f[3], "LICENSE*")); len(copied) > 0 && f[3] != f[2] {
					found[f[4]] = &module{path: f[4], version: "(a changed copy)", dir: f[3]}
				}
				continue
			}
			m := found[f[0]]
			if m == nil {
				m = &module{path: f[0], version: f[1], dir: f[2]}
				found[f[0]] = m
			}
			m.packages = append(m.packages, f[3])
		}
	}
	all := []*module{{path: "Go", dir: strings.TrimSpace(root)}}
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all[1:], func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// output runs go and returns what it prints.
func output(env []string, args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	b, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(b), nil
}

var fileName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents|unlicense)([.-].*)?$`)

// texts reads the licences at the top of the module and in the directories of the
// packages in use, up to the top.
func (m *module) texts() ([]text, error) {
	dirs := []string{m.dir}
	for _, p := range m.packages {
		for ; len(p) > len(m.dir); p = filepath.Dir(p) {
			dirs = append(dirs, p)
		}
	}
	slices.Sort(dirs)
	var out []text
	licensed := false
	for _, dir := range slices.Compact(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !fileName.MatchString(e.Name()) || isCode(e) {
				continue
			}
			t, err := m.read(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			licensed = licensed || len(t.kind) > 0
			out = append(out, t)
		}
	}
	if len(out) > 0 && !licensed {
		return nil, fmt.Errorf("the licence in %s is not known", out[0].file)
	}
	return out, nil
}

// isCode reports whether the file is a program that has such a name.
func isCode(e fs.DirEntry) bool {
	return slices.Contains([]string{".go", ".py", ".s", ".sh"}, filepath.Ext(e.Name()))
}

// read reads one licence. A notice or a grant of patents has no kind.
func (m *module) read(name string) (text, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return text{}, err
	}
	rel, err := filepath.Rel(m.dir, name)
	if err != nil {
		return text{}, err
	}
	t := text{file: filepath.ToSlash(rel), body: b}
	for _, match := range licensecheck.Scan(b).Match {
		if match.IsURL {
			continue
		}
		if !slices.Contains(allowed, match.ID) && !strings.HasPrefix(match.ID, "GooglePatent") {
			return text{}, fmt.Errorf("%s is %s, which is not among the allowed ones: %s", rel, match.ID, strings.Join(allowed, ", "))
		}
		if slices.Contains(allowed, match.ID) {
			t.kind = append(t.kind, match.ID)
		}
	}
	return t, nil
}
