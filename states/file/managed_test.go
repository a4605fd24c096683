package file_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// A step is one call of a state and what it says; the texts are Salt's.
type step struct {
	fn   string
	test bool
	kv   []value.Value
	want string
}

func (r *rig) steps(steps ...step) {
	r.t.Helper()
	for i, s := range steps {
		if got := r.run(s.fn, s.test, s.kv...); got != s.want {
			r.t.Errorf("step %d: file.%s\n got %q\nwant %q", i+1, s.fn, got, s.want)
		}
	}
}

// is checks the contents of files by path.
func (r *rig) is(pathText ...string) {
	r.t.Helper()
	for i := 0; i+1 < len(pathText); i += 2 {
		if got := r.text(pathText[i]); got != pathText[i+1] {
			r.t.Errorf("%s is %q, want %q", pathText[i], got, pathText[i+1])
		}
	}
}

func kv(v ...value.Value) []value.Value { return v }

const note = "\nNote: No changes made, actual changes may\nbe different due to other states."

func TestManagedContents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/old", "k=1\n", 0o644)
		r.steps(
			step{"managed", true, kv("name", "@/f", "contents", "x"), "None The file @/f is set to be changed" + note + " {'newfile': '@/f'}"},
			step{"managed", false, kv("name", "@/f", "contents", "x"), "True File @/f updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/f", "contents", "x"), "True File @/f is in the correct state"},
			step{"managed", true, kv("name", "@/f", "contents", "x"), "True The file @/f is in the correct state"},
			step{"managed", false, kv("name", "@/list", "contents", value.NewList("a", int64(3), nil)), "True File @/list updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/bare", "contents", "a\n\n", "contents_newline", false), "True File @/bare updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/private", "contents", "x", "mode", "0600"), "True File @/private updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/public", "contents", "x", "mode", int64(644)), "True File @/public updated {'diff': 'New file', 'mode': '0644'}"},
			step{"managed", false, kv("name", "@/empty"), "True Empty file {'new': 'file @/empty created'}"},
			step{"managed", false, kv("name", "@/empty"), "True File @/empty exists with proper permissions. No changes made."},
			step{"managed", true, kv("name", "@/old", "contents", "k=2", "mode", "0600"), "None The file @/old is set to be changed" + note + ` {'diff': '--- \n+++ \n@@ -1 +1 @@\n-k=1\n+k=2\n', 'mode': '0600'}`},
			step{"managed", true, kv("name", "@/old", "contents", "k=2", "show_changes", false), "None The file @/old is set to be changed" + note + ` {'diff': '<show_changes=False>'}`},
			step{"managed", false, kv("name", "@/old", "contents", "k=2", "show_changes", false), `True File @/old updated {'diff': '<show_changes=False>'}`},
			step{"managed", false, kv("name", "@/old", "contents", "k=3", "replace", false, "mode", "0600"), `True  {'mode': '0600'}`},
			step{"managed", true, kv("name", "@/old", "contents", "k=3", "replace", false, "mode", "0640"), "None File @/old will be updated with permissions 0640 from its current state of 0600 {'mode': '0640'}"},
			step{"managed", false, kv("name", "@/p", "contents_pillar", "text"), "True File @/p updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/p2", "contents_pillar", value.NewList("text", "data:x")), "True File @/p2 updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/p3", "contents_pillar", "nothing"), "True Empty file {'new': 'file @/p3 created'}"},
			step{"managed", false, kv("name", "@/p", "contents_pillar", "none:there"), "False Pillar none:there does not exist"},
			step{"managed", false, kv("name", "@/g", "contents_grains", "banner"), "True File @/g updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/g", "contents_grains", "nope"), "False Grain nope does not exist"},
			step{"managed", false, kv("name", "@/tpl", "contents", "{{ a }}-{{ b }}", "template", "jinja", "defaults", value.MapOf("a", int64(1), "b", int64(2)), "context", value.MapOf("b", int64(3))), "True File @/tpl updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/latin", "contents", "é", "encoding", "latin-1"), "True File @/latin updated {'diff': 'New file'}"},
		)
		r.is("@/f", "x\n", "@/list", "a\n3\nNone\n", "@/bare", "a", "@/old", "k=2\n", "@/p", "from\npillar\n", "@/p2", "from\npillar\n\n[1, 2]\n",
			"@/g", "from grain\n", "@/tpl", "1-3\n", "@/latin", "\xe9\n", "@/empty", "")
		if got := r.mode("@/private") + r.mode("@/public") + r.mode("@/old"); got != "600644600" {
			t.Errorf("modes %s", got)
		}
	})
}

func TestManagedRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://f", "x", 0o644)
		r.steps(
			step{"managed", false, kv("name", ""), "False Destination file name is required"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "source", "salt://f"), "False 'source' cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "contents_pillar", "text"), "False Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "mode", "keep"), "False Mode preservation cannot be used in combination with 'contents', 'contents_pillar', or 'contents_grains'"},
			step{"managed", false, kv("name", "@/f", "contents", "", "allow_empty", false), "False 'contents' value would result in empty contents. Set allow_empty to True to allow the managed file to be empty."},
			step{"managed", false, kv("name", "@/f", "contents", value.NewList()), "False Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, and is not binary data. SLS is likely malformed."},
			step{"managed", false, kv("name", "@/f", "contents", "x", "create", false), "True File @/f is not present and is not set for creation"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "user", "nope"), "False User nope is not available "},
			step{"managed", false, kv("name", "@/f", "contents", "x", "user", "nope", "group", "neither"), "False User nope is not available Group neither is not available"},
			step{"managed", true, kv("name", "@/f", "contents", "x", "user", "nope"), "None The file @/f is set to be changed" + note + " {'newfile': '@/f'}"},
			step{"managed", false, kv("name", "@", "contents", "x"), "False Specified target @ is a directory"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "context", "y"), "False Context must be formed as a dict"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "defaults", "y"), "False Defaults must be formed as a dict"},
			step{"managed", false, kv("name", "@/f", "contents", "x", "template", "wombat"), "False Specified template format wombat is not supported"},
			step{"managed", false, kv("name", "@/no/f", "contents", "x"), "False Parent directory not present"},
			step{"managed", false, kv("name", "@/no/f"), "False Parent directory not present"},
			step{"managed", false, kv("name", "@/f", "source", "salt://none"), "False Source file salt://none not found in saltenv 'base'"},
			step{"managed", true, kv("name", "@/f", "source", "salt://none"), "False Source file salt://none not found in saltenv 'base'"},
			step{"managed", false, kv("name", "@/f", "source", "salt://../f"), "False Source file salt://../f not found in saltenv 'base'"},
			step{"managed", false, kv("name", "@/f", "source", value.NewList("salt://none", "@/none")), "False Unable to manage file: none of the specified sources were found"},
			step{"managed", false, kv("name", "@/f", "source", "@/none"), "False Local file source @/none does not exist"},
			step{"managed", false, kv("name", "@/f", "source", "http://localhost/x"), "False Unable to verify upstream hash of source file http://localhost/x, please set source_hash or set skip_verify to True"},
			step{"managed", false, kv("name", "@/f", "source", "http://localhost/x", "source_hash", "sha256=12"), "False Source hash sha256=12 format is invalid. The supported formats are: 1) a hash, 2) an expression in the format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a URI of a remote hash file. Supported protocols for remote hash files are: salt, file, http, https, ftp, swift, s3. The hash may also not be of a valid length, the following are supported hash types and lengths: md5 (32), sha1 (40), sha224 (56), sha256 (64), sha384 (96), sha512 (128)."},
			step{"managed", false, kv("name", "@/f", "contents", "ł", "encoding", "latin-1"), `False Unable to manage file: 'latin-1' codec can't encode character '\u0142' in position 0: ordinal not in range(256)`},
			step{"managed", false, kv("name", "@/f", "contents", "x", "encoding", "wombat"), "False Unable to manage file: unknown encoding: wombat"},
		)
		r.is("@/f", "(missing)")
	})
}

