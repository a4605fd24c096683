package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/states/archive"
)

type rig struct {
	t    *testing.T
	env  *fun.Env
	fake *host.Fake
}

func newRig(t *testing.T) *rig {
	f := host.NewFake()
	f.PutFile("/salt/pk.tar", pack(t, "pk/", "pk/one", "pk/inner/", "pk/inner/two"), 0o644)
	f.PutFile("/salt/flat.tar", pack(t, "flat"), 0o644)
	f.PutFile("/salt/dot.tar", pack(t, "./", "./a", "./s/", "./s/b"), 0o644)
	f.PutFile("/salt/text.tar", "no archive", 0o644)
	f.PutFile("/salt/text.zip", "no archive", 0o644)
	opts := value.MapOf("cachedir", "/cache", "hash_type", "sha256", "file_roots", value.MapOf("base", value.Strings("/salt")))
	env := &fun.Env{Identity: fun.Identity{SaltEnv: "base"}, Data: fun.Data{Opts: opts, Memo: &fun.Memo{}}, Machine: fun.Machine{Host: f, CacheDir: "/cache"}, UI: fun.UI{Logger: slog.New(slog.DiscardHandler)}}
	env.Up = &fileserver.Local{Server: fileserver.New(f, fileserver.RootsOf(opts, "file_roots"))}
	return &rig{t, env, f}
}

