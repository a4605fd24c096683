// Package s3test is a service with the API of S3, as far as its buckets are read.
package s3test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Server has buckets. Its keys are "anna" and "secret"; signatures are not checked, but that
// there is one for the key.
type Server struct {
	Host string // for service_url, by HTTP and path style
	// Page is how many objects a list has.
	Page int
	// Answer replaces the answer to a request; it returns false where it does not.
	Answer func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	buckets map[string]map[string]string
	asked   []string
}

// New starts a server for the time of a test.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{Page: 1000, buckets: map[string]map[string]string{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.Host = strings.TrimPrefix(h.URL, "http://")
	return s
}

// Put sets an object, and makes its bucket.
func (s *Server) Put(bucket, key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[bucket] == nil {
		s.buckets[bucket] = map[string]string{}
	}
	s.buckets[bucket][key] = text
}

// Remove removes an object.
func (s *Server) Remove(bucket, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets[bucket], key)
}

// Asked returns the paths that were asked for since the last time.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

func tag(text string) string {
	sum := md5.Sum([]byte(text))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	if s.Answer != nil && s.Answer(w, r) {
		return
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=anna/") {
		fail(w, http.StatusForbidden, "InvalidAccessKeyId", "Nobody has this key.")
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	objects, ok := s.buckets[bucket]
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "NoSuchBucket", "The bucket does not exist.")
	case key == "":
		s.list(w, r, objects)
	case !has(objects, key):
		fail(w, http.StatusNotFound, "NoSuchKey", "The key does not exist.")
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != tag(objects[key]):
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "It has another ETag.")
	default:
		fmt.Fprint(w, objects[key])
	}
}

func has(objects map[string]string, key string) bool { _, ok := objects[key]; return ok }

func fail(w http.ResponseWriter, status int, code, text string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>", code, text)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, objects map[string]string) {
	q := r.URL.Query()
	type object struct {
		Key, ETag string
		Size      int
	}
	var page struct {
		XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		IsTruncated bool
		Contents    []object
	}
	for _, k := range slices.Sorted(maps.Keys(objects)) {
		if !strings.HasPrefix(k, q.Get("prefix")) || k <= q.Get("marker") {
			continue
		}
		if len(page.Contents) == s.Page {
			page.IsTruncated = true
			break
		}
		page.Contents = append(page.Contents, object{k, tag(objects[k]), len(objects[k])})
	}
	_ = xml.NewEncoder(w).Encode(page)
}
