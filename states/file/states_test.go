package file_test

import (
	"os"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func TestDirectory(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/r/sub/f", "x", 0o600)
		r.put("@/plain", "x", 0o644)
		r.link("r", "@/link")
		if err := r.env.Host.Chmod(r.path("r/sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		modes := kv("name", "@/r", "dir_mode", "0755", "file_mode", "0644", "recurse", value.NewList("mode"))
		r.steps(
			step{"directory", true, kv("name", "@/d"), "None The following files will be changed:\n@/d: directory - new\n {'@/d': {'directory': 'new'}}"},
			step{"directory", false, kv("name", "@/d/", "mode", int64(750)), "True  {'@/d': {'directory': 'new'}}"},
			step{"directory", false, kv("name", "@/d", "mode", "0750"), "True The directory @/d is in the correct state"},
			step{"directory", false, kv("name", "@/d", "mode", "0755"), "True Directory @/d updated {'@/d': {'mode': '0755'}, 'mode': '0755'}"},
			step{"directory", false, kv("name", "@/np/d3"), "False No directory to create @/np/d3 in {'@/np/d3': {'directory': 'new'}}"},
			step{"directory", false, kv("name", "@/plain"), "False Specified location @/plain exists and is a file"},
			step{"directory", true, kv("name", "@/plain", "force", true), "None The following files will be changed:\n@/plain: directory - new\n {'forced': 'File would be forcibly replaced', '@/plain': {'directory': 'new'}}"},
			step{"directory", true, kv("name", "@/plain", "backupname", "@/kept"), "None The following files will be changed:\n@/plain: directory - new\n {'@/plain': {'directory': 'new'}}"},
			step{"directory", false, kv("name", "@/plain", "backupname", "@/kept"), "True  {'@/plain': {'directory': 'new'}}"},
			step{"directory", false, kv("name", "@/link"), "True The directory @/link is in the correct state"},
			step{"directory", false, kv("name", "@/link", "allow_symlink", false), "False Specified location @/link exists and is a symlink"},
			step{"directory", false, modes, "True Directory @/r updated {'@/r/sub': {'mode': '0755'}, '@/r/sub/f': {'mode': '0644'}, 'mode': '0644'}"},
			step{"directory", false, modes, "True The directory @/r is in the correct state"},
			step{"directory", false, kv("name", "@/r", "recurse", value.NewList("color")), `False Types for "recurse" limited to "user", "group", "mode", "ignore_files", "ignore_dirs", "silent".`},
			step{"directory", false, kv("name", "@/r", "recurse", "mode"), `False "recurse" must be formed as a list of strings`},
			step{"directory", false, kv("name", "@/r", "max_depth", int64(1), "clean", true), "False Cannot specify both max_depth and clean"},
			step{"directory", false, kv("name", "@/r", "user", "nope"), "False User nope is not available "},
		)
		r.is("@/kept", "x")
	})
}

func TestDirectoryClean(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for _, f := range []string{"@/d/keep/me", "@/d/stray", "@/d/old/a", "@/d/x.log"} {
			r.put(f, "x", 0o644)
		}
		r.low = []*fun.Chunk{{State: "file", Fun: "managed", ID: "me", Name: r.path("d/keep/me"), Low: value.NewMap(0)}}
		clean := kv("name", "@/d", "clean", true, "exclude_pat", "*.log", "require", value.NewList(value.MapOf("file", "me")))
		r.steps(
			step{"directory", true, clean, "None The following files will be changed:\n@/d/stray: removed - Removed due to clean\n@/d/keep: removed - Removed due to clean\n@/d/old: removed - Removed due to clean\n@/d/old/a: removed - Removed due to clean\n {'@/d/stray': {'removed': 'Removed due to clean'}, '@/d/keep': {'removed': 'Removed due to clean'}, '@/d/old': {'removed': 'Removed due to clean'}, '@/d/old/a': {'removed': 'Removed due to clean'}}"},
			step{"directory", false, clean, "True Files cleaned from directory @/d {'@/d/stray': {'removed': 'Removed due to clean'}, '@/d/keep': {'removed': 'Removed due to clean'}, '@/d/old': {'removed': 'Removed due to clean'}, '@/d/old/a': {'removed': 'Removed due to clean'}, 'removed': ['@/d/old', '@/d/stray']}"},
			step{"directory", false, clean, "True Directory @/d updated {'@/d/keep': {'removed': 'Removed due to clean'}}"},
		)
		r.is("@/d/keep/me", "x", "@/d/x.log", "x", "@/d/stray", "(missing)")
	})
}

