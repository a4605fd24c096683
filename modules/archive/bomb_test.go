package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/testkit/archivetest"
)

// greedy returns an archive of a few bytes, packed by xz, that says that 4 GiB are needed
// to unpack it.
func greedy(t *testing.T) []byte {
	t.Helper()
	xz, err := exec.LookPath("xz")
	if err != nil {
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "xz") {
			t.Fatal(err)
		}
		t.Skip("there is no xz")
	}
	z := exec.CommandContext(t.Context(), xz, "-T1", "-0", "--stdout")
	z.Stdin = bytes.NewReader(archivetest.Tar(t, archivetest.Entry{Name: "f", Text: "x"}))
	b, err := z.Output()
	// The header of the block is behind the 12 bytes of the stream's: its length, flags,
	// the filter LZMA2, one byte of properties, and a checksum at the end.
	if err != nil || len(b) < 24 || b[12] != 2 || b[14] != 0x21 {
		t.Fatalf("xz wrote %x, %v", b[:min(len(b), 24)], err)
	}
	b[16] = 40 // a dictionary of 4 GiB
	binary.LittleEndian.PutUint32(b[20:], crc32.ChecksumIEEE(b[12:20]))
	return b
}

// TestHostileDictionary: what a small archive says that it needs is not taken.
func TestHostileDictionary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.tar.xz")
	if err := os.WriteFile(path, greedy(t), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Each(t.Context(), host.NewLocal(), path, "tar", Limits{Bytes: 1 << 20, Members: 10}, func(Member, io.Reader) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "more than 1 GiB of memory") {
		t.Errorf("%v", err)
	}
}

// TestHostileDirectory: the members of a zip file are counted before its directory is
// read, also where only the flags of its members are looked at.
func TestHostileDirectory(t *testing.T) {
	t.Parallel()
	many := make([]archivetest.Entry, 50)
	for i := range many {
		many[i].Name = strings.Repeat("d", i+1)
	}
	b := archivetest.Zip(t, many...)
	if _, err := readZip(bytes.NewReader(b), Limits{Members: 49}); err == nil || !strings.Contains(err.Error(), "more than 49 members") {
		t.Errorf("%v", err)
	}
	if z, err := readZip(bytes.NewReader(b), Limits{Members: 50}); err != nil || len(z.File) != 50 {
		t.Errorf("%v", err)
	}
}