func pack(t *testing.T, names ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, n := range names {
		h := &tar.Header{Name: n, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(n))}
		if n[len(n)-1] == '/' {
			h = &tar.Header{Name: n, Mode: 0o755, Typeflag: tar.TypeDir}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (r *rig) run(test bool, kv ...value.Value) string {
	r.t.Helper()
	mod := archive.States().Loaded()
	low := value.MapOf(kv...)
	c, err := dispatch.New(r.env).Bind(&mod, &mod.Specs[0], fun.Args{Kw: low})
	if err != nil {
		r.t.Fatal(err)
	}
	c.Test, c.Low = test, &fun.Chunk{SaltEnv: "base", Low: low}
	ret := mod.Specs[0].State(context.Background(), c)
	if ret.Err != nil {
		return "raises " + ret.Err.Error()
	}
	s := value.Str(ret.Result.Value()) + " " + value.Str(ret.Comment)
	if m, ok := ret.Changes.(*value.Map); ok && m.Len() > 0 {
		s += " " + value.Repr(m)
	}
	return s
}

// TestExtracted follows the recording st-archive and Salt's source.
func TestExtracted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fake.PutFile("/isfile", "x", 0o644)
	r.fake.PutFile("/wrong/pk/one/x", "x", 0o644)
	r.fake.PutFile("/stray/pk/stray", "x", 0o644)
	const bomb = "False Archive does not have a single top-level directory. To allow this archive to be extracted, set 'enforce_toplevel' to False. To avoid a 'tar-bomb' it may also be advisable to set a top-level directory by adding it to the 'name' value (for example, setting 'name' to /flat/some_dir instead of /flat/)."
	for i, tt := range []struct {
		test bool
		kv   []value.Value
		want string
	}{
		{true, []value.Value{"name", "/out", "source", "salt://pk.tar"}, "None Archive salt://pk.tar would be cached (if necessary) and checked to discover if extraction is needed"},
		{true, []value.Value{"name", "/out", "source", "/salt/pk.tar"}, "None Archive /salt/pk.tar would be extracted to /out/, due to absence of one or more files/dirs"},
		{false, []value.Value{"name", "/out", "source", "salt://pk.tar"}, "True salt://pk.tar extracted to /out/, due to absence of one or more files/dirs. Output was trimmed to False number of lines {'directories_created': ['/out/'], 'extracted_files': ['pk', 'pk/one', 'pk/inner', 'pk/inner/two']}"},
		{false, []value.Value{"name", "/out", "source", "salt://pk.tar"}, "True All files in archive are already present"},
		{false, []value.Value{"name", "/out/", "source", "/salt/pk.tar", "overwrite", true, "trim_output", int64(1)}, "True /salt/pk.tar extracted to /out/. Output was trimmed to 1 number of lines {'extracted_files': ['pk']}"},
		{false, []value.Value{"name", "/flat", "source", "salt://flat.tar"}, bomb},
		{false, []value.Value{"name", "/flat", "source", "salt://flat.tar", "enforce_toplevel", false}, "True salt://flat.tar extracted to /flat/, due to absence of one or more files/dirs. Output was trimmed to False number of lines {'directories_created': ['/flat/'], 'extracted_files': ['flat']}"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "if_missing", "/etc"}, "True Path /etc exists"},
		{false, []value.Value{"name", "/x", "source", "salt://none.tar"}, "False Failed to cache salt://none.tar, check minion log for more information"},
		{false, []value.Value{"name", "/x", "source", "/none.tar"}, "False Source file '/none.tar' does not exist"},
		{false, []value.Value{"name", "rel", "source", "/none.tar"}, "False rel is not an absolute path"},
		{false, []value.Value{"name", "/isfile/", "source", "salt://pk.tar"}, "False /isfile exists and is not a directory"},
		{false, []value.Value{"name", "/x", "source", "/isfile"}, "False Could not guess archive_format from the value of the 'source' argument. Please set this archive_format to one of the following: tar, rar, zip"},
		{false, []value.Value{"name", "/x", "source", "/isfile", "archive_format", "arj"}, "False Invalid archive_format 'arj'. Either set it to a supported value (tar, rar, zip) or remove this argument and the archive format will be guessed based on file extension."},
		{false, []value.Value{"name", "/x", "source", "salt://text.tar"}, "False Unable to list contents of /salt/text.tar. If this is an XZ-compressed tar archive, install XZ Utils to enable listing its contents. If it is compressed using something other than XZ, it may be necessary to specify CLI options to decompress the archive. See the documentation for details. Additional info follows:\n\narchive location:\n    /salt/text.tar\n\nIf the source archive is a tar archive compressed using a compression type not natively supported by the tar command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if Salt is unable to determine the files/directories in the archive, the following workaround(s) would need to be used for this state to proceed (assuming the source file is a valid tar archive):\n\n- 'if_missing' must be set"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "source_hash", "md5=d41d8cd98f00b204e9800998ecf8427e"}, "False salt://pk.tar does not match the desired source_hash d41d8cd98f00b204e9800998ecf8427e"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "user", "nope"}, "False User nope does not exist"},
		{false, []value.Value{"name", "/wrong", "source", "salt://pk.tar"}, "False The below paths (relative to /wrong/) exist, but are the incorrect type (file instead of directory, symlink instead of file, etc.). To proceed with extraction, set 'force' to True. Note that this will remove these paths before extracting.\n\n- pk/one"},
		{false, []value.Value{"name", "/wrong", "source", "salt://pk.tar", "force", true}, "True salt://pk.tar extracted to /wrong/, due to absence of one or more files/dirs. Output was trimmed to False number of lines {'removed': ['/wrong/pk/one'], 'extracted_files': ['pk', 'pk/one', 'pk/inner', 'pk/inner/two']}"},
		{false, []value.Value{"name", "/stray", "source", "salt://pk.tar", "clean", true}, "True salt://pk.tar extracted to /stray/, due to absence of one or more files/dirs. Output was trimmed to False number of lines {'removed': ['/stray/pk/'], 'extracted_files': ['pk', 'pk/one', 'pk/inner', 'pk/inner/two']}"},
		{true, []value.Value{"name", "/out", "source", "/salt/pk.tar", "user", "nobody"}, "None All files in archive are already present. Ownership would be updated on one or more files/directories. {'updated ownership': True}"},
		{false, []value.Value{"name", "/stray", "source", "salt://pk.tar", "overwrite", true, "clean_parent", true}, "True salt://pk.tar extracted to /stray/. Output was trimmed to False number of lines {'removed': 'Directory /stray/ was removed prior to the extraction', 'directories_created': ['/stray/'], 'extracted_files': ['pk', 'pk/one', 'pk/inner', 'pk/inner/two']}"},
		{false, []value.Value{"name", "/stray", "source", "salt://pk.tar", "clean", true, "clean_parent", true}, "False Only one of 'clean' and 'clean_parent' can be set to True"},
		{false, []value.Value{"name", "/etc", "source", "salt://pk.tar", "clean_parent", true}, `False refusing to remove or recursively change "/etc/": /etc is a system directory (force_system_path: True allows it)`},
		{false, []value.Value{"name", "/", "source", "salt://pk.tar", "user", "nobody", "enforce_ownership_on", "/etc"}, `False refusing to remove or recursively change "/etc": it is a system directory (force_system_path: True allows it)`},
		{false, []value.Value{"name", "/dot", "source", "salt://dot.tar"}, "True salt://dot.tar extracted to /dot/, due to absence of one or more files/dirs. Output was trimmed to False number of lines {'directories_created': ['/dot/'], 'extracted_files': ['.', './a', './s', './s/b']}"},
		{false, []value.Value{"name", "/x", "source", "salt://text.zip"}, "False /salt/text.zip is not a ZIP file. Additional info follows:\n\narchive location:\n    /salt/text.zip\n\nThe following workarounds must be used for this state to proceed (assuming the source file is a valid zip archive):\n\n- 'if_missing' must be set"},
		{false, []value.Value{"name", "/x", "source", "salt://text.zip", "options", "-o", "use_cmd_unzip", false}, "False 'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the 'options' argument). Either remove 'use_cmd_unzip', or set it to True."},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "password", "p"}, "False The 'password' argument is only supported for zip archives"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "if_missing", "rel"}, "False Value for 'if_missing' is not an absolute path"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "enforce_ownership_on", "/y"}, "False Value for 'enforce_ownership_on' must be within /x/"},
		{false, []value.Value{"name", "/x", "source", "salt://pk.tar", "if_missing", "/etc", "user", "nope"}, "True Path /etc exists"},
		{false, []value.Value{"name", "/out", "source", "salt://pk.tar", "user", "nobody"}, "True All files in archive are already present {'updated ownership': True}"},
	} {
		if got := r.run(tt.test, tt.kv...); got != tt.want {
			t.Errorf("%d: %v\n got %s\nwant %s", i+1, tt.kv, got, tt.want)
		}
	}
	if r.fake.Text("/stray/pk/stray") != "" || r.fake.Text("/out/pk/inner/two") != "pk/inner/two" {
		t.Error("the files are not as they should be")
	}
}

