package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of idempotency keys.
const (
	keyLife = 24 * time.Hour
	maxKeys = 10000
	maxKey  = 255 // characters
)

// keyPrefix begins [kept.Spec].Once of a run that a request with a key has started: a
// digest of who sent it and of the key, and behind a dot one of the request.
const keyPrefix = "key:"

func isKey(once string) bool { return strings.HasPrefix(once, keyPrefix) }

// keyOf is the part of [kept.Spec].Once that requests with the same key have in common.
func keyOf(once string) string {
	key, _, _ := strings.Cut(once, ".")
	return key
}

// errKeyReused says that a key belongs to another request.
var errKeyReused = &apiError{kind: keyReused, detail: "A request with another path or body had this key.", hint: "Take a new key for each thing that is to run."}

// keyHeader has the idempotency key of a request.
const keyHeader = "Idempotency-Key"

// replayedHeader says that the answer is that of an earlier request with the same key.
const replayedHeader = "Idempotency-Replayed"

// keys are the idempotency keys that requests had, which started a run: who sends one
// again gets that run.
type keys struct {
	now func() time.Time

	mu  sync.Mutex
	all map[string]*heldKey // by token and key
}

func newKeys(now func() time.Time) *keys { return &keys{now: now, all: map[string]*heldKey{}} }

// A heldKey is a key that a request has. Others with the same wait.
type heldKey struct {
	mu     sync.Mutex
	at     time.Time
	digest [sha256.Size]byte // of the request
	run    string            // that was started; "": none was
	once   string            // what keeps the run from being started again, by another server too
}

// hold returns a key for one request, until it is released.
func (k *keys) hold(name string) *heldKey {
	k.mu.Lock()
	k.forget()
	h := k.all[name]
	if h == nil {
		sum := sha256.Sum256([]byte(name))
		h = &heldKey{at: k.now(), once: keyPrefix + hex.EncodeToString(sum[:])}
		k.all[name] = h
	}
	k.mu.Unlock()
	h.mu.Lock()
	return h
}

// forget forgets keys that are too old; where there are too many all the same, the
// oldest one.
func (k *keys) forget() {
	oldest := ""
	for name, h := range k.all {
		if k.now().Sub(h.at) > keyLife {
			delete(k.all, name)
			continue
		}
		if oldest == "" || h.at.Before(k.all[oldest].at) {
			oldest = name
		}
	}
	if len(k.all) >= maxKeys {
		delete(k.all, oldest)
	}
}

// release lets others have the key; nil is none.
func (h *heldKey) release() {
	if h != nil {
		h.mu.Unlock()
	}
}

// holdKey takes the idempotency key of a request, and answers the request if an earlier
// one with this key has started a run, or if the key cannot be taken.
func (s *Server) holdKey(x route, c *apiCall) (answered bool) {
	given := c.r.Header.Values(keyHeader)
	if !x.api.starts || len(given) == 0 {
		return false
	}
	key := given[0]
	if len(given) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		writeProblem(c.w, &apiError{kind: badKey, detail: keyHeader + " is one header with 1 to 255 printable ASCII characters."})
		return true
	}
	digest := sha256.Sum256([]byte(c.r.Method + " " + c.r.URL.Path + "\n" + string(c.raw)))
	c.key = s.keys.hold(c.v.name + "\n" + key)
	if c.key.run == "" {
		c.key.digest, c.key.once = digest, keyOf(c.key.once)+"."+hex.EncodeToString(digest[:])
		return false
	}
	defer c.key.release()
	s.replay(x, c, digest)
	return true
}

// replay answers a request whose key has started a run.
func (s *Server) replay(x route, c *apiCall, digest [sha256.Size]byte) {
	if why := x.refuses(s, c.r, c.v); why != nil {
		s.fault(c.w, c.r, why)
		return
	}
	if c.key.digest != digest {
		writeProblem(c.w, errKeyReused)
		return
	}
	found, err := s.runs.find(c.r.Context(), c.key.run)
	if err != nil {
		writeProblem(c.w, &apiError{kind: conflict, detail: "The run that this key has started is not kept any more.", hint: "Its record is among the jobs."})
		return
	}
	c.w.Header().Set(replayedHeader, "true")
	writeJSON(c.w, "application/json", http.StatusCreated, c.started(found))
}
