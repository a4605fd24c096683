package gitfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/printable"
)

// What one remote may send before its pack.
const (
	maxRefs    = 200_000
	maxRefName = 1000
)

// errFlush ends a part of the conversation.
var errFlush = errors.New("flush")

// readPkt reads one line of git's protocol into buf; errFlush is its end.
func readPkt(r io.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer is not git's protocol: %q", head[:])
	case n == 0:
		return nil, errFlush
	case n < 4 || int(n)-4 > cap(buf):
		return nil, fmt.Errorf("a line of %d bytes is not git's protocol", n)
	}
	buf = buf[:n-4]
	_, err = io.ReadFull(r, buf)
	return buf, err
}

func pkt(format string, args ...any) string {
	s := fmt.Sprintf(format, args...)
	return fmt.Sprintf("%04x%s", len(s)+4, s)
}

// A refAd is what a remote says of its refs.
type refAd struct {
	refs        map[string]string // by name, what it names
	caps        []string
	invalidRefs int // refs whose names git does not allow
}

// readRefs reads what a remote advertises. Over HTTP a line with the service
// comes first.
func readRefs(r *bufio.Reader) (*refAd, error) {
	ad := &refAd{refs: map[string]string{}}
	buf := make([]byte, 0, 65536)
	for first := true; ; {
		line, err := readPkt(r, buf)
		if errors.Is(err, errFlush) {
			if first {
				first = false
				continue // after the service
			}
			return ad, nil
		}
		if err != nil {
			return nil, connectionError(err)
		}
		text := strings.TrimSuffix(string(line), "\n")
		if strings.HasPrefix(text, "# service=") {
			continue
		}
		if msg, ok := strings.CutPrefix(text, "ERR "); ok {
			return nil, fmt.Errorf("the remote says: %s", printable.Line(msg))
		}
		first = false
		text, caps, hasCaps := strings.Cut(text, "\x00")
		if hasCaps {
			ad.caps = strings.Fields(caps)
		}
		hash, name, ok := strings.Cut(text, " ")
		if !ok || len(hash) != 40 || !isHex(hash) {
			if slices.Contains(ad.caps, "object-format=sha256") {
				return nil, errors.New("repositories with SHA-256 are not supported")
			}
			return nil, errors.New("the answer is not git's protocol")
		}
		switch {
		case name == "capabilities^{}", name == "HEAD", strings.HasSuffix(name, "^{}"):
		case !validRef(name):
			ad.invalidRefs++
		case len(ad.refs) >= maxRefs:
			return nil, fmt.Errorf("the remote has more than %d refs", maxRefs)
		default:
			ad.refs[name] = strings.ToLower(hash)
		}
	}
}

func connectionError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the remote ended the connection")
	}
	return err
}

// request asks for wants; the remote need not send what haves lead to.
func request(ad *refAd, wants, haves []string) []byte {
	var b bytes.Buffer
	caps := ""
	for _, c := range []string{"side-band-64k", "ofs-delta", "no-progress"} {
		if slices.Contains(ad.caps, c) {
			caps += " " + c
		}
	}
	for i, w := range wants {
		if i > 0 {
			caps = ""
		}
		b.WriteString(pkt("want %s%s\n", w, caps))
	}
	b.WriteString("0000")
	for _, h := range haves {
		b.WriteString(pkt("have %s\n", h))
	}
	b.WriteString(pkt("done\n"))
	return b.Bytes()
}

// packIn returns the pack of an answer to a request.
func packIn(ad *refAd, r *bufio.Reader) (io.Reader, error) {
	buf := make([]byte, 0, 65536)
	for {
		head, err := r.Peek(4)
		if err != nil {
			return nil, connectionError(err)
		}
		if string(head) == "PACK" {
			return r, nil
		}
		// The first packet of the pack is left to the reader of packets.
		five, err := r.Peek(5)
		if err != nil {
			return nil, connectionError(err)
		}
		if five[4] <= 3 && slices.Contains(ad.caps, "side-band-64k") {
			return &sideband{r: r, buf: buf}, nil
		}
		line, err := readPkt(r, buf)
		if err != nil {
			return nil, connectionError(err)
		}
		if msg, ok := strings.CutPrefix(string(line), "ERR "); ok {
			return nil, fmt.Errorf("the remote says: %s", printable.Line(strings.TrimSpace(msg)))
		}
		if !bytes.HasPrefix(line, []byte("NAK")) && !bytes.HasPrefix(line, []byte("ACK ")) {
			return nil, errors.New("the answer is not git's protocol")
		}
	}
}

// A sideband takes the pack out of packets.
type sideband struct {
	r    *bufio.Reader
	buf  []byte
	rest []byte
	err  error
}

func (s *sideband) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		line, err := readPkt(s.r, s.buf)
		switch {
		case errors.Is(err, errFlush):
			s.err = io.EOF
		case err != nil:
			s.err = connectionError(err)
		case len(line) == 0:
		case line[0] == 1:
			s.rest = line[1:]
		case line[0] == 3:
			s.err = fmt.Errorf("the remote says: %s", printable.Line(strings.TrimSpace(string(line[1:]))))
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
