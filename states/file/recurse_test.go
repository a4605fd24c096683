package file_test

import (
	"path/filepath"
	"testing"

	"brine/internal/py/value"
)

// TestRecurseKeepsLinks lays out a tree with links to files, to directories, to
// an empty directory and to nothing. The results are those of Salt, which
// however fails for a link to nothing, for a link within a linked directory, and
// where a link replaces a directory by force.
func TestRecurseKeepsLinks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		src := filepath.Join(filepath.Dir(r.env.CacheDir), "salt", "src")
		r.put("salt://src/d/a", "a\n", 0o644)
		r.put("salt://src/d/sub/b", "b\n", 0o644)
		r.put("salt://src/real/r", "r\n", 0o644)
		if err := r.env.Host.MkdirAll(filepath.Join(src, "e"), 0o755); err != nil {
			t.Fatal(err)
		}
		for link, target := range map[string]string{"dl": "d", "d/up": "../real", "el": "e", "fl": "real/r", "d/sl": "sub", "dang": "nowhere", "self": "."} {
			r.link(target, filepath.Join(src, link))
		}
		kept := kv("name", "@/kept", "source", "salt://src", "keep_symlinks", true, "clean", true, "include_empty", true)
		clean := "True The directory @/kept is in the correct state"
		r.put("@/kept/stray", "x", 0o644)
		r.put("@/blocked/dl/f", "x", 0o644)
		r.steps(
			step{"recurse", true, kv("name", "@/new", "source", "salt://src", "keep_symlinks", true, "include_pat", value.NewList("dl", "fl")), "None #### @/new/dl ####\nSymlink @/new/dl to d is set for creation\n@/new will be created\n\n#### @/new/fl ####\nSymlink @/new/fl to real/r is set for creation\n@/new will be created {'@/new/dl': {'new': '@/new/dl'}, '@/new/fl': {'new': '@/new/fl'}}"},
			step{"recurse", false, kept, "True Recursively updated @/kept {" +
				"'@/kept/d/sl': {'new': '@/kept/d/sl'}, '@/kept/d/up': {'new': '@/kept/d/up'}, '@/kept/dang': {'new': '@/kept/dang'}, " +
				"'@/kept/dl': {'new': '@/kept/dl'}, '@/kept/el': {'new': '@/kept/el'}, '@/kept/fl': {'new': '@/kept/fl'}, '@/kept/self': {'new': '@/kept/self'}, " +
				"'@/kept/d/sub': {'@/kept/d/sub': {'directory': 'new'}}, '@/kept/e': {'@/kept/e': {'directory': 'new'}}, '@/kept/real': {'@/kept/real': {'directory': 'new'}}, " +
				"'@/kept/d/a': {'diff': 'New file', 'mode': '0644'}, '@/kept/d/sub/b': {'diff': 'New file', 'mode': '0644'}, '@/kept/real/r': {'diff': 'New file', 'mode': '0644'}, " +
				"'removed': ['@/kept/stray']}"},
			step{"recurse", false, kept, clean},
			step{"recurse", true, kept, clean},
			step{"recurse", false, kv("name", "@/blocked", "source", "salt://src", "keep_symlinks", true, "include_pat", "dl"), "False #### @/blocked/dl ####\nDirectory exists where the symlink @/blocked/dl should be"},
			step{"recurse", false, kv("name", "@/blocked", "source", "salt://src", "keep_symlinks", true, "force_symlinks", true, "include_pat", "dl"), "True Recursively updated @/blocked {'@/blocked/dl': {'new': '@/blocked/dl'}}"},
			step{"recurse", false, kv("name", "@/plain", "source", "salt://src/dl", "exclude_pat", "s*"), "True Recursively updated @/plain {'@/plain/up': {'@/plain/up': {'directory': 'new'}}, '@/plain/a': {'diff': 'New file', 'mode': '0644'}, '@/plain/up/r': {'diff': 'New file', 'mode': '0644'}}"},
		)
		for link, target := range map[string]string{"dl": "d", "d/up": "../real", "el": "e", "fl": "real/r", "d/sl": "sub", "dang": "nowhere"} {
			if got, err := r.env.Host.Readlink(r.path("kept", link)); err != nil || got != target {
				t.Errorf("%s leads to %q, %v; want %q", link, got, err, target)
			}
		}
	})
}
