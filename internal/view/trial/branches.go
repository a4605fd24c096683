package trial

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A branchKey is a branch of a template: see jinja.Branch. off is -1 for the template itself.
type branchKey struct {
	file string
	off  int32
	yes  bool
}

// noteBranches returns what notes the branches that are rendered.
func noteBranches(taken map[branchKey]bool) func(file string, off int32, yes bool) {
	var mu sync.Mutex
	return func(file string, off int32, yes bool) {
		mu.Lock()
		defer mu.Unlock()
		taken[branchKey{file, off, yes}] = true
	}
}

// pipeline is what renders an SLS file with this text.
func (c *Coverage) pipeline(text string) string {
	if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") && !strings.HasPrefix(first, "#!/") {
		return strings.TrimSpace(first[2:])
	}
	return c.renderer
}

// branches looks for the branches of a file, and which of them no case takes. name is that by
// which a person knows the file.
func (c *Coverage) branches(name, path, text string) {
	text = strings.TrimPrefix(text, "\ufeff")
	isSLS := strings.HasSuffix(path, ".sls")
	if isSLS && !strings.HasPrefix(c.pipeline(text), "jinja") {
		if strings.Contains(c.pipeline(text), "jinja") {
			c.Unseen = append(c.Unseen, Unseen{name, "branches of SLS files that other renderers than Jinja write"})
		}
		return // it has none, or is named as an SLS of another renderer
	}
	all, err := c.branchesOf(isSLS, path, text)
	if err != nil {
		// What no case renders may be a file of any kind.
		if isSLS || slices.Contains([]string{".jinja", ".j2"}, filepath.Ext(path)) {
			c.Unseen = append(c.Unseen, Unseen{name, "templates with faults of syntax"})
		}
		return
	}
	if len(all) == 0 {
		return
	}
	if !isSLS && !c.taken[branchKey{path, -1, true}] {
		c.Unseen = append(c.Unseen, Unseen{name, "branches of templates that only a machine renders, or nothing"})
		return
	}
	for _, b := range all {
		c.Branches++
		if c.taken[branchKey{path, b.Off, b.Yes}] {
			continue
		}
		c.MissingBranches = append(c.MissingBranches, Place{b.Text, b.Pos})
		if b.First > 0 {
			c.passed[path] = append(c.passed[path], [2]int{b.First, b.Last})
		}
	}
}
