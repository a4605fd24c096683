package file_test

import (
	"testing"

	"brine/internal/py/value"
)

// As real Salt 3006 does: max_depth limits directories and not files, and a name
// that ends in a slash is the directory that makedirs makes.
func TestDepthAndSlash(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.dirs("@/deep/a/b")
		for _, f := range []string{"@/deep/1", "@/deep/a/2", "@/deep/a/b/3"} {
			_ = r.run("managed", false, "name", f, "contents", "x", "mode", "0644")
		}
		depth := kv("name", "@/deep", "file_mode", "0600", "dir_mode", "0711", "max_depth", int64(1), "recurse", value.Strings("mode"))
		r.steps(
			step{"directory", true, depth, "None The following files will be changed:\n@/deep/1: mode - 0600\n@/deep/a: mode - 0711\n@/deep/a/2: mode - 0600\n@/deep/a/b/3: mode - 0600\n@/deep: mode - 0711\n " +
				"{'@/deep/1': {'mode': '0600'}, '@/deep/a': {'mode': '0711'}, '@/deep/a/2': {'mode': '0600'}, '@/deep/a/b/3': {'mode': '0600'}, '@/deep': {'mode': '0711'}}"},
			step{"directory", false, depth, "True Directory @/deep updated {'@/deep/1': {'mode': '0600'}, '@/deep/a': {'mode': '0711'}, '@/deep/a/2': {'mode': '0600'}, '@/deep/a/b/3': {'mode': '0600'}, '@/deep': {'mode': '0711'}, 'mode': '0600'}"},
			step{"touch", false, kv("name", "@/v/w/"), "False Directory not present to touch file @/v/w/"},
			step{"touch", true, kv("name", "@/t/u/", "makedirs", true), "None File @/t/u/ is set to be created {'new': '@/t/u/'}"},
			step{"touch", false, kv("name", "@/t/u/", "makedirs", true), "True Updated times on directory @/t/u/ {'touched': '@/t/u/'}"},
		)
	})
}
