package sshexec

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"brine/internal/core/version"
)

// embed is what a release build has in it.
func embed(t *testing.T, platform string, text []byte, more string) fstest.MapFS {
	t.Helper()
	var z bytes.Buffer
	if err := Compress(&z, bytes.NewReader(text), zstd.SpeedFastest); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	line := fmt.Sprintf("%s %s %d %s\n", platform, hex.EncodeToString(sum[:]), len(text), version.Number())
	return fstest.MapFS{"SUMS": {Data: []byte(line + more)}, "brine-" + platform + ".zst": {Data: z.Bytes()}}
}

func writeExe(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	exe := filepath.Join(t.TempDir(), "brine")
	old := bytes.Replace(program(1), []byte(version.Number()), []byte("0.0.9"), 1)
	writeExe(t, exe, program(10))
	writeExe(t, filepath.Join(dir, "brine-linux-arm"), program(20))
	writeExe(t, filepath.Join(dir, "brine-linux-386"), old)
	writeExe(t, filepath.Join(dir, "brine-linux-s390x"), []byte("no agent"))
	writeExe(t, filepath.Join(dir, "brine-linux-s390x.zst"), nil)
	writeExe(t, filepath.Join(dir, "notes"), nil)
	emb := embed(t, "linux-386", program(30), "nonsense\nlinux-riscv64 abc 1 "+version.Number()+"\n")
	for range 2 { // with hashes that are kept, too
		m := &Images{Exe: exe, Dir: dir, Embedded: emb, Cache: cache}
		var got []string
		for _, i := range m.List(true) {
			got = append(got, fmt.Sprintf("%s %s %d used=%v err=%v", i.Platform, strings.ReplaceAll(i.From, dir, "DIR"), i.Size, i.Used, i.Err))
		}
		want := []string{
			fmt.Sprintf("linux/386 DIR/brine-linux-386 %d used=false err=%s/brine-linux-386 is an agent of brine 0.0.9, and this is brine %s", len(old), dir, version.Number()),
			fmt.Sprintf("linux/386 embedded %d used=true err=<nil>", len(program(30))),
			fmt.Sprintf("linux/arm DIR/brine-linux-arm %d used=true err=<nil>", len(program(20))),
			"linux/riscv64 embedded 1 used=false err=its line in SUMS is invalid",
			fmt.Sprintf("linux/s390x DIR/brine-linux-s390x 8 used=false err=%s/brine-linux-s390x is not an agent of brine", dir),
		}
		at := 0
		for i, w := range want {
			for at < len(got) && strings.HasPrefix(got[at], PlatformName(ownPlatform)+" this program") {
				at++
			}
			if at >= len(got) || got[at] != w {
				t.Errorf("%d: %q, want %q", i, got[min(at, len(got)-1)], w)
			}
			at++
		}
	}
	// A file that is written again is read again.
	writeExe(t, filepath.Join(dir, "brine-linux-386"), program(40))
	m := &Images{Dir: dir, Embedded: emb, Cache: cache}
	if i, err := m.lookup("linux-386"); err != nil || i.fsys != nil || i.size != int64(len(program(40))) {
		t.Errorf("%+v, %v", i, err)
	}
	// In a directory that was asked for, an old one is an error.
	writeExe(t, filepath.Join(dir, "brine-linux-386"), old)
	m = &Images{Dir: dir, Named: true, Embedded: emb}
	if i, err := m.lookup("linux-386"); i != nil || err == nil || !strings.Contains(err.Error(), "brine 0.0.9") {
		t.Errorf("%+v, %v", i, err)
	}
	// What is embedded is unpacked, or handed on as it is.
	m = &Images{Embedded: emb}
	i, err := m.lookup("linux-386")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"cat", "zstd"} {
		r, size, _, err := m.stream(i, by)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r)
		if by == "zstd" && !bytes.Equal(b, emb["brine-linux-386.zst"].Data) || by == "cat" && !bytes.Equal(b, program(30)) || size != int64(len(b)) {
			t.Errorf("%s: %d bytes, said to be %d", by, len(b), size)
		}
	}
	// One that was tampered with is found out.
	emb["brine-linux-386.zst"] = embed(t, "linux-386", program(31), "")["brine-linux-386.zst"]
	for _, i := range (&Images{Embedded: emb}).List(true) {
		if i.Platform == "linux/386" && (i.Err == nil || !strings.Contains(i.Err.Error(), "is not the one of its hash")) {
			t.Errorf("%+v", i)
		}
	}
}

// Agents that a package installed are found after those in the program; a directory
// that does not exist, or has no list, is passed over.
func TestSharedAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, f := range embed(t, "linux-386", program(40), "") {
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := &Images{Embedded: embed(t, "linux-arm64", program(41), ""), Shared: []string{filepath.Join(dir, "none"), t.TempDir(), dir}}
	l := m.List(true)
	if len(l) != 2 || l[0].Platform != "linux/386" || l[0].From != dir || l[0].Err != nil || !l[0].Used || l[1].From != "embedded" {
		t.Errorf("%+v", l)
	}
	both := &Images{Embedded: embed(t, "linux-386", program(40), ""), Shared: []string{dir}}
	if l := both.List(false); len(l) != 2 || !l[0].Used || l[0].From != "embedded" || l[1].Used {
		t.Errorf("%+v", l)
	}
}