func TestSymlink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		own := r.owner()
		r.put("@/file", "x", 0o644)
		r.put("@/file2", "x", 0o644)
		r.put("@/dir/f", "x", 0o644)
		r.link("wrong", "@/l2")
		r.steps(
			step{"symlink", true, kv("name", "@/l", "target", "/etc/hosts"), "None Symlink @/l to /etc/hosts is set for creation {'new': '@/l'}"},
			step{"symlink", false, kv("name", "@/l", "target", "/etc/hosts"), "True Created new symlink @/l -> /etc/hosts {'new': '@/l'}"},
			step{"symlink", false, kv("name", "@/l", "target", "/etc/hosts"), "True Symlink @/l is present and owned by " + own},
			step{"symlink", true, kv("name", "@/l", "target", "/etc/hosts"), "True The symlink @/l is present"},
			step{"symlink", true, kv("name", "@/l2", "target", "right"), "None Link @/l2 target is set to be changed to right {'change': '@/l2'}"},
			step{"symlink", false, kv("name", "@/l2", "target", "right"), "False Unable to create new symlink @/l2 -> right: Found existing symlink: @/l2"},
			step{"symlink", false, kv("name", "@/l2", "target", "right", "force", true), "True Created new symlink @/l2 -> right {'new': '@/l2'}"},
			step{"symlink", false, kv("name", "@/file", "target", "t"), "False File exists where the symlink @/file should be"},
			step{"symlink", true, kv("name", "@/file", "target", "t"), "False File or directory exists where the symlink @/file should be. Did you mean to use force?"},
			step{"symlink", false, kv("name", "@/file", "target", "t", "backupname", "kept"), "True Created new symlink @/file -> t {'new': '@/file'}"},
			step{"symlink", false, kv("name", "@/file2", "target", "t", "backupname", "a/b"), "False Backupname must be an absolute path or a file name: a/b"},
			step{"symlink", false, kv("name", "@/file2", "target", "t", "backupname", "kept"), "False Symlink & backup dest exists and Force not set. @/file2 -> t - backup: @/kept"},
			step{"symlink", false, kv("name", "@/dir", "target", "t"), "False Directory exists where the symlink @/dir should be"},
			step{"symlink", false, kv("name", "@/dir", "target", "t", "force", true), "True Created new symlink @/dir -> t {'new': '@/dir'}"},
			step{"symlink", false, kv("name", "@/no/l", "target", "t"), "False Directory @/no for symlink is not present"},
			step{"symlink", true, kv("name", "@/no/l", "target", "t"), "None Symlink @/no/l to t is set for creation\nDirectory @/no for symlink is not present {'new': '@/no/l'}"},
			step{"symlink", false, kv("name", "@/yes/l", "target", "t", "makedirs", true), "True Created new symlink @/yes/l -> t {'new': '@/yes/l'}"},
			step{"symlink", false, kv("name", "rel", "target", "t", "user", "nope", "group", "neither"), "False User nope does not exist. Group neither does not exist. Specified file rel is not an absolute path."},
		)
		r.is("@/kept", "x")
	})
}

func TestHardlink(t *testing.T) {
	t.Parallel()
	r := localRig(t)
	r.put("@/a", "a", 0o644)
	r.put("@/b", "b", 0o644)
	r.steps(
		step{"hardlink", true, kv("name", "@/l", "target", "@/a"), "None Hard link @/l to @/a is set for creation {'new': '@/l'}"},
		step{"hardlink", false, kv("name", "@/l", "target", "@/a"), "True Created new hard link @/l -> @/a {'new': '@/l'}"},
		step{"hardlink", false, kv("name", "@/l", "target", "@/a"), "True Target of hard link @/l is already pointing to @/a"},
		step{"hardlink", false, kv("name", "@/l", "target", "@/b"), "True Set target of hard link @/l -> @/b {'new': '@/l'}"},
		step{"hardlink", false, kv("name", "@/a", "target", "@/b"), "False File exists where the hard link @/a should be"},
		step{"hardlink", false, kv("name", "@/a", "target", "@/b", "force", true), "True Created new hard link @/a -> @/b {'forced': 'File for hard link was forcibly replaced', 'new': '@/a'}"},
		step{"hardlink", false, kv("name", "@/x", "target", "@"), "False Unable to hard link from directory @"},
		step{"hardlink", false, kv("name", "@/x", "target", "@/none"), "False Target @/none for hard link does not exist"},
		step{"hardlink", false, kv("name", "@/x", "target", "rel"), "False Specified target rel is not an absolute path"},
	)
	r.is("@/a", "b", "@/l", "b")
}

func TestAbsentExistsMissingTouch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/d/f", "x", 0o644)
		r.link("d", "@/link")
		r.steps(
			step{"absent", false, kv("name", "@/link"), "True Removed file @/link {'removed': '@/link'}"},
			step{"exists", false, kv("name", "@/d/f"), "True Path @/d/f exists"},
			step{"absent", true, kv("name", "@/d"), "None Directory @/d is set for removal {'removed': '@/d'}"},
			step{"absent", false, kv("name", "@/d"), "True Removed directory @/d {'removed': '@/d'}"},
			step{"absent", false, kv("name", "@/d"), "True File @/d is not present"},
			step{"absent", false, kv("name", "/"), `False Refusing to make "/" absent`},
			step{"absent", false, kv("name", ""), "False Must provide name to file.absent"},
			step{"exists", false, kv("name", "@/d"), "False Specified path @/d does not exist"},
			step{"missing", false, kv("name", "@/d"), "True Path @/d is missing"},
			step{"missing", false, kv("name", "@"), "False Specified path @ exists"},
			step{"touch", true, kv("name", "@/t"), "None File @/t is set to be created {'new': '@/t'}"},
			step{"touch", false, kv("name", "@/no/t"), "False Directory not present to touch file @/no/t"},
			step{"touch", false, kv("name", "@/yes/t", "makedirs", true), "True Created empty file @/yes/t {'new': '@/yes/t'}"},
			step{"touch", false, kv("name", "@/yes/t", "mtime", int64(1000000000), "atime", int64(1000000000)), "True Updated times on file @/yes/t {'touched': '@/yes/t'}"},
			step{"touch", true, kv("name", "@/yes/t", "mtime", int64(5)), "None Times set to be updated on file @/yes/t {'touched': '@/yes/t'}"},
			step{"touch", false, kv("name", "@/yes"), "True Updated times on directory @/yes {'touched': '@/yes'}"},
		)
		if st, err := r.env.Host.Stat(r.path("yes/t")); err != nil || st.Mtime.Unix() != 1000000000 {
			t.Errorf("mtime %v, %v", st.Mtime, err)
		}
	})
}