func TestManagedSource(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://motd", "Welcome.\nBe kind.\n", 0o755)
		r.put("salt://bin", "\x00\x01\xff", 0o644)
		r.put("salt://t.j2", "{{ name }} {{ port }} {{ source }} {{ mode }}\n", 0o644)
		r.put("@/src", "payload\n", 0o600)
		r.put("@/text", "q", 0o644)
		r.put("@/bin2", "\x00\x02", 0o644)
		r.put("@/SUMS", "d4e4877bac978b7952f0d544fc52ebff5411d351d129f1f056fa43f11da9af2b  src\n", 0o644)
		r.steps(
			step{"managed", false, kv("name", "@/x/y/motd", "source", "salt://motd", "mode", "0640", "makedirs", true), "True File @/x/y/motd updated {'diff': 'New file', 'mode': '0640'}"},
			step{"managed", false, kv("name", "@/k", "source", "salt://motd", "mode", "keep"), "True File @/k updated {'diff': 'New file', 'mode': '0755'}"},
			step{"managed", false, kv("name", "@/fb", "source", value.NewList("salt://none", value.MapOf("salt://motd", nil))), "True File @/fb updated {'diff': 'New file', 'mode': '0644'}"},
			step{"managed", false, kv("name", "@/local", "source", "@/src"), "True File @/local updated {'diff': 'New file', 'mode': '0644'}"},
			step{"managed", false, kv("name", "@/local", "source", "@/src"), "True File @/local is in the correct state"},
			step{"managed", false, kv("name", "@/hashed", "source", "file://@/src", "source_hash", "@/SUMS"), "True File @/hashed updated {'diff': 'New file', 'mode': '0644'}"},
			step{"managed", false, kv("name", "@/bad", "source", "file://@/src", "source_hash", strings.Repeat("0", 64)), "False Specified sha256 checksum for @/bad (" + strings.Repeat("0", 64) + ") does not match actual checksum (d4e4877bac978b7952f0d544fc52ebff5411d351d129f1f056fa43f11da9af2b)"},
			step{"managed", false, kv("name", "@/text", "source", "file://@/src", "source_hash", strings.Repeat("0", 64)), "False Specified sha256 checksum for file://@/src (" + strings.Repeat("0", 64) + ") does not match actual checksum (d4e4877bac978b7952f0d544fc52ebff5411d351d129f1f056fa43f11da9af2b). If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'."},
			step{"managed", false, kv("name", "@/text", "source", "salt://bin"), "True File @/text updated {'diff': 'Replace text file with binary file'}"},
			step{"managed", false, kv("name", "@/bin2", "source", "salt://bin"), "True File @/bin2 updated {'diff': 'Replace binary file'}"},
			step{"managed", false, kv("name", "@/bin2", "source", "salt://motd"), "True File @/bin2 updated {'diff': 'Replace binary file with text file'}"},
			step{"managed", false, kv("name", "@/t", "source", "salt://t.j2", "template", "jinja", "mode", "0644", "context", value.MapOf("port", int64(80))), "True File @/t updated {'diff': 'New file', 'mode': '0644'}"},
			step{"managed", false, kv("name", "@/t", "source", "salt://t.j2", "template", "jinja"), "False Unable to manage file: Jinja variable 'port' is undefined; line 1\n\n---\n{{ name }} {{ port }} {{ source }} {{ mode }}    <======================\n---"},
			step{"managed", false, kv("name", "@/src", "source", "@/src"), "True File @/src is in the correct state"},
			step{"managed", false, kv("name", "@/src", "source", "@/src", "template", "jinja"), "False Unable to manage file: Source file cannot be the same as destination"},
			step{"managed", true, kv("name", "@/src", "source", "@/src", "template", "jinja"), "raises Source file cannot be the same as destination"},
			step{"managed", false, kv("name", "@/none", "source", value.NewList()), "False Unable to manage file: none of the specified sources were found"},
			step{"managed", false, kv("name", "@/none", "source", "salt://motd?saltenv=dev"), "False Source file salt://motd?saltenv=dev not found in saltenv 'base'"},
			step{"managed", false, kv("name", "@/none", "source", "salt://x"), "False Source file salt://x not found in saltenv 'base'"},
			step{"managed", false, kv("name", "@/none", "source", "gopher://x"), "False Local file source gopher://x does not exist"},
			step{"managed", false, kv("name", "@/none", "source", "@/src", "source_hash", "@/NOSUMS"), "False Unable to manage file: [Errno 2] No such file or directory: '@/NOSUMS'"},
			step{"managed", false, kv("name", "@/odd", "contents", "x", "mode", "999"), "raises mode must be a file mode in octal digits, not '999'"},
			step{"managed", false, kv("name", "@/odd2", "mode", "rwx"), "raises mode must be a file mode in octal digits, not 'rwx'"},
		)
		r.is("@/x/y/motd", "Welcome.\nBe kind.\n", "@/hashed", "payload\n", "@/bad", "(missing)", "@/text", "\x00\x01\xff", "@/t", r.path("t")+" 80 salt://t.j2 0644\n")
		if got := r.mode("@/x") + r.mode("@/x/y") + r.mode("@/x/y/motd"); got != "750750640" {
			t.Errorf("modes %s", got)
		}
	})
}

