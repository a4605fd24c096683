package sshexec

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"brine/sshexec/relay"
)

// A tap is the connection below the SSH of a target to which a relay adds a file
// that it has: see sshexec/relay. It follows the key exchange, so that it knows by
// which key stream the library encrypts what goes to the target, finds the file in
// it, and has the relay send these bytes. Whatever it does not understand it passes
// on as it is.
type tap struct {
	*relay.Shared
	file []byte // nil: from is the file
	sum  string
	from io.ReaderAt
	size int64

	// kexed says that the key exchange is over: from then on a read does not wait
	// for a write.
	kexed atomic.Bool

	mu     sync.Mutex
	off    bool // everything passes as it is from now on
	out    half
	in     half
	random [][]byte // what the key exchange may have taken for its secret

	stream cipher.Stream // of what goes out; nil: not yet encrypted
	at     uint64        // place in it
	next   int           // place in the file that comes next
	misses int
}

// What the tap can follow; a server that has none of it is sent the file as others.
const (
	tapKex    = ssh.KeyExchangeCurve25519
	tapCipher = ssh.CipherAES128CTR
	tapMAC    = ssh.HMACSHA256ETM
)

const (
	tapTag = sha256.Size // behind each packet
	// A packet has at least so much of a file that it is worth a message.
	tapLeast = 1 << 10
	// maxMisses is how often a file is looked for where it does not go on.
	maxMisses = 8
	// maxTapPacket is the longest packet of SSH that is waited for.
	maxTapPacket = 256 << 10
)

// Messages of the key exchange.
const (
	msgKexInit   = 20
	msgNewKeys   = 21
	msgKexECDH   = 30
	msgKexAnswer = 31
	msgData      = 94
)

// A half is what passed in one direction before it was encrypted.
type half struct {
	buf     []byte
	version []byte
	init    []byte
	kex     []byte
	done    bool // new keys are used
}

// take reads on, and leaves in buf what is encrypted or not complete. It reports
// whether it understood.
func (h *half) take(b []byte) bool {
	h.buf = append(h.buf, b...)
	for !h.done {
		if h.version == nil {
			line, rest, ok := bytes.Cut(h.buf, []byte("\n"))
			if !ok {
				return len(h.buf) < maxTapPacket
			}
			h.buf = rest
			if bytes.HasPrefix(line, []byte("SSH-")) {
				h.version = bytes.Clone(bytes.TrimSuffix(line, []byte("\r")))
			}
			continue
		}
		if len(h.buf) < 5 {
			return true
		}
		n := int(binary.BigEndian.Uint32(h.buf))
		pad := int(h.buf[4])
		if n > maxTapPacket || n < pad+2 {
			return false
		}
		if len(h.buf) < 4+n {
			return true
		}
		payload := h.buf[5 : 4+n-pad]
		switch payload[0] {
		case msgKexInit:
			h.init = bytes.Clone(payload)
		case msgKexECDH, msgKexAnswer:
			h.kex = bytes.Clone(payload[1:])
		case msgNewKeys:
			h.done = true
		}
		h.buf = h.buf[4+n:]
	}
	return true
}

// Rand returns the source of random bytes for the connection: the system's, of
// which the key exchange takes its secret.
func (t *tap) Rand() randomly { return randomly{t} }

type randomly struct{ t *tap }

func (r randomly) Read(b []byte) (int, error) {
	n, err := rand.Read(b)
	t := r.t
	if n != 32 || t.kexed.Load() {
		return n, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.random = append(t.random, bytes.Clone(b))
	return n, err
}

// Read reads what comes from the target.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Shared.Read(b)
	if n <= 0 || t.kexed.Load() {
		return n, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.in.done && !t.in.take(b[:n]) {
		t.off = true
	}
	return n, err
}

// Write sends to the target, the file by the relay.
func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off {
		return t.Shared.Write(b)
	}
	if !t.out.done {
		known := t.out.take(b)
		if known && !t.out.done {
			return t.Shared.Write(b)
		}
		t.kexed.Store(true)
		// What is encrypted already stays in buf.
		plain := len(b) - len(t.out.buf)
		if !known || plain < 0 || !t.derive() {
			t.off, t.random = true, nil
			return t.Shared.Write(b)
		}
		if _, err := t.Shared.Write(b[:plain]); err != nil {
			return 0, err
		}
		return len(b), t.packets()
	}
	t.out.buf = append(t.out.buf, b...)
	return len(b), t.packets()
}