func TestAppendPrepend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "first\nlast", 0o644)
		r.put("@/p", "x\n", 0o640)
		r.put("@/ws", "a   b\tc\n", 0o644)
		r.put("@/bin", "\x00\n", 0o644)
		r.put("salt://t", "from {{ grains.id }}\n", 0o644)
		r.steps(
			step{"append", true, kv("name", "@/f", "text", "more"), `None File @/f is set to be updated {'diff': '--- \n\n+++ \n\n@@ -1,2 +1,3 @@\n\n first\n last\n+more'}`},
			step{"append", false, kv("name", "@/f", "text", value.NewList("first", "one", int64(2))), `True Appended 2 lines {'diff': '--- \n\n+++ \n\n@@ -1,2 +1,4 @@\n\n first\n last\n+one\n+2'}`},
			step{"append", false, kv("name", "@/f", "text", value.NewList("first", "one", int64(2))), "True File @/f is in correct state"},
			step{"append", false, kv("name", "@/f", "text", "fir"), `True Appended 1 lines {'diff': '--- \n\n+++ \n\n@@ -2,3 +2,4 @@\n\n last\n one\n 2\n+fir'}`},
			step{"append", false, kv("name", "@/ws", "text", "a b c"), "True File @/ws is in correct state"},
			step{"append", false, kv("name", "@/ws", "text", `it's "a  b"`), `True Appended 1 lines {'diff': '--- \n\n+++ \n\n@@ -1 +1,2 @@\n\n a   b\tc\n+it\'s "a  b"'}`},
			step{"append", false, kv("name", "@/ws", "text", `it's "a  b"`), "True File @/ws is in correct state"},
			step{"append", false, kv("name", "@/new", "text", "multi\nline\n"), `True Appended 2 lines {'diff': '--- \n\n+++ \n\n@@ -0,0 +1,2 @@\n\n+multi\n+line'}`},
			step{"append", false, kv("name", "@/no/new", "text", "x"), "False @/no/new: file not found"},
			step{"append", false, kv("name", "@/src", "source", "salt://t"), `True Appended 1 lines {'diff': '--- \n\n+++ \n\n@@ -0,0 +1 @@\n\n+from minion1'}`},
			step{"append", false, kv("name", "@/src", "source", "salt://t", "sources", value.NewList("salt://t")), "False source and sources are mutually exclusive"},
			step{"append", false, kv("name", "@/src", "source", "salt://none"), "False Failed to load template file salt://none"},
			step{"append", true, kv("name", "@/later", "source", "salt://none"), "None File @/later is set to be created {'new': '@/later'}"},
			step{"append", false, kv("name", "@/bin", "text", "x"), "False No text found to append. Nothing appended"},
			step{"prepend", false, kv("name", "@/bin", "text", "x"), "raises Cannot perform string replacements on a binary file: @/bin"},
			step{"prepend", true, kv("name", "@/p", "text", "head"), `None File @/p is set to be updated {'diff': '--- \n+++ \n@@ -1 +1,2 @@\n+head\n x\n'}`},
			step{"prepend", false, kv("name", "@/p", "text", value.NewList("head", "er")), `True Prepended 2 lines {'diff': '--- \n+++ \n@@ -1 +1,3 @@\n+head\n+er\n x\n'}`},
			step{"prepend", false, kv("name", "@/p", "text", "er"), "True File @/p is in correct state"},
			step{"prepend", false, kv("name", "@/p", "text", "er", "header", true), `True Prepended 1 lines {'diff': '--- \n+++ \n@@ -1,3 +1,4 @@\n+er\n head\n er\n x\n'}`},
			step{"prepend", false, kv("name", "@/p", "text", "er", "header", true), "True File @/p is in correct state"},
			step{"prepend", true, kv("name", "@/p", "text", "er", "header", true), `None File @/p is set to be updated {'diff': '--- \n+++ \n@@ -1,3 +1,4 @@\n+er\n er\n head\n er\n'}`},
		)
		r.is("@/f", "first\nlast\none\n2\nfir\n", "@/p", "er\nhead\ner\nx\n", "@/new", "multi\nline\n")
		if r.mode("@/p") != "640" {
			t.Errorf("mode %s, want it kept", r.mode("@/p"))
		}
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		const text = "port = 80\nhost = a\nport = 81\n"
		for _, f := range []string{"@/f", "@/g", "@/h", "@/i"} {
			r.put(f, text, 0o600)
		}
		r.put("@/bin", "\x00", 0o644)
		r.put("@/odd", "x=\xff\n", 0o644)
		r.put("@/crlf", "a=1\r\n", 0o644)
		r.steps(
			step{"replace", true, kv("name", "@/f", "pattern", `^port = (\d+)`, "repl", `port = 9\1`), `None Changes would have been made {'diff': '--- \n+++ \n@@ -1,3 +1,3 @@\n-port = 80\n+port = 980\n host = a\n-port = 81\n+port = 981\n'}`},
			step{"replace", false, kv("name", "@/g", "pattern", `port = 8\d`, "repl", "port = 1", "count", int64(1), "backup", ".orig"), `True Changes were made {'diff': '--- \n+++ \n@@ -1,3 +1,3 @@\n-port = 80\n+port = 1\n host = a\n port = 81\n'}`},
			step{"replace", false, kv("name", "@/h", "pattern", "^user=.*", "repl", "user=me", "append_if_not_found", true), `True Changes were made {'diff': '--- \n+++ \n@@ -1,3 +1,4 @@\n port = 80\n host = a\n port = 81\n+user=me\n'}`},
			step{"replace", false, kv("name", "@/h", "pattern", "^user=.*", "repl", "user=me", "append_if_not_found", true), "True No changes needed to be made"},
			step{"replace", false, kv("name", "@/i", "pattern", "^(nope)$", "repl", `\1`, "prepend_if_not_found", true, "not_found_content", "# top", "backup", false), `True Changes were made {'diff': '--- \n+++ \n@@ -1,3 +1,4 @@\n+# top\n port = 80\n host = a\n port = 81\n'}`},
			step{"replace", false, kv("name", "@/i", "pattern", "^nope$", "repl", `x`, "prepend_if_not_found", true, "not_found_content", "# top", "backup", false), "True No changes needed to be made"},
			step{"replace", false, kv("name", "@/i", "pattern", "HOST", "repl", `C:\temp`, "flags", value.NewList("IGNORECASE"), "backslash_literal", true, "backup", false, "show_changes", false), "True Changes were made {'diff': True}"},
			step{"replace", false, kv("name", "@/odd", "pattern", "x=(.)", "repl", `y=\1\1`), `True Changes were made {'diff': '--- \n+++ \n@@ -1 +1 @@\n-x=ÿ\n+y=ÿÿ\n'}`},
			step{"replace", true, kv("name", "@/i", "pattern", "^nope$", "repl", "a\nb", "prepend_if_not_found", true), `None Changes would have been made {'diff': '--- \n+++ \n@@ -1,3 +1,4 @@\n+a\nb\n # top\n port = 80\n C:\\temp = a\n'}`},
			step{"replace", true, kv("name", "@/crlf", "pattern", "a=(.*)$", "repl", `b=\1.`), `None Changes would have been made {'diff': '--- \n+++ \n@@ -1 +1,2 @@\n-a=1\r\n+b=1\r+.\n'}`},
			step{"replace", false, kv("name", "@/none", "pattern", "x", "repl", "y"), "False @/none: file not found"},
			step{"replace", false, kv("name", "@/none", "pattern", "x", "repl", "y", "ignore_if_missing", true), "True No changes needed to be made"},
			step{"replace", false, kv("name", "@/bin", "pattern", "x", "repl", "y"), "raises Cannot perform string replacements on a binary file: @/bin"},
			step{"replace", false, kv("name", "@/f", "pattern", "(x", "repl", "y"), "raises missing ), unterminated subpattern at position 0"},
			step{"replace", false, kv("name", "@/f", "pattern", int64(80), "repl", "y"), "raises expected str, bytes, or bytearray not <class 'int'>"},
			step{"replace", false, kv("name", "@/f", "pattern", "x", "repl", "y", "flags", value.NewList("NOPE")), "raises Invalid re flag given: NOPE"},
			step{"replace", false, kv("name", "@/f", "pattern", "x", "repl", "y", "flags", nil), `raises Invalid re flags: "None", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`},
			step{"replace", false, kv("name", "@/f", "pattern", "x", "repl", "y", "append_if_not_found", true, "prepend_if_not_found", true), "raises Only one of append and prepend_if_not_found is permitted"},
		)
		r.is("@/f", text, "@/g", "port = 1\nhost = a\nport = 81\n", "@/g.orig", text, "@/h.bak", text, "@/i", "# top\nport = 80\n"+`C:\temp`+" = a\nport = 81\n", "@/odd", "y=\xff\xff\n", "@/i.bak", "(missing)")
		if r.mode("@/g")+r.mode("@/g.orig") != "600600" {
			t.Errorf("modes %s %s", r.mode("@/g"), r.mode("@/g.orig"))
		}
	})
}

