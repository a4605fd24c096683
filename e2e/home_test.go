package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// homeTree is a repository with the texts that make home changes. Its .ci/module and go
// only say how they were called: the real ones are to build everything.
func homeTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := exec.CommandContext(t.Context(), "git", "ls-files", "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/*.md", ".github", ".ci/home", ".ci/pack/home.conf").Output()
	if err != nil {
		t.Skipf("not a clone: %v", err)
	}
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name := range strings.FieldsSeq(string(files)) {
		put(name, read(t, name))
	}
	put(".ci/module", "echo module \"$1\"\n")
	put("bin/go", "#!/bin/sh\necho go \"$@\"\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v: %s", err, out)
		}
	}
	return dir
}

// TestHome: one command gives the project its address, everywhere and more than once.
func TestHome(t *testing.T) {
	t.Parallel()
	dir := homeTree(t)
	run := func(args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(dir, ".ci/home")}, args...)...)
		c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	texts := func() (all string) {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".ci/home") {
				return err
			}
			text, err := os.ReadFile(path)
			all += string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for args, want := range map[string]string{
		"":                                "no URL is given",
		"http://a.example/brine":          "is not an address of the form https://host/path",
		"https://a.example":               "is not an address of the form https://host/path",
		"https://a.example/b|e":           "only letters, digits",
		"https://a.example/../b":          "is not an address of a project",
		"https://a.example/brine me":      "me is not an e-mail address",
		"https://a.example/brine a@b@c.d": "a@b@c.d is not an e-mail address",
	} {
		if out, err := run(strings.Fields(args)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("make home %s: %v: %s, want %s", args, err, out, want)
		}
	}
	before := texts()
	if n := strings.Count(before, "https://home-is-not-set.invalid/OWNER/brine"); n < 3 {
		t.Errorf("the placeholder is in %d places", n)
	}
	for _, to := range []struct{ url, mail, short string }{
		{"https://code.example.org/people/brine.git", "brine@example.org", "people/brine"},
		{"https://other.example.org/b/", "", "b"},
	} {
		args := []string{to.url}
		if to.mail != "" {
			args = append(args, to.mail)
		}
		url := strings.TrimSuffix(strings.TrimSuffix(to.url, "/"), ".git")
		out, err := run(args...)
		if err != nil || !strings.Contains(out, "module "+strings.TrimPrefix(url, "https://")+"\ngo generate ./internal/core/licenses\n") {
			t.Errorf("make home %v: %v: %s", args, err, out)
		}
		after := texts()
		for _, want := range []string{"\nurl=" + url + "\n", "\nmail=brine@example.org\n", "git clone " + url + " && cd", "<brine@example.org>", "uses: " + to.short + "/.github/actions/brine@"} {
			if !strings.Contains(after, want) {
				t.Errorf("after make home %v there is no %q", args, want)
			}
		}
		if strings.Contains(after, "home-is-not-set") {
			t.Errorf("after make home %v the placeholder is still there", args)
		}
	}
}
