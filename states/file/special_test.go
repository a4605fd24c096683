package file_test

import (
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// The comments and changes are those of salt/states/file.py.
func TestPruned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.dirs("@/e/a/b", "@/full/x/y", "@/one")
		r.put("@/full/x/f", "x", 0o644)
		r.steps(
			step{"pruned", false, kv("name", "@/one"), "True Removed directory @/one {'deleted': '@/one'}"},
			step{"pruned", false, kv("name", "@/one"), "True Directory @/one is not present"},
			step{"pruned", true, kv("name", "@/e"), "None Directory @/e is set for removal {'deleted': '@/e'}"},
			step{"pruned", false, kv("name", "@/e"), "False Failed to remove directory @/e {'deleted': [], 'errors': [['@/e', \"[Errno 39] Directory not empty: '@/e'\"]]}"},
			step{"pruned", false, kv("name", "@/e", "recurse", true, "older_than", int64(3)), "True "},
			step{"pruned", false, kv("name", "@/e", "recurse", true), "True Recursively removed empty directories under @/e {'deleted': ['@/e', '@/e/a', '@/e/a/b']}"},
			step{"pruned", false, kv("name", "@/full", "ignore_errors", true), "True Recursively removed empty directories under @/full {'deleted': ['@/full/x/y']}"},
		)
		r.is("@/full/x/f", "x")
	})
}

func TestCached(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.put("@/f", "x", 0o644)
		const md5 = "9dd4e461268c8034f5c8564e155c67a6" // of "x"
		other := strings.Repeat("0", 32)
		r.steps(
			step{"cached", false, kv("name", "@/f"), "True File @/f is present on the minion"},
			step{"cached", false, kv("name", "@/none"), "False File @/none is not present on the minion"},
			step{"cached", false, kv("name", "@/f", "source_hash", md5), "True File @/f is present on the minion and has hash " + md5},
			step{"cached", false, kv("name", "@/f", "source_hash", "md5="+other), "False File @/f is present on the minion, but the hash (" + md5 + ") does not match the specified hash (" + other + ")"},
			step{"cached", false, kv("name", "salt://none"), "False Failed to cache salt://none, check minion log for more information"},
			step{"cached", false, kv("name", "http://127.0.0.1:9/x"), "False Unable to verify upstream hash of source file http://127.0.0.1:9/x, please set source_hash or set skip_verify or use_etag to True"},
			step{"cached", true, kv("name", "salt://none"), "None File will be cached: salt://none"},
			step{"not_cached", false, kv("name", "@/f"), "True File @/f is a local path, no action taken"},
			step{"not_cached", false, kv("name", "salt://none"), "True salt://none is not cached"},
		)
		r.put("@/../cache/files/base/c", "x", 0o644)
		if got := r.run("not_cached", false, "name", "salt://c"); !strings.HasSuffix(got, "/files/base/c was deleted {'deleted': True}") {
			t.Errorf("not_cached of a copy: %s", got)
		}
		// A file of the file server is copied, and found again.
		r.put("salt://d", "x", 0o644)
		if got := r.run("cached", false, "name", "salt://d"); !strings.HasSuffix(got, "/files/base/d {'hash': {'old': None, 'new': '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'}}") {
			t.Errorf("cached: %s", got)
		}
		if got := r.run("cached", false, "name", "salt://d"); !strings.HasPrefix(got, "True File is cached to ") || !strings.HasSuffix(got, "/files/base/d") {
			t.Errorf("cached again: %s", got)
		}
	})
}

func TestPatch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.tools()
		r.put("@/f", "a\nold\n", 0o644)
		r.put("@/g", "other\n", 0o644)
		r.put("salt://p", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-old\n+new\n", 0o644)
		r.steps(
			step{"patch", false, kv("name", "f"), "False f is not an absolute path"},
			step{"patch", false, kv("name", "@/none"), "False @/none does not exist"},
			step{"patch", false, kv("name", "@/f", "source", "salt://p", "options", "-N --output=x"), "False The following CLI options are not allowed: -N, --output=x"},
			step{"patch", false, kv("name", "@/f", "source", "salt://p", "options", "-px"), "False Invalid format for '-p' CLI option. Consider using the 'strip' option for this state."},
			step{"patch", false, kv("name", "@/f", "source", "salt://p", "reject_file", "x"), "False 'x' is not an absolute path"},
			step{"patch", false, kv("name", "@/f", "source", "salt://none"), "False Source file salt://none not found in saltenv 'base'"},
		)
		if got := r.run("patch", true, "name", "@/f", "source", "salt://p"); !strings.HasPrefix(got, "None The patch would be applied {'pid': ") {
			t.Errorf("test mode: %s", got)
		}
		r.is("@/f", "a\nold\n")
		if got := r.run("patch", false, "name", "@/f", "source", "salt://p"); !strings.HasPrefix(got, "True Patch successfully applied {'pid': ") {
			t.Errorf("patch: %s", got)
		}
		r.is("@/f", "a\nnew\n")
		r.steps(step{"patch", false, kv("name", "@/f", "source", "salt://p"), "True Patch was already applied"})
		got := r.run("patch", false, "name", "@/g", "source", "salt://p")
		if !strings.HasPrefix(got, "False Patch would not apply cleanly, no changes made. Results of dry-run are below. Run state again using the reject_file option to save rejects to a persistent file.\n\n              ----------\n              pid:\n") {
			t.Errorf("a patch that does not fit: %s", got)
		}
		r.is("@/g", "other\n")
	})
}