// TestPacked: an agent is packed once, kept for other runs, and unpacks to what
// it was.
func TestPacked(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	writeExe(t, filepath.Join(dir, "brine-linux-386"), program(70))
	for _, emb := range []fstest.MapFS{nil, embed(t, "linux-386", program(70), "")} {
		m := &Images{Cache: cache}
		if emb == nil {
			m.Dir = dir
		} else {
			m.Embedded = emb
		}
		i, err := m.lookup("linux-386")
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range m.ways(i, strings.Join(packers, ",")) {
			r, _, _, err := m.stream(i, by)
			if err != nil {
				t.Fatal(err)
			}
			var un io.Reader = r
			switch by {
			case "gzip":
				un, err = gzip.NewReader(r)
			case "zstd":
				un, err = zstd.NewReader(r)
			}
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(un); err != nil || !bytes.Equal(b, program(70)) {
				t.Errorf("%s: %d bytes, %v", by, len(b), err)
			}
		}
	}
	kept, _ := filepath.Glob(filepath.Join(cache, "agent-*.*z*"))
	if len(kept) != 2 {
		t.Fatalf("kept: %v", kept)
	}
	for _, k := range kept {
		if err := os.WriteFile(k, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &Images{Dir: dir, Cache: cache}
	i, _ := m.lookup("linux-386")
	for _, by := range []string{"gzip", "zstd"} {
		r, _, _, err := m.stream(i, by)
		if b, _ := io.ReadAll(r); err != nil || string(b) != "kept" {
			t.Errorf("%s was packed again: %d bytes, %v", by, len(b), err)
		}
	}
}

// TestPackedByXZ: an agent that xz compressed is sent so to hosts that have xz,
// and is unpacked for others.
func TestPackedByXZ(t *testing.T) {
	t.Parallel()
	exe, err := exec.LookPath("xz")
	if err != nil {
		t.Skip(err)
	}
	const all = "cat,gzip,zstd,xz"
	for _, platform := range []string{"linux-amd64", "linux-arm", "linux-arm64"} {
		dir, cache := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "brine-"+platform)
		writeExe(t, path, program(70))
		argv := append(XZ(platform), path)
		if out, err := exec.Command(exe, argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", argv, err, out)
		}
		packed, err := os.ReadFile(path + ".xz")
		if err != nil {
			t.Fatal(err)
		}
		emb := embed(t, platform, program(70), "")
		delete(emb, "brine-"+platform+".zst")
		emb["brine-"+platform+".xz"] = &fstest.MapFile{Data: packed}
		for _, m := range []*Images{{Dir: dir, Cache: cache}, {Embedded: emb, Cache: cache}} {
			i, err := m.lookup(platform)
			if err != nil {
				t.Fatal(err)
			}
			if m.Embedded == nil {
				if got := strings.Join(m.ways(i, all), ","); got != "zstd,gzip,cat" {
					t.Errorf("%s is sent by %s before xz compressed it", platform, got)
				}
				m.KeepXZ(i.hash, packed)
			}
			if got := strings.Join(m.ways(i, all), ","); got != "xz,zstd,gzip,cat" {
				t.Errorf("%s is sent by %s", platform, got)
			}
			if got := strings.Join(m.ways(i, "gzip,zstd"), ","); got != "zstd,gzip" {
				t.Errorf("%s is sent by %s to a host without xz", platform, got)
			}
			for by, want := range map[string][]byte{"xz": packed, "cat": program(70)} {
				r, size, _, err := m.stream(i, by)
				if err != nil {
					t.Fatal(err)
				}
				if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, want) || size != int64(len(b)) {
					t.Errorf("%s by %s: %d bytes, %v", platform, by, len(b), err)
				}
			}
		}
		for _, i := range (&Images{Embedded: emb}).List(true) {
			if i.Err != nil {
				t.Errorf("%+v", i)
			}
		}
		emb["brine-"+platform+".xz"] = &fstest.MapFile{Data: packed[:len(packed)/2]}
		if l := (&Images{Embedded: emb}).List(true); len(l) != 1 || l[0].Err == nil {
			t.Errorf("half of it: %+v", l)
		}
	}
}

func TestPlatformNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"linux-amd64": "linux/amd64", "linux-arm": "linux/arm", "linux-armv6": "linux/arm/v6", "freebsd-arm64": "freebsd/arm64"} {
		if got := PlatformName(in); got != want {
			t.Errorf("PlatformName(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{"linux-amd64": true, "linux": false, "linux-amd64.zst": false, "a-b-c": false, "-x": false, "x-": false} {
		if got := isPlatform(in); got != want {
			t.Errorf("isPlatform(%q) = %v", in, got)
		}
	}
}
