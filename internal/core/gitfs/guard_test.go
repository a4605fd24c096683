package gitfs

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A rawPack is a pack that is made by hand.
type rawPack struct {
	bytes.Buffer
	n uint32
}

func uvarint(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// add adds an object that says that it has size bytes.
func (p *rawPack) add(kind byte, size uint64, before, data []byte) {
	p.n++
	b := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	p.WriteByte(b)
	p.Write(before)
	p.Write(data)
}

// object adds an ordinary object and returns its hash.
func (p *rawPack) object(kind byte, name string, data []byte) []byte {
	p.add(kind, uint64(len(data)), nil, deflated(data))
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", name, len(data)), data...))
	return sum[:]
}

// delta adds a delta of base that says that it makes an object of made bytes.
func (p *rawPack) delta(base []byte, from, made uint64, ops []byte) {
	d := append(append(uvarint(from), uvarint(made)...), ops...)
	p.add(refDelta, uint64(len(d)), base, deflated(d))
}

func (p *rawPack) whole(n uint32) []byte {
	out := binary.BigEndian.AppendUint32(append([]byte("PACK"), 0, 0, 0, 2), n)
	out = append(out, p.Bytes()...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// copies are ops of a delta that copy the first 16 MB again and again.
func copies(n int) []byte {
	return bytes.Repeat([]byte{0xf0, 0xff, 0xff, 0xff}, n) // offset 0, size 0xffffff
}

// hostilePacks are packs of a few kilobytes that stand for gigabytes.
func hostilePacks() map[string][]byte {
	zeros := make([]byte, 0xffffff)
	out := map[string][]byte{}
	var p rawPack
	base := p.object(3, "blob", zeros)
	p.delta(base, uint64(len(zeros)), 0xffffff*64, copies(64)) // 1 GB
	out["a large delta"] = p.whole(p.n)

	p = rawPack{}
	base = p.object(3, "blob", zeros)
	for i := range 1200 { // 30 x 16 MB each: 590 GB
		p.delta(base, uint64(len(zeros)), 0xffffff*30, append(copies(30), 1, byte(i)))
	}
	out["many deltas"] = p.whole(p.n)

	p = rawPack{}
	p.add(3, 1<<40, nil, deflated(zeros))
	out["a size that is not so"] = p.whole(p.n)

	p = rawPack{}
	p.add(3, 5, nil, deflated(zeros))
	out["longer than it says"] = p.whole(p.n)
	out["many objects"] = (&rawPack{}).whole(1 << 30)
	out["cut off"] = out["longer than it says"][:20]
	return out
}

// TestHostilePacks fetches packs of a few kilobytes that stand for gigabytes from a
// server.
func TestHostilePacks(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"a large delta":         "a delta makes an object of 1073741760 bytes",
		"many deltas":           "its objects have more than",
		"a size that is not so": "its objects have more than",
		"longer than it says":   "an object is not as long as it says",
		"many objects":          "not a pack, or one of more than",
		"cut off":               "receive the objects: ",
	}
	for name, pack := range hostilePacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const commit = "1111111111111111111111111111111111111111"
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if strings.HasSuffix(req.URL.Path, "/info/refs") {
					w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
					_, _ = io.WriteString(w, pkt("# service=git-upload-pack\n")+"0000"+pkt("%s refs/heads/main\x00ofs-delta\n", commit)+"0000")
					return
				}
				_, _ = io.WriteString(w, pkt("NAK\n"))
				_, _ = w.Write(pack)
			}))
			defer srv.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := newStore(t, t.TempDir())
			began := time.Now()
			got := read(t, f.server(t, "gitfs_base: main\ngitfs_remotes: ['"+srv.URL+"/x.git']"), "base", "a")
			runtime.ReadMemStats(&after)
			if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want[name]) {
				t.Errorf("a pack of %d bytes: %.300q, want an error with %q", len(pack), got, want[name])
			}
			t.Logf("%d bytes: %v, %d MB allocated", len(pack), time.Since(began), (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

// TestLargeBases looks through packs with deltas of an object that is too large for
// memory.
func TestLargeBases(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 1000)
	delta := append(append(uvarint(1000), uvarint(5)...), 0x90, 5)
	for _, named := range []bool{false, true} {
		var p rawPack
		p.object(3, "blob", []byte("small"))
		start := p.Len()
		hash := p.object(3, "blob", big)
		if named {
			p.add(refDelta, uint64(len(delta)), hash, deflated(delta))
		} else {
			back := p.Len() - start
			if back > 127 {
				t.Fatal(back)
			}
			p.add(ofsDelta, uint64(len(delta)), []byte{byte(back)}, deflated(delta))
		}
		for most, want := range map[uint64]string{999: "an object of more than 999 bytes is the base of a delta", 1000: "<nil>"} {
			s := &packScanner{most: most}
			s.in = bufio.NewReader(counted{bytes.NewReader(p.whole(p.n)), &s.read})
			if got := fmt.Sprint(s.scan()); got != want {
				t.Errorf("bases by hash %v, up to %d bytes: %s, want %s", named, most, got, want)
			}
		}
	}
}

// FuzzPack looks through any packs: what it lets through is bounded, and it ends.
func FuzzPack(f *testing.F) {
	var p rawPack
	base := p.object(3, "blob", []byte("hello, hello, hello"))
	p.delta(base, 19, 5, []byte{0x90, 5})
	f.Add(p.whole(p.n))
	for _, pack := range hostilePacks() {
		if len(pack) < 1<<16 {
			f.Add(pack)
		}
	}
	f.Fuzz(func(t *testing.T, pack []byte) {
		_ = checked(bytes.NewReader(pack), io.Discard)
	})
}