func TestBlockreplace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "top\n# begin\nold\n# end\nbottom\n", 0o644)
		r.put("@/g", "only", 0o644)
		r.put("@/open", "# s\n", 0o644)
		m := kv("marker_start", "# begin", "marker_end", "# end", "backup", false)
		with := func(more ...value.Value) []value.Value { return append(more, m...) }
		r.steps(
			step{"blockreplace", true, with("name", "@/f", "content", "new\ntwo\n"), `None Changes would be made {'diff': '--- \n+++ \n@@ -1,5 +1,6 @@\n top\n # begin\n-old\n+new\n+two\n # end\n bottom\n'}`},
			step{"blockreplace", false, with("name", "@/f", "content", "new"), `True Changes were made {'diff': '--- \n+++ \n@@ -1,5 +1,5 @@\n top\n # begin\n-old\n+new\n # end\n bottom\n'}`},
			step{"blockreplace", false, with("name", "@/f", "content", "new"), "True No changes needed to be made"},
			step{"blockreplace", false, with("name", "@/g", "content", "b", "append_if_not_found", true), `True Changes were made {'diff': '--- \n+++ \n@@ -1 +1,4 @@\n-only+only\n+# begin\n+b\n+# end\n'}`},
			step{"blockreplace", false, kv("name", "@/g", "content", "c", "marker_start", "# x", "marker_end", "# y", "insert_after_match", "^only", "backup", ".b"), `True Changes were made {'diff': '--- \n+++ \n@@ -1,4 +1,7 @@\n only\n+# x\n+c\n+# y\n # begin\n b\n # end\n'}`},
			step{"blockreplace", false, kv("name", "@/g", "content", "c", "marker_start", "# nope"), "False Encountered error managing block: Cannot edit marked block. Markers were not found in file.. See the log for details."},
			step{"blockreplace", false, kv("name", "@/open", "content", "c", "marker_start", "# s", "marker_end", "# e"), "False Encountered error managing block: Unterminated marked block. End of file reached before marker_end.. See the log for details."},
			step{"blockreplace", false, kv("name", "@/none", "content", "c"), "False @/none: file not found"},
			step{"blockreplace", false, with("name", "@/f", "content", value.NewList("a", "b")), "False Encountered error managing block: 'list' object has no attribute 'endswith'. See the log for details."},
			step{"blockreplace", false, with("name", "@/f", "content", int64(1), "append_newline", true), "False Encountered error managing block: 'int' object has no attribute 'split'. See the log for details."},
			step{"blockreplace", false, with("name", "@/f", "content", nil), "False Encountered error managing block: 'NoneType' object has no attribute 'endswith'. See the log for details."},
		)
		r.is("@/g.b", "only\n# begin\nb\n# end\n")
	})
}