// packets passes on the packets that are complete.
func (t *tap) packets() error {
	for !t.off && len(t.out.buf) >= 4 {
		n := int(binary.BigEndian.Uint32(t.out.buf))
		if n < 2 || n > maxTapPacket {
			t.off = true
			break
		}
		if len(t.out.buf) < 4+n+tapTag {
			return nil
		}
		if err := t.packet(t.out.buf[:4+n+tapTag]); err != nil {
			return err
		}
		t.out.buf = t.out.buf[4+n+tapTag:]
	}
	if !t.off {
		return nil
	}
	rest := t.out.buf
	t.out.buf = nil
	_, err := t.Shared.Write(rest)
	return err
}

// packet passes a packet on: its length, as it is; padding length, payload and
// padding, encrypted; the tag.
func (t *tap) packet(p []byte) error {
	plain := make([]byte, len(p)-4-tapTag)
	t.stream.XORKeyStream(plain, p[4:len(p)-tapTag])
	begin := t.at
	t.at += uint64(len(plain))
	end := len(plain) - int(plain[0])
	if end < 2 {
		t.off = true
		_, err := t.Shared.Write(p)
		return err
	}
	if plain[1] == msgKexInit {
		t.off = true // what follows has other keys
	}
	const head = 1 + 9 // type, channel and length
	if plain[1] != msgData || end <= head {
		_, err := t.Shared.Write(p)
		return err
	}
	data := plain[head:end]
	from := t.find(data)
	if from >= 0 {
		t.next = from + len(data)
	}
	if from < 0 || len(data) < tapLeast {
		_, err := t.Shared.Write(p)
		return err
	}
	if _, err := t.Shared.Write(p[:4+head]); err != nil {
		return err
	}
	if err := t.WriteFile(t.sum, from, len(data), begin+head); err != nil {
		return err
	}
	_, err := t.Shared.Write(p[4+end:])
	return err
}

// carry has the tap add another file from now on, which is sent from its beginning.
func (t *tap) carry(sum string, from io.ReaderAt, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.file, t.sum, t.from, t.size, t.next = nil, sum, from, size, 0
}

// follows reports whether data is what comes next in the file.
func (t *tap) follows(data []byte) bool {
	if t.from == nil {
		return bytes.HasPrefix(t.file[min(t.next, len(t.file)):], data)
	}
	if int64(len(data)) > t.size-int64(t.next) {
		return false
	}
	b := make([]byte, len(data))
	_, err := t.from.ReadAt(b, int64(t.next))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(b, data)
}

// find returns where in the file data stands; -1 is nowhere.
func (t *tap) find(data []byte) int {
	if t.follows(data) {
		return t.next
	}
	if t.from != nil || len(data) < tapLeast || t.misses >= maxMisses {
		return -1
	}
	t.misses++
	return bytes.Index(t.file, data)
}

// derive works out the key stream of what goes out, and tells it to the relay.
// RFC 4253, 7.2 and 8; RFC 5656, 4; RFC 8731.
func (t *tap) derive() bool {
	defer func() { t.random, t.in.buf = nil, nil }()
	mine, rest, ok := cutString(t.out.kex)
	if !ok || len(rest) > 0 {
		return false
	}
	hostKey, rest, ok := cutString(t.in.kex)
	if !ok {
		return false
	}
	theirs, _, ok := cutString(rest)
	if !ok {
		return false
	}
	public, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(t.random, func(b []byte) bool {
		k, err := ecdh.X25519().NewPrivateKey(b)
		return err == nil && bytes.Equal(k.PublicKey().Bytes(), mine)
	})
	if i < 0 {
		return false
	}
	private, err := ecdh.X25519().NewPrivateKey(t.random[i])
	if err != nil {
		return false
	}
	secret, err := private.ECDH(public)
	if err != nil {
		return false
	}
	k := ssh.Marshal(struct{ K *big.Int }{new(big.Int).SetBytes(secret)})
	var b []byte
	for _, s := range [][]byte{t.out.version, t.in.version, t.out.init, t.in.init, hostKey, mine, theirs} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	exchange := sha256.Sum256(append(b, k...))
	derived := func(letter byte) []byte {
		h := sha256.Sum256(slices.Concat(k, exchange[:], []byte{letter}, exchange[:]))
		return h[:aes.BlockSize]
	}
	iv, key := derived('A'), derived('C')
	block, err := aes.NewCipher(key)
	if err != nil {
		return false
	}
	t.stream = cipher.NewCTR(block, iv)
	return t.Key(key, iv) == nil
}

// cutString cuts a string of SSH off.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}