func TestMknod(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		r.tools()
		r.put("@/f", "x", 0o644)
		r.steps(
			step{"mknod", true, kv("name", "@/p", "ntype", "p"), "None Fifo pipe @/p is set to be created"},
			step{"mknod", false, kv("name", "@/d/p", "ntype", "p"), "True  {'new': 'Fifo pipe @/d/p created.'}"},
			step{"mknod", false, kv("name", "@/d/p", "ntype", "p"), "True Fifo pipe @/d/p is in the correct state"},
			step{"mknod", false, kv("name", "@/d/p", "ntype", "p", "mode", "0640"), "True  {'mode': '0640'}"},
			step{"mknod", false, kv("name", "@/f", "ntype", "c"), "False File @/f exists and is not a character device. Refusing to continue"},
			step{"mknod", true, kv("name", "@/c", "ntype", "b"), "None Block device @/c is set to be created"},
			step{"mknod", false, kv("name", "@/f", "ntype", "x"), "False Node type unavailable: 'x'. Available node types are character ('c'), block ('b'), and pipe ('p')"},
		)
	})
}

func TestRetentionSchedule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for _, n := range []string{"b20230131.tgz", "b20230201.tgz", "b20240103.tgz", "b20240104.tgz", "b20240105.tgz", "b2024.tgz", "other"} {
			r.put("@/b/"+n, "x", 0o644)
		}
		retain := value.MapOf("most_recent", int64(1), "first_of_month", int64(2))
		args := kv("name", "@/b", "retain", retain, "strptime_format", "b%Y%m%d.tgz")
		const changes = " {'retained': ['b20240105.tgz', 'b20240103.tgz', 'b20230201.tgz'], 'deleted': ['b20240104.tgz', 'b20230131.tgz'], 'ignored': ['other', 'b2024.tgz', '..', '.']}"
		r.steps(
			step{"retention_schedule", true, args, "None 2 backups would have been removed from @/b.\n" + changes},
			step{"retention_schedule", false, args, "True 2 backups were removed from @/b.\n" + changes},
			step{"retention_schedule", false, args, "True 0 backups were removed from @/b.\n"},
			step{"retention_schedule", false, kv("name", "@/b", "retain", value.MapOf("most_recent", "all")), "True 0 backups were removed from @/b.\n"},
			step{"retention_schedule", false, kv("name", "@/b", "retain", value.MapOf("never", int64(1))), "raises 'never'"},
			step{"retention_schedule", false, kv("name", "@/none", "retain", retain), "False Name provided to file.retention must be a directory"},
		)
		old := r.path("b/other")
		if err := r.env.Host.Chtimes(old, time.Unix(1000, 0), time.Unix(1000, 0)); err != nil {
			t.Fatal(err)
		}
		r.run("retention_schedule", false, "name", "@/b", "retain", value.MapOf("first_of_year", int64(1), "first_of_week", int64(0)))
		r.is("@/b/other", "(missing)")
	})
}

// What the serializers write was taken from Salt's modules run by Python 3.11:
// pprint after a round trip through JSON, yaml.dump with allow_unicode.
func TestSerializeOptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		data := value.MapOf("x", "é", "l", value.NewList(int64(1), value.MapOf(int64(2), nil)))
		data.Ordered = true
		for _, f := range []struct {
			kv   []value.Value
			want string
		}{
			{kv("serializer", "python"), "{'l': [1, {'2': None}], 'x': 'é'}\n"},
			{kv("encoding", "utf-8"), "l:\n- 1\n- 2: null\nx: é\n"},
			{kv(), "l:\n- 1\n- 2: null\nx: \"\\xE9\"\n"},
		} {
			r.run("serialize", false, append(kv("name", "@/f", "dataset", data), f.kv...)...)
			r.is("@/f", f.want)
		}
	})
}