func TestComment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "alpha\n  beta\n#gamma\n", 0o644)
		r.steps(
			step{"comment", true, kv("name", "@/f", "regex", "^alpha"), "None File @/f is set to be updated {'@/f': 'updated'}"},
			step{"comment", false, kv("name", "@/f", "regex", "^alpha$"), `True Commented lines successfully {'diff': '--- \n+++ \n@@ -1,3 +1,3 @@\n-alpha\n+#alpha\n   beta\n #gamma\n'}`},
			step{"comment", false, kv("name", "@/f", "regex", "^alpha"), "True Pattern already commented"},
			step{"comment", false, kv("name", "@/f", "regex", "^nothing"), "False nothing: Pattern not found"},
			step{"comment", false, kv("name", "@/f", "regex", "^nothing", "ignore_missing", true), "True Pattern not found and ignore_missing set to True"},
			step{"uncomment", false, kv("name", "@/f", "regex", "^gamma", "backup", false), `True Uncommented lines successfully {'diff': '--- \n+++ \n@@ -1,3 +1,3 @@\n #alpha\n   beta\n-#gamma\n+gamma\n'}`},
			step{"uncomment", false, kv("name", "@/f", "regex", "^gamma"), "True Pattern already uncommented"},
			step{"uncomment", false, kv("name", "@/f", "regex", "^nothing"), "False ^nothing: Pattern not found"},
			step{"uncomment", false, kv("name", "@/none", "regex", "x"), "False @/none: file not found"},
		)
		r.is("@/f", "#alpha\n  beta\ngamma\n", "@/f.bak", "alpha\n  beta\n#gamma\n")
	})
}

func TestLine(t *testing.T) {
	t.Parallel()
	const text = "[main]\n  alpha=1\nbeta=2\ngamma=3\n"
	for _, tt := range []struct {
		name string
		kv   []value.Value
		want string // content, or what is said of failure
	}{
		{"ensure between", kv("content", "beta=22", "mode", "ensure", "after", "alpha=1", "before", "gamma"), "[main]\n  alpha=1\n  beta=22\ngamma=3\n"},
		{"ensure no indent", kv("content", "x", "mode", "ensure", "after", "alpha", "indent", false), "[main]\n  alpha=1\nx\nbeta=2\ngamma=3\n"},
		{"insert after", kv("content", "x", "mode", "insert", "after", "beta"), "[main]\n  alpha=1\nbeta=2\nx\ngamma=3\n"},
		{"insert before", kv("content", "x", "mode", "insert", "before", "alpha"), "[main]\n  x\n  alpha=1\nbeta=2\ngamma=3\n"},
		{"insert start", kv("content", "x", "mode", "insert", "location", "start"), "x\n" + text},
		{"insert end", kv("content", "x", "mode", "insert", "location", "end"), text + "\nx"},
		{"replace", kv("content", "x", "match", "^beta", "mode", "replace"), "[main]\n  alpha=1\nx\ngamma=3\n"},
		{"replace nothing", kv("content", "x", "match", "zeta", "mode", "replace"), text},
		{"delete", kv("match", "gamma", "mode", "DELETE"), "[main]\n  alpha=1\nbeta=2\n"},
		{"no mode", kv("content", "x"), "False Mode was not defined. How to process the file?"},
		{"unknown mode", kv("content", "x", "mode", "melt"), `raises Unknown mode: "melt"`},
		{"no content", kv("mode", "insert", "location", "end"), "False Content can only be empty if mode is ['delete']"},
		{"nowhere", kv("content", "x", "mode", "insert"), `raises On insert either "location" or "before/after" conditions are required.`},
		{"before the first", kv("content", "x", "mode", "ensure", "before", "main"), "x\n" + text},
		{"no pattern", kv("content", "x", "mode", "insert", "before", ""), `raises On insert either "location" or "before/after" conditions are required.`},
		{"not found", kv("content", "x", "mode", "insert", "before", "nope"), `raises Neither before or after was found in file`},
		{"twice", kv("content", "x", "mode", "insert", "after", "a"), `raises Found more than expected occurrences in "after" expression`},
		{"too far", kv("content", "x", "mode", "ensure", "after", "main", "before", "gamma"), `raises Found more than one line between boundaries "before" and "after".`},
		{"no condition", kv("content", "x", "mode", "ensure"), "raises Wrong conditions? Unable to ensure line without knowing where to put it before and/or after."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := fakeRig(t)
			r.put("@/f", text, 0o644)
			said := r.run("line", false, append(kv("name", "@/f"), tt.kv...)...)
			if got := r.text("@/f"); got != tt.want && said != tt.want {
				t.Errorf("%q, and the file is %q; want %q", said, got, tt.want)
			}
		})
	}
}

// The permissions are those of the file, made here or not; what cannot be made
// is told as missing.
func TestLinePermissions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "a\n", 0o644)
		at := kv("content", "a", "mode", "ensure", "after", "a", "file_mode", "0600")
		r.steps(
			step{"line", true, append(kv("name", "@/f"), at...), `None Changes would be made {'diff': '--- \n+++ \n@@ -1 +1,2 @@\n a\n+a\n'}`},
			step{"line", false, append(kv("name", "@/f"), at...), `True Changes were made {'diff': '--- \n+++ \n@@ -1 +1,2 @@\n a\n+a\n'}`},
			step{"line", false, append(kv("name", "@/no/f", "create", true), at...), "False @/no/f: file not found"},
			step{"line", true, append(kv("name", "@/new", "create", true), at...), "False @/new: file not found"},
			step{"line", false, kv("name", "@/new", "create", true, "content", "x", "mode", "insert", "location", "start", "file_mode", "0640"), `True Changes were made {'diff': '--- \n+++ \n@@ -0,0 +1 @@\n+x\n'}`},
		)
		if r.mode("@/f")+r.mode("@/new") != "600640" {
			t.Errorf("modes %s %s", r.mode("@/f"), r.mode("@/new"))
		}
	})
}