func TestManagedCheckCmdAndBackup(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "old\n", 0o644)
		bad := kv("name", "@/f", "contents", "new", "check_cmd", "grep -q never", "tmp_ext", ".conf")
		if got := r.run("managed", false, bad...); got != "False check_cmd execution failed" {
			t.Errorf("got %q", got)
		}
		if ret := r.call(context.Background(), "managed", false, bad...); ret.Extra.At("skip_watch") != true {
			t.Errorf("no skip_watch: %v", ret.Extra)
		}
		r.is("@/f", "old\n")
		r.steps(
			step{"managed", false, kv("name", "@/f", "contents", "new", "check_cmd", "grep -q new", "backup", "minion"), `True File @/f updated {'diff': '--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n'}`},
			step{"managed", false, kv("name", "@/f", "contents", "new", "check_cmd", "grep -q never"), "True File @/f is in the correct state"},
		)
		names, err := r.env.Host.ReadDir(r.env.CacheDir + "/file_backup" + r.dir)
		if err != nil || len(names) != 1 {
			t.Fatalf("backups: %v, %v", names, err)
		}
		r.is(r.env.CacheDir+"/file_backup"+r.dir+"/"+names[0], "old\n")
	})
}

func TestManagedLinks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://f", "new\n", 0o644)
		r.put("@/real", "old\n", 0o600)
		r.link("real", "@/follow")
		r.link("real", "@/replace")
		r.link("nowhere", "@/dangling")
		r.link("real", "@/same")
		r.steps(
			step{"managed", false, kv("name", "@/replace", "source", "salt://f", "follow_symlinks", false), `True File @/replace updated {'diff': '--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n'}`},
			step{"managed", false, kv("name", "@/same", "contents", "old", "follow_symlinks", false), "True File @/same updated {'diff': 'Replace symbolic link with regular file'}"},
			step{"managed", false, kv("name", "@/follow", "source", "salt://f"), `True File @/follow updated {'diff': '--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n'}`},
			step{"managed", false, kv("name", "@/dangling", "contents", "x"), `True File @/dangling updated {'diff': 'New file'}`},
		)
		r.is("@/real", "new\n", "@/replace", "new\n", "@/nowhere", "x\n")
		if r.mode("@/real") != "600" {
			t.Errorf("mode of real %s, want it kept", r.mode("@/real"))
		}
		for path, want := range map[string]bool{"@/follow": true, "@/replace": false, "@/same": false, "@/dangling": true} {
			st, err := r.env.Host.Lstat(r.at(path).(string))
			if err != nil || st.Mode&os.ModeSymlink != 0 != want {
				t.Errorf("%s is a link: %v, %v; want %v", path, st.Mode, err, want)
			}
		}
	})
}