// TestTrimOutput: what tar(1) prints is trimmed as what brine unpacks itself.
func TestTrimOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fake.OnCommand("tar xv --strip-components=1 -f /salt/pk.tar", host.Output{Stdout: []byte("pk/one\npk/inner/two\n")})
	want := "True /salt/pk.tar extracted to /cut/, due to absence of one or more files/dirs. Output was trimmed to 1 number of lines {'directories_created': ['/cut/'], 'extracted_files': ['pk/one']}"
	if got := r.run(false, "name", "/cut", "source", "/salt/pk.tar", "options", "--strip-components=1", "enforce_toplevel", false, "trim_output", int64(1)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestHashUpdate unpacks an archive with another digest once, and again where
// that failed or was only tried.
func TestHashUpdate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old, changed := pack(t, "pk/", "pk/one"), pack(t, "pk/", "pk/one", "pk/one")
	for i, tt := range []struct {
		archive string
		test    bool
		more    []value.Value
		want    string
	}{
		{old, false, nil, "True /a.tar extracted to /out/, due to absence of one or more files/dirs"},
		{old, false, nil, "True All files in archive are already present"},
		{changed, true, nil, "None Archive /a.tar would be extracted to /out/, due to source_hash update"},
		{changed, false, []value.Value{"clean", true, "clean_parent", true}, "False Only one of 'clean' and 'clean_parent' can be set to True"},
		{changed, false, nil, "True /a.tar extracted to /out/, due to source_hash update"},
		{changed, false, nil, "True All files in archive are already present"},
	} {
		r.fake.PutFile("/a.tar", tt.archive, 0o644)
		sum := fmt.Sprintf("sha256=%x", sha256.Sum256([]byte(tt.archive)))
		kv := append([]value.Value{"name", "/out", "source", "/a.tar", "source_hash", sum, "source_hash_update", true}, tt.more...)
		if got := r.run(tt.test, kv...); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%d: got %s\nwant %s", i+1, got, tt.want)
		}
	}
}

// TestSkipFiles has Salt's answers of skip_files_list_verify: it counts once the
// digest is noted, and only while the archive has that one.
func TestSkipFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old, changed := pack(t, "pk/", "pk/one"), pack(t, "pk/", "pk/one", "pk/two")
	r.fake.PutDir("/out", 0o755)
	const same = "True Archive /a.tar existing source sum is the same as the expected one and skip_files_list_verify argument was set to True. Extraction is not needed"
	for i, tt := range []struct {
		archive string
		test    bool
		update  bool
		want    string
	}{
		{old, false, false, "True /a.tar extracted to /out/, due to absence of one or more files/dirs"},
		{old, false, false, "True All files in archive are already present"},
		{old, false, true, "True All files in archive are already present"},
		{old, false, true, same},
		{old, false, false, same},
		{old, true, false, same},
		{changed, false, true, "True /a.tar extracted to /out/, due to absence of one or more files/dirs"},
		{changed, false, true, same},
	} {
		r.fake.PutFile("/a.tar", tt.archive, 0o644)
		sum := fmt.Sprintf("sha256=%x", sha256.Sum256([]byte(tt.archive)))
		got := r.run(tt.test, "name", "/out", "source", "/a.tar", "source_hash", sum, "source_hash_update", tt.update, "skip_files_list_verify", true)
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%d: got %s\nwant %s", i+1, got, tt.want)
		}
	}
	r.fake.PutDir("/empty", 0o755)
	if got := r.run(false, "name", "/empty", "source", "/a.tar", "skip_files_list_verify", true); !strings.Contains(got, "extracted to /empty/, due to absence") {
		t.Errorf("without a digest: %s", got)
	}
}

func TestTestModeWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := len(r.fake.Writes())
	r.run(true, "name", "/out", "source", "/salt/pk.tar")
	if w := r.fake.Writes(); len(w) > before {
		t.Errorf("wrote %v", w[before:])
	}
}