func TestKeyvalue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "#Port 22\nRoot yes\nroot no\nOther x", 0o644)
		all := kv("name", "@/f", "separator", " ", "uncomment", "# ", "key_ignore_case", true, "append_if_not_found", true,
			"key_values", value.MapOf("port", int64(2222), "Root", "no", "New", "v"))
		r.steps(
			step{"keyvalue", true, kv("name", "@/f", "key", "Root", "value", "no", "separator", " "), `None File @/f is set to be changed (1 lines)` + "\nPredicted diff:\n\r\t\t- Root yes\n\r\t\t+ Root no\n" + ` {'diff': '- Root yes\n+ Root no\n'}`},
			step{"keyvalue", false, all, `True Changed 4 lines {'diff': '- #Port 22\n+ Port 2222 (from int type)\n- Root yes\n+ Root no\n- root no\n- <EOF>\n+ New v\n+ <EOF>\n'}`},
			step{"keyvalue", false, all, "True "},
			step{"keyvalue", false, kv("name", "@/f"), "False file.keyvalue key and value not supplied and key_values is empty"},
			step{"keyvalue", true, kv("name", "@/f", "key", "New", "value", "v", "separator", " ", "key_values", value.MapOf("Root", "maybe")), "True "},
			step{"keyvalue", false, kv("name", "@/f", "key_values", "x"), "False file.keyvalue key and value not supplied and key_values is not a dictionary"},
			step{"keyvalue", false, kv("name", "@/none", "key", "a", "value", "b"), "False unable to open @/none"},
		)
		r.is("@/f", "Port 2222\nRoot no\nOther x\nNew v\n")
	})
}

// TestChildrenOnly has Salt's answers, but for the directory itself, which Salt
// reports as changed and leaves as it is.
func TestChildrenOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/c/a", "", 0o644)
		r.put("@/c/sub/b", "", 0o644)
		args := kv("name", "@/c", "mode", "0700", "file_mode", "0600", "children_only", true, "recurse", value.NewList("mode"))
		r.steps(
			step{"directory", true, args, "None The following files will be changed:\n@/c/a: mode - 0600\n@/c/sub: mode - 0700\n@/c/sub/b: mode - 0600\n {'@/c/a': {'mode': '0600'}, '@/c/sub': {'mode': '0700'}, '@/c/sub/b': {'mode': '0600'}}"},
			step{"directory", false, args, "True Directory @/c/* updated {'@/c/a': {'mode': '0600'}, '@/c/sub': {'mode': '0700'}, '@/c/sub/b': {'mode': '0600'}, 'mode': '0600'}"},
			step{"directory", false, args, "True The directory @/c is in the correct state"},
		)
	})
}

func TestCopyRename(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/src", "src\n", 0o640)
		r.put("@/there", "other\n", 0o644)
		r.put("@/d/sub/f", "x", 0o600)
		r.put("@/e/g", "x", 0o600)
		r.put("@/mv", "mv\n", 0o644)
		r.steps(
			step{"copy", true, kv("name", "@/dst", "source", "@/src"), `None File "@/src" is set to be copied to "@/dst"`},
			step{"copy", false, kv("name", "@/dst", "source", "@/src"), `True Copied "@/src" to "@/dst" {'@/dst': '@/src'}`},
			step{"copy", false, kv("name", "@/there", "source", "@/src"), `True The target file "@/there" exists and will not be overwritten`},
			step{"copy", false, kv("name", "@/x/dst", "source", "@/src", "force", true, "mode", "0600", "makedirs", true), `True Copied "@/src" to "@/x/dst" {'@/x/dst': '@/src', 'mode': '0600'}`},
			step{"copy", false, kv("name", "@/x/dst", "source", "@/src", "force", true, "mode", "0600"), `True Copied "@/src" to "@/x/dst" - files are identical but force flag is set {'@/x/dst': '@/src', 'mode': '0600'}`},
			step{"copy", false, kv("name", "@/y/dst", "source", "@/src"), "False The target directory @/y is not present"},
			step{"copy", false, kv("name", "@/z", "source", "@/none"), `False Source file "@/none" is not present`},
			step{"copy", false, kv("name", "@/d2", "source", "@/d"), `True Copied "@/d" to "@/d2" {'@/d2': '@/d'}`},
			step{"copy", false, kv("name", "@/d2", "source", "@/src", "subdir", true), `True Copied "@/src" to "@/d2" {'@/d2/src': '@/src'}`},
			step{"copy", true, kv("name", "@/d2", "source", "@/there", "subdir", true), `None File "@/there" is set to be copied to "@/d2/there"`},
			step{"copy", false, kv("name", "@/d2", "source", "@/d", "subdir", true), `True Copied "@/d" to "@/d2" {'@/d2/d': '@/d'}`},
			step{"copy", false, kv("name", "@/d2", "source", "@/d", "subdir", true), `True The target file "@/d2/d" exists and will not be overwritten`},
			step{"copy", false, kv("name", "@/d2", "source", "@/d", "subdir", true, "force", true), `True Copied "@/d" to "@/d2" {'@/d2/d': '@/d'}`},
			step{"copy", false, kv("name", "@/d2", "source", "@/e/", "subdir", true), `True Copied "@/e/" to "@/d2" {'@/d2/e': '@/e/'}`}, // Salt takes @/d2/ for the target
			step{"rename", true, kv("name", "@/mv2", "source", "@/mv"), `None File "@/mv" is set to be moved to "@/mv2"`},
			step{"rename", false, kv("name", "@/mv2", "source", "@/mv"), `True Moved "@/mv" to "@/mv2" {'@/mv2': '@/mv'}`},
			step{"rename", false, kv("name", "@/mv2", "source", "@/mv"), `True Source file "@/mv" has already been moved out of place`},
			step{"rename", false, kv("name", "@/there", "source", "@/mv2"), `True The target file "@/there" exists and will not be overwritten`},
			step{"rename", false, kv("name", "@/there", "source", "@/mv2", "force", true), `True Moved "@/mv2" to "@/there" {'@/there': '@/mv2'}`},
			step{"rename", false, kv("name", "@/no/x", "source", "@/there"), "False The target directory @/no is not present"},
		)
		r.is("@/dst", "src\n", "@/d2/sub/f", "x", "@/there", "mv\n", "@/d2/src", "src\n")
		if got := r.mode("@/dst") + r.mode("@/x/dst") + r.mode("@/d2/sub/f"); got != "640600600" {
			t.Errorf("modes %s", got)
		}
	})
}

