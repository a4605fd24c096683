// Package relaytest tells what a relay can read of what passes through it: all bytes of
// its channel as they are, and what it can decrypt, since it is told keys.
package relaytest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"

	"brine/internal/py/value"
)

// magic begins a channel, and header is the size of the head of its frames.
const (
	magic  = "\x00brine wire\x00\r\n"
	header = 9
)

// The frames that matter.
const (
	frameOpen = 2
	frameData = 3
)

// Legible is what a relay can read of the bytes that it got.
type Legible struct {
	Raw       []byte   // all of them
	Dials     []string // addresses
	Files     int      // that it was given
	Decrypted [][]byte // of connections for files, what the controller sent
}

// Read reads what a controller sent to a relay, which begins with a script.
func Read(raw []byte) (*Legible, error) {
	l := &Legible{Raw: raw}
	_, b, ok := bytes.Cut(raw, []byte(magic))
	if !ok {
		return l, nil // no relay was started by it
	}
	shared, data := map[uint32]bool{}, map[uint32][]byte{}
	for len(b) >= header {
		n, kind, id := int(binary.BigEndian.Uint32(b)), b[4], binary.BigEndian.Uint32(b[5:])
		if len(b) < header+n {
			break // it was ended
		}
		p := b[header : header+n]
		b = b[header+n:]
		switch kind {
		case frameOpen:
			method := string(p[2 : 2+int(p[1])])
			head := p[2+len(method):]
			switch method {
			case "relay.dial":
				l.Dials = append(l.Dials, text(head, "addr"))
				shared[id] = bytes.Contains(head, []byte("shared\x01")) // true
			case "relay.put":
				l.Files++
			}
		case frameData:
			if shared[id] {
				data[id] = append(data[id], p...)
			}
		}
	}
	for _, b := range data {
		text, err := decrypt(b)
		if err != nil {
			return nil, err
		}
		l.Decrypted = append(l.Decrypted, text)
	}
	return l, nil
}

// text returns a short text of an encoded mapping: its key, a tag, its length.
func text(head []byte, key string) string {
	_, rest, ok := bytes.Cut(head, []byte(key))
	if !ok || len(rest) < 2 || len(rest) < 2+int(rest[1]) {
		return ""
	}
	return string(rest[2 : 2+int(rest[1])])
}

// decrypt decrypts the messages of a connection for files. In the place of the files,
// which the relay has, there is nothing that means anything.
func decrypt(b []byte) ([]byte, error) {
	var plain, sent []byte
	var stream cipher.Stream
	for len(b) >= 5 {
		kind, n := b[0], int(binary.BigEndian.Uint32(b[1:]))
		if len(b) < 5+n {
			break
		}
		p := b[5 : 5+n]
		b = b[5+n:]
		switch kind {
		case 0:
			sent = append(sent, p...)
		case 1:
			block, err := aes.NewCipher(p[:aes.BlockSize])
			if err != nil {
				return nil, err
			}
			stream = cipher.NewCTR(block, p[aes.BlockSize:])
		case 2:
			sent = append(sent, make([]byte, binary.BigEndian.Uint32(p[16:]))...)
		default:
			return nil, fmt.Errorf("a message of kind %d", kind)
		}
	}
	// A line, then packets: a length, what may be encrypted, and then an
	// authentication code.
	i := bytes.IndexByte(sent, '\n') + 1
	plain, sent = append(plain, sent[:i]...), sent[i:]
	const newKeys = 21
	for encrypted, code := false, 0; len(sent) >= 4; {
		n := int(binary.BigEndian.Uint32(sent))
		if len(sent) < 4+n+code {
			break
		}
		packet := bytes.Clone(sent[4 : 4+n])
		if encrypted && stream != nil {
			stream.XORKeyStream(packet, packet)
		}
		plain, sent = append(plain, packet...), sent[4+n+code:]
		if n > 1 && packet[1] == newKeys {
			encrypted, code = true, 32
		}
	}
	return plain, nil
}

// Find returns the encodings in which a text stands in what is legible.
func (l *Legible) Find(text string) (found []string) {
	for name, x := range encodings(text) {
		for _, b := range append(l.Decrypted, l.Raw) {
			if bytes.Contains(b, []byte(x)) {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

// encodings are the ways in which a text may stand somewhere.
func encodings(text string) map[string]string {
	var percent strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&percent, "%%%02X", text[i])
	}
	var little, big []byte
	for _, u := range utf16.Encode([]rune(text)) {
		little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
	}
	reversed := []byte(text)
	for i := range len(reversed) / 2 {
		reversed[i], reversed[len(reversed)-1-i] = reversed[len(reversed)-1-i], reversed[i]
	}
	out := map[string]string{
		"plain": text, "hex": hex.EncodeToString([]byte(text)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(text))),
		"quoted": strings.Trim(fmt.Sprintf("%+q", text), `"`), "repr": strings.Trim(value.Repr(text), "'"),
		"url": url.QueryEscape(text), "percent": percent.String(), "UTF-16LE": string(little), "UTF-16BE": string(big), "reversed": string(reversed),
	}
	for name, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
		for at := range 3 { // where it stands in the whole
			b := e.EncodeToString([]byte("\x00\x00\x00"[:at] + text))
			from := []int{0, 2, 3}[at]
			out[fmt.Sprint(name, at)] = b[from : len(b)-1] // the last one depends on what follows
		}
	}
	return out
}