// TestManagedFault checks that a file is as it was when it cannot be written.
func TestManagedFault(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{true, false} {
		r := fakeRig(t)
		if exists {
			r.put("@/f", "old\n", 0o644)
		}
		r.fake.Fault = func(op, path string) error {
			if op == "WriteFile" {
				return &os.PathError{Op: "write", Path: path, Err: os.ErrPermission}
			}
			return nil
		}
		want := "False Unable to manage file: [Errno 13] Permission denied: '@/f'"
		text := "(missing)"
		if exists {
			want, text = "False Failed to commit change: [Errno 13] Permission denied: '@/f'", "old\n"
		}
		if got := r.run("managed", false, "name", "@/f", "contents", "new", "mode", "0600"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		r.is("@/f", text)
	}
}

// TestManagedOwner needs a machine on which we are root.
func TestManagedOwner(t *testing.T) {
	t.Parallel()
	r := fakeRig(t)
	r.put("@/f", "x\n", 0o644)
	r.put("@/suid", "x\n", 0o644)
	r.fake.PutFile("/testdir/suid", "x\n", 0o755|os.ModeSetuid)
	r.steps(
		step{"managed", false, kv("name", "@/f", "contents", "x", "user", "nobody", "group", "nogroup"), "True File @/f updated {'user': 'nobody', 'group': 'nogroup'}"},
		step{"managed", false, kv("name", "@/f", "contents", "x", "user", int64(65534)), "True File @/f is in the correct state"},
		step{"managed", false, kv("name", "@/f", "contents", "y", "owner", "root"), `True File @/f updated {'user': 'root', 'diff': '--- \n+++ \n@@ -1 +1 @@\n-x\n+y\n'}`},
		step{"managed", false, kv("name", "@/new", "contents", "y", "user", "nobody", "mode", "0600"), "True File @/new updated {'diff': 'New file', 'user': 'nobody'}"},
		step{"managed", false, kv("name", "@/suid", "user", "nobody"), "True  {'user': 'nobody'}"},
	)
	if st, err := r.env.Host.Stat("/testdir/suid"); err != nil || st.Perm() != 0o4755 {
		t.Errorf("mode %o, %v; want setuid kept", st.Perm(), err)
	}
	if st, err := r.env.Host.Stat("/testdir/new"); err != nil || st.UID != 65534 || st.Perm() != 0o600 {
		t.Errorf("new: %+v, %v", st, err)
	}
}

func TestManagedWeb(t *testing.T) {
	t.Parallel()
	hits := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/f.txt":
			if q.Method == http.MethodGet {
				hits++
			}
			w.Write([]byte("payload\n"))
		case "/SHA256SUMS":
			w.Write([]byte("0000000000000000000000000000000000000000000000000000000000000000  other\nd4e4877bac978b7952f0d544fc52ebff5411d351d129f1f056fa43f11da9af2b  f.txt\n"))
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(srv.Close)
	r := localRig(t)
	const sum = "d4e4877bac978b7952f0d544fc52ebff5411d351d129f1f056fa43f11da9af2b"
	r.steps(
		step{"managed", false, kv("name", "@/a", "source", srv.URL+"/f.txt", "source_hash", "sha256="+sum), "True File @/a updated {'diff': 'New file', 'mode': '0644'}"},
		step{"managed", false, kv("name", "@/a", "source", srv.URL+"/f.txt", "source_hash", sum), "True File @/a is in the correct state"},
		step{"managed", false, kv("name", "@/b", "source", srv.URL+"/f.txt", "source_hash", srv.URL+"/SHA256SUMS"), "True File @/b updated {'diff': 'New file', 'mode': '0644'}"},
		step{"managed", false, kv("name", "@/c", "source", value.NewList(srv.URL+"/none", srv.URL+"/f.txt"), "skip_verify", true), "True File @/c updated {'diff': 'New file', 'mode': '0644'}"},
		step{"managed", false, kv("name", "@/d", "source", srv.URL+"/gone", "skip_verify", true), "False Failed to cache " + srv.URL + "/gone: Error: HTTP 404: Not Found reading /gone"},
		step{"managed", false, kv("name", "@/e", "source", srv.URL+"/f.txt", "source_hash", srv.URL+"/gone"), "False Unable to manage file: Error: HTTP 404: Not Found reading /gone"},
		step{"managed", true, kv("name", "@/e", "source", srv.URL+"/f.txt", "source_hash", srv.URL+"/gone"), "raises Error: HTTP 404: Not Found reading /gone"},
	)
	r.is("@/a", "payload\n", "@/b", "payload\n", "@/c", "payload\n")
	if hits != 1 {
		t.Errorf("fetched %d times, want once", hits)
	}
}

func TestUmask(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://f", "x", 0o644)
		r.steps(
			step{"managed", false, kv("name", "@/a", "contents", "x", "umask", int64(27)), "True File @/a updated {'diff': 'New file'}"},
			step{"managed", false, kv("name", "@/b", "source", "salt://f", "umask", "0007"), "True File @/b updated {'diff': 'New file', 'mode': '0660'}"},
			step{"directory", false, kv("name", "@/d/e", "makedirs", true, "umask", "0077"), "True  {'@/d/e': {'directory': 'new'}}"},
			step{"touch", false, kv("name", "@/t", "umask", "000"), "True Created empty file @/t {'new': '@/t'}"},
		)
		if got := r.mode("@/a") + r.mode("@/b") + r.mode("@/d") + r.mode("@/d/e") + r.mode("@/t"); got != "640660700700666" {
			t.Errorf("modes %s", got)
		}
	})
}

func TestAccumulated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("salt://t", "{% for x in accumulator['a'] %}{{ x }};{% endfor %}", 0o644)
		r.put("@/b", "# s\n# e\n", 0o644)
		for _, file := range []string{"@/f", "@/b"} {
			r.steps(
				step{"accumulated", false, kv("name", "a", "filename", file, "text", "one"), "False Orphaned accumulator a in s:id"},
				step{"accumulated", false, kv("name", "a", "filename", file, "text", "one", "require_in", value.NewList(value.MapOf("file", "x"))), "True Accumulator a for file " + file + " was charged by text"},
				step{"accumulated", false, kv("name", "a", "filename", file, "text", value.NewList("one", "two"), "watch_in", value.NewList(value.MapOf("file", "x"))), "True Accumulator a for file " + file + " was charged by text"},
			)
		}
		r.run("managed", false, "name", "@/f", "source", "salt://t", "template", "jinja")
		r.run("blockreplace", false, "name", "@/b", "marker_start", "# s", "marker_end", "# e", "content", "zero", "backup", false)
		r.is("@/f", "one;two;", "@/b", "# s\nzero\none\ntwo\n# e\n")
	})
}