func TestRecurse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://src/a.txt", "alpha\n", 0o644)
		r.put("salt://src/skip.tmp", "temp\n", 0o644)
		r.put("salt://src/sub/b.txt", "beta {{ grains.id }}\n", 0o755)
		r.put("@/out2/stray", "x", 0o644)
		r.put("@/isfile", "x", 0o644)
		plain := kv("name", "@/out", "source", "salt://src/", "file_mode", "0640", "dir_mode", "0750", "exclude_pat", "*.tmp")
		r.steps(
			step{"recurse", false, plain, "True Recursively updated @/out {'@/out/sub': {'@/out/sub': {'directory': 'new'}}, '@/out/a.txt': {'diff': 'New file', 'mode': '0640'}, '@/out/sub/b.txt': {'diff': 'New file', 'mode': '0640'}}"},
			step{"recurse", false, plain, "True The directory @/out is in the correct state"},
			step{"absent", false, kv("name", "@/out/a.txt"), "True Removed file @/out/a.txt {'removed': '@/out/a.txt'}"},
			step{"recurse", true, plain, "None #### @/out/a.txt ####\nThe file @/out/a.txt is set to be changed" + note + " {'@/out/a.txt': {'newfile': '@/out/a.txt'}}"},
			step{"recurse", true, kv("name", "@/out2", "source", "salt://src", "clean", true, "include_pat", "E@^nothing"), "None #### removed ####\n@/out2/stray"},
			step{"recurse", false, kv("name", "@/out2", "source", "salt://src", "clean", true, "template", "jinja", "file_mode", "keep", "maxdepth", int64(0)), "True Recursively updated @/out2 {'@/out2/a.txt': {'diff': 'New file', 'mode': '0644'}, '@/out2/skip.tmp': {'diff': 'New file', 'mode': '0644'}, 'removed': ['@/out2/stray']}"},
			step{"recurse", false, kv("name", "@/out3", "source", value.NewList("salt://none", "salt://src"), "template", "jinja", "include_pat", value.NewList("sub/*")), "True Recursively updated @/out3 {'@/out3/sub': {'@/out3/sub': {'directory': 'new'}}, '@/out3/sub/b.txt': {'diff': 'New file', 'mode': '0644'}}"},
			step{"recurse", false, kv("name", "@/o", "source", "salt://nosuch"), "False Recurse failed: none of the specified sources were found"},
			step{"recurse", false, kv("name", "@/o", "source", "/etc"), "False Invalid source '/etc' (must be a salt:// URI)"},
			step{"recurse", false, kv("name", "@/o", "source", "salt://src/a.txt"), "False The directory 'src/a.txt' does not exist on the salt fileserver in saltenv 'base'"},
			step{"recurse", false, kv("name", "@/o", "source", "salt://src", "mode", "0644"), "False 'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'."},
			step{"recurse", false, kv("name", "@/isfile", "source", "salt://src"), "False The path @/isfile exists and is not a directory"},
		)
		r.is("@/out/sub/b.txt", "beta {{ grains.id }}\n", "@/out3/sub/b.txt", "beta minion1\n", "@/out/skip.tmp", "(missing)")
		if got := r.mode("@/out") + r.mode("@/out/sub"); got != "750750" {
			t.Errorf("modes %s", got)
		}
	})
}

func TestSerialize(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/m.json", `{"kept": 1, "b": {"old": true}}`, 0o644)
		r.put("@/bad.json", `{`, 0o644)
		data := value.MapOf("b", int64(1), "a", value.NewList("x", value.MapOf("y", nil)))
		for _, f := range [][2]string{
			{"json", "{\n  \"a\": [\n    \"x\",\n    {\n      \"y\": null\n    }\n  ],\n  \"b\": 1\n}\n"},
			{"yaml", "a:\n- x\n- y: null\nb: 1\n"},
			{"python", "{'a': ['x', {'y': None}], 'b': 1}\n"},
		} {
			if got := r.run("serialize", false, "name", "@/"+f[0], "dataset", data, "serializer", f[0]); got != "True File @/"+f[0]+" updated {'diff': 'New file'}" {
				t.Errorf("%s: %s", f[0], got)
			}
			r.is("@/"+f[0], f[1])
		}
		sections := value.MapOf("main", value.MapOf("Key", "v", "n", int64(1)), "two", value.MapOf("t", true))
		r.steps(
			step{"serialize", false, kv("name", "@/ini", "dataset", sections, "serializer", "configparser"), "True File @/ini updated {'diff': 'New file'}"},
			step{"serialize", false, kv("name", "@/toml", "dataset", value.MapOf("t", value.MapOf("x", value.NewList(int64(1), "a")), "top", true), "serializer", "toml"), "True File @/toml updated {'diff': 'New file'}"},
			step{"serialize", false, kv("name", "@/ds", "dataset_pillar", "data"), "True File @/ds updated {'diff': 'New file'}"},
			step{"serialize", true, kv("name", "@/m.json", "dataset", value.MapOf("b", value.MapOf("new", int64(2))), "formatter", "json", "merge_if_exists", true), "None Dataset will be serialized and stored into @/m.json {'diff': {'b': {'new': {'new': 2, 'old': '<_null_>'}}}}"},
			step{"serialize", false, kv("name", "@/m.json", "dataset", value.MapOf("b", value.MapOf("new", int64(2))), "formatter", "json", "merge_if_exists", true), "True File @/m.json updated {'diff': {'b': {'new': {'new': 2, 'old': '<_null_>'}}}}"},
			step{"serialize", false, kv("name", "@/m.json", "dataset", value.MapOf("b", value.MapOf("new", int64(2))), "formatter", "json", "merge_if_exists", true), "True The file @/m.json is in the correct state"},
			step{"serialize", false, kv("name", "@/x", "dataset", data, "formatter", "nonsense"), "False The nonsense serializer could not be found. It either does not exist or its prerequisites are not installed."},
			step{"serialize", false, kv("name", "@/x", "formatter", "json"), "False Neither 'dataset' nor 'dataset_pillar' was defined"},
			step{"serialize", false, kv("name", "@/x", "dataset", data, "formatter", "json", "serializer", "yaml"), "False Only one of serializer and formatter are allowed"},
			step{"serialize", false, kv("name", "@/x", "dataset", data, "create", false), "True File @/x is not present and is not set for creation"},
			step{"serialize", false, kv("name", "@/bad.json", "dataset", data, "formatter", "json", "merge_if_exists", true), "False Failed to deserialize existing data: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
			step{"serialize", false, kv("name", "@/json", "dataset", data, "formatter", "json", "serializer_opts", value.NewList(value.MapOf("indent", nil), value.MapOf("sort_keys", false))), `True File @/json updated {'diff': '--- \n+++ \n@@ -1,9 +1 @@\n-{\n-  "a": [\n-    "x",\n-    {\n-      "y": null\n-    }\n-  ],\n-  "b": 1\n-}\n+{"b": 1,"a": ["x",{"y": null}]}\n'}`},
		)
		r.is("@/ini", "[main]\nkey = v\nn = 1\n\n[two]\nt = True\n\n\n", "@/toml", "top = true\n\n[t]\nx = [ 1, \"a\",]\n\n", "@/ds", "x:\n- 1\n- 2\n")
	})
}

func TestTidied(t *testing.T) {
	t.Parallel()
	r := fakeRig(t)
	for _, f := range []string{"@/a.log", "@/sub/b.log", "@/sub/keep.txt", "@/big"} {
		r.put(f, "x", 0o644)
	}
	r.put("@/big", string(make([]byte, 2048)), 0o644)
	r.steps(
		step{"tidied", true, kv("name", "@", "age", int64(5), "size", "2K"), "None @ is set for tidy {'removed': ['@/big']}"},
		step{"tidied", false, kv("name", "@", "matches", value.NewList(`.*\.log$`), "exclude", value.NewList("a")), "True Removed 1 files or directories from directory @ {'removed': ['@/sub/b.log']}"},
		step{"tidied", false, kv("name", "@", "matches", value.NewList("nothing")), "True Nothing to remove from directory @"},
		step{"tidied", false, kv("name", "@", "rmdirs", true), "True Removed 4 files or directories from directory @ {'removed': ['@/sub/keep.txt', '@/a.log', '@/big', '@/sub']}"},
		step{"tidied", false, kv("name", "@/none"), "False @/none does not exist or is not a directory."},
	)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "old", 0o644)
		r.steps(
			step{"decode", true, kv("name", "@/f", "encoded_data", "aGk=\n"), "None File is set to be updated. {'old': '149603e6c03516362a8da23f624db945', 'new': '49f68a5c8493ec2c0bf489821c21fc3b'}"},
			step{"decode", false, kv("name", "@/g", "encoded_data", "aGk=\n"), "True File was updated. {'old': None, 'new': '49f68a5c8493ec2c0bf489821c21fc3b'}"},
			step{"decode", false, kv("name", "@/g", "encoded_data", "aGk="), "True File is in the correct state."},
			step{"decode", false, kv("name", "@/g"), "raises Specify either the 'encoded_data' or 'contents_pillar' argument."},
			step{"decode", false, kv("name", "@/g", "contents_pillar", "none"), "raises Pillar data not found."},
		)
		r.is("@/g", "hi")
	})
}

// TestOrdinaryUser checks what happens to one who may not give files away.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	r := fakeRig(t)
	r.fake.UID, r.fake.GID = 65534, 65534
	r.fake.Fault = func(op, path string) error {
		if op == "Chown" || op == "Lchown" {
			return &os.PathError{Op: "chown", Path: path, Err: os.ErrPermission}
		}
		return nil
	}
	r.put("@/f", "x\n", 0o644)
	r.fake.PutOwner("/testdir/f", 65534, 65534)
	r.steps(
		step{"managed", false, kv("name", "@/f", "user", "root"), "False Failed to change user to root"},
		step{"directory", false, kv("name", "@", "user", "nobody"), "False Failed to change user to nobody {'@': {'user': 'nobody'}}"},
		step{"directory", false, kv("name", "@/d", "user", "root"), "False @/d: Failed to change user to root {'@/d': {'directory': 'new'}}"},
		step{"directory", false, kv("name", "@/a/b", "user", "root", "makedirs", true), "False Failed to create directory @/a/b: @/a: Failed to change user to root {'@/a/b': {'directory': 'new'}}"},
		step{"symlink", false, kv("name", "@/l", "target", "f"), "True Created new symlink @/l -> f {'new': '@/l'}"},
	)
}

// TestSymlinkBackupElsewhere: what is in the way is copied to another file
// system, unless that is not wished.
func TestSymlinkBackupElsewhere(t *testing.T) {
	t.Parallel()
	far, err := os.MkdirTemp("/dev/shm", "brine-test-")
	if err != nil {
		t.Skip("no second file system: ", err)
	}
	defer os.RemoveAll(far)
	r := localRig(t)
	here, err := r.env.Host.Stat(r.dir)
	there, err2 := r.env.Host.Stat(far)
	if err != nil || err2 != nil || here.Dev == there.Dev {
		t.Skip("/dev/shm and the temporary directory are one file system")
	}
	r.put("@/file", "mine\n", 0o644)
	args := []value.Value{"name", r.path("file"), "target", "t", "backupname", far + "/kept"}
	if ret := r.call(t.Context(), "symlink", false, append(args, "disallow_copy_and_unlink", true)...); ret.Result != fun.Failed || !strings.Contains(value.Str(ret.Comment), "Unable to rename") || r.text("@/file") != "mine\n" {
		t.Errorf("not to be copied: %v", ret)
	}
	if ret := r.call(t.Context(), "symlink", false, args...); ret.Result != fun.OK {
		t.Errorf("to be copied: %v", ret)
	}
	if b, err := os.ReadFile(far + "/kept"); err != nil || string(b) != "mine\n" {
		t.Errorf("kept: %q, %v", b, err)
	}
}
