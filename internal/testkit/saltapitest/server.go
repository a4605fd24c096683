// Package saltapitest has a salt-api without Salt: a master with minions that
// exist only in it, for tests of what can go wrong. What real ones answer is in
// the recordings of internal/fleet/saltapi.
package saltapitest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/py/value"
)

// A Call is a function that a minion is asked to run.
type Call struct {
	Minion, Fun, JID string
	Arg              []any
	Kwarg            map[string]any
}

// A Server is a salt-api with its master. Its fields are set before it is used,
// and changed only by its methods.
type Server struct {
	URL string
	// Minions answer; Silent ones are known, and do not.
	Minions, Silent []string
	// Grains decide which minions a target of another type than glob and list means:
	// those whose grains have the text of the target.
	Grains map[string]string
	// Return is what a minion returns; false: nothing, it works on. nil: True.
	Return func(c Call) (v any, retcode int, returns bool)
	// Forbidden are the functions that external_auth does not permit.
	Forbidden []string
	// NoEvents has /events refused with this status.
	NoEvents int

	http    *httptest.Server
	address string
	handler http.Handler

	mu      sync.Mutex
	down    bool
	lose    bool // events
	twice   bool // returns
	slow    time.Duration
	cut     bool // the answer to the next publication
	tokens  map[string]bool
	logins  int
	jobs    map[string]*job
	subs    map[chan event]bool
	pubs    []string // what was published, as "fun jid minion,minion"
	posts   []string // what was asked, as "client fun"
	streams int
}

type job struct {
	fun     string
	minions []string
	returns map[string]map[string]any
	working map[string]bool
	idle    chan struct{} // closed when none works any more; nil: nobody waits
}

type event struct {
	tag  string
	data any
}

// User and Password are what the server lets in.
const (
	User     = "brine"
	Password = "open sesame"
)

// New starts a server, which the end of the test ends.
func New(t testing.TB, minions ...string) *Server {
	t.Helper()
	s := &Server{Minions: minions, tokens: map[string]bool{}, jobs: map[string]*job{}, subs: map[chan event]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /{$}", s.low)
	mux.HandleFunc("GET /events", s.events)
	s.handler = mux
	s.start(t, "127.0.0.1:0")
	t.Cleanup(func() { s.Die() })
	return s
}

func (s *Server) start(t testing.TB, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(s.handler)
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	s.mu.Lock()
	s.http, s.down, s.address, s.URL = srv, false, l.Addr().String(), srv.URL
	s.mu.Unlock()
}

// Die ends the server and all connections in the midst; what was published goes on.
func (s *Server) Die() {
	s.mu.Lock()
	srv, down := s.http, s.down
	s.down = true
	for c := range s.subs {
		close(c)
		delete(s.subs, c)
	}
	s.mu.Unlock()
	if !down {
		srv.CloseClientConnections()
		srv.Close()
	}
}

// Revive starts a server that died, at the same address.
func (s *Server) Revive(t testing.TB) { s.start(t, s.address) }

// Expire has all tokens refused from now on.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// SetGrain changes what decides which targets of grains mean a minion.
func (s *Server) SetGrain(minion, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Grains[minion] = text
}

// LoseEvents has no event delivered while on.
func (s *Server) LoseEvents(on bool) { s.mu.Lock(); defer s.mu.Unlock(); s.lose = on }

// Twice has every return told twice.
func (s *Server) Twice() { s.mu.Lock(); defer s.mu.Unlock(); s.twice = true }

// Slow has events written with this pause between them.
func (s *Server) Slow(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.slow = d }

// CutAnswer has the connection end before the next publication is answered.
func (s *Server) CutAnswer() { s.mu.Lock(); defer s.mu.Unlock(); s.cut = true }

// Logins returns how often somebody logged in.
func (s *Server) Logins() int { s.mu.Lock(); defer s.mu.Unlock(); return s.logins }

// Published returns what was published: "fun jid minion,minion".
func (s *Server) Published() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.pubs) }

// Asked returns what was asked, refused or not: "client fun".
func (s *Server) Asked() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.posts) }

// Streams returns how many have followed the events.
func (s *Server) Streams() int { s.mu.Lock(); defer s.mu.Unlock(); return s.streams }

// Fire puts an event on the bus of the master.
func (s *Server) Fire(tag string, data map[string]any) { s.fire(tag, data) }

// FireRaw is Fire of data that need not be a mapping, nor have each key once.
func (s *Server) FireRaw(tag, data string) { s.fire(tag, json.RawMessage(data)) }

func (s *Server) fire(tag string, data any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lose {
		return
	}
	for c := range s.subs {
		select {
		case c <- event{tag, data}:
		default: // as a slow subscriber of ZeroMQ
		}
	}
}

// Finish has a minion return from a job on which it works.
func (s *Server) Finish(jid, minion string, v any, retcode int) {
	data := map[string]any{"cmd": "_return", "id": minion, "jid": jid, "return": v, "retcode": retcode, "success": retcode == 0}
	s.mu.Lock()
	if j := s.jobs[jid]; j != nil {
		delete(j.working, minion)
		j.returns[minion] = data
		if j.idle != nil && len(j.working) == 0 {
			close(j.idle)
			j.idle = nil
		}
		data["fun"] = j.fun
	}
	n := 1
	if s.twice {
		n = 2
	}
	s.mu.Unlock()
	for range n {
		s.Fire("salt/job/"+jid+"/ret/"+minion, data)
	}
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var c struct{ Username, Password string }
	if json.NewDecoder(r.Body).Decode(&c) != nil || c.Username != User || c.Password != Password {
		refuse(w, http.StatusUnauthorized, "Could not authenticate using provided credentials")
		return
	}
	s.mu.Lock()
	s.logins++
	token := fmt.Sprintf("%032x", s.logins)
	s.tokens[token] = true
	s.mu.Unlock()
	answer(w, map[string]any{"token": token, "expire": float64(time.Now().Add(time.Hour).Unix()), "user": c.Username})
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/html;charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<html><body><h2>%d</h2>\n<p>%s</p></body></html>", status, why)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"return": []any{v}})
}

func (s *Server) allowed(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[r.Header.Get("X-Auth-Token")]
}

// chunk is a low chunk.
type chunk struct {
	Client  string
	Tgt     any
	TgtType string `json:"tgt_type"`
	Fun     any
	Arg     []any
	Kwarg   map[string]any
	JID     string
}

func (s *Server) low(w http.ResponseWriter, r *http.Request) {
	var lows []chunk
	err := json.NewDecoder(r.Body).Decode(&lows)
	if err == nil && len(lows) == 1 {
		s.mu.Lock()
		s.posts = append(s.posts, lows[0].Client+" "+fmt.Sprint(lows[0].Fun))
		s.mu.Unlock()
	}
	switch {
	case !s.allowed(r):
		refuse(w, http.StatusUnauthorized, "No permission -- see authorization schemes")
		return
	case err != nil || len(lows) != 1:
		refuse(w, http.StatusBadRequest, "Lowstates must be a list.")
		return
	}
	l := lows[0]
	name := fmt.Sprint(l.Fun)
	switch {
	case slices.Contains(s.Forbidden, name):
		refuse(w, http.StatusUnauthorized, "Authorization error occurred.")
	case l.Client == "local_async":
		s.publish(w, l, name)
	case l.Client == "ssh":
		s.ssh(w, r, l, name)
	case l.Client == "runner" && name == "jobs.list_job":
		answer(w, s.listJob(fmt.Sprint(l.Kwarg["jid"])))
	case l.Client == "runner_async":
		jid := time.Now().UTC().Format("20060102150405") + fmt.Sprintf("%06d", len(s.Published()))
		answer(w, map[string]any{"tag": "salt/run/" + jid, "jid": jid})
		s.Fire("salt/run/"+jid+"/ret", map[string]any{"fun": "runner." + name, "jid": jid, "return": l.Arg, "success": true})
	case l.Client == "wheel":
		answer(w, map[string]any{"tag": "salt/wheel/1", "data": map[string]any{"jid": "20200101000000000001", "return": name, "success": true}})
	default:
		refuse(w, http.StatusBadRequest, "Client disabled: '"+l.Client+"'. Add to 'netapi_enable_clients' master config option to enable.")
	}
}

// match returns the minions that a target means.
func (s *Server) match(l chunk) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Concat(s.Minions, s.Silent)
	var out []string
	for _, id := range all {
		switch tgt := l.Tgt.(type) {
		case []any:
			if slices.Contains(tgt, any(id)) {
				out = append(out, id)
			}
		case string:
			ok := value.Fnmatch(tgt, id)
			switch l.TgtType {
			case "list":
				ok = slices.Contains(strings.Split(tgt, ","), id)
			case "", "glob":
			default:
				ok = strings.Contains(s.Grains[id], tgt)
			}
			if ok {
				out = append(out, id)
			}
		}
	}
	sort.Strings(out)
	return out
}

func (s *Server) publish(w http.ResponseWriter, l chunk, name string) {
	minions := s.match(l)
	if len(minions) == 0 {
		answer(w, map[string]any{})
		return
	}
	j := &job{fun: name, minions: minions, returns: map[string]map[string]any{}, working: map[string]bool{}}
	s.mu.Lock()
	s.jobs[l.JID] = j
	s.pubs = append(s.pubs, name+" "+l.JID+" "+strings.Join(minions, ","))
	cut := s.cut && name != "test.ping" && name != "saltutil.find_job"
	if cut {
		s.cut = false
	}
	s.mu.Unlock()
	s.Fire(l.JID, map[string]any{"minions": minions})
	s.Fire("salt/job/"+l.JID+"/new", map[string]any{"jid": l.JID, "fun": name, "minions": minions})
	go s.work(l, name, minions)
	if cut {
		panic(http.ErrAbortHandler)
	}
	answer(w, map[string]any{"jid": l.JID, "minions": minions})
}

// work has the minions of a job work.
func (s *Server) work(l chunk, name string, minions []string) {
	for _, id := range minions {
		if slices.Contains(s.Silent, id) {
			continue
		}
		if name == "saltutil.find_job" {
			s.mu.Lock()
			out := map[string]any{}
			if j := s.jobs[fmt.Sprint(l.Arg[0])]; j != nil && j.working[id] {
				out = map[string]any{"pid": 4711, "jid": l.Arg[0]}
			}
			s.mu.Unlock()
			s.Finish(l.JID, id, out, 0)
			continue
		}
		s.mu.Lock()
		s.jobs[l.JID].working[id] = true
		s.mu.Unlock()
		v, retcode, returns := any(true), 0, true
		if s.Return != nil {
			v, retcode, returns = s.Return(Call{Minion: id, Fun: name, JID: l.JID, Arg: l.Arg, Kwarg: l.Kwarg})
		}
		if returns {
			s.Finish(l.JID, id, v, retcode)
		}
	}
}

// ssh works as the client ssh of salt-api: it answers when all hosts, which are the
// minions of the server, are done. Of the silent ones it says that they cannot be
// reached.
func (s *Server) ssh(w http.ResponseWriter, r *http.Request, l chunk, name string) {
	hosts := s.match(l)
	idle := make(chan struct{})
	j := &job{fun: name, minions: hosts, returns: map[string]map[string]any{}, working: map[string]bool{"": true}, idle: idle}
	s.mu.Lock()
	s.jobs[l.JID] = j
	s.pubs = append(s.pubs, "ssh:"+name+" "+l.JID+" "+strings.Join(hosts, ","))
	cut := s.cut && name != "test.ping"
	if cut {
		s.cut = false
	}
	s.mu.Unlock()
	s.work(l, name, hosts)
	s.mu.Lock()
	if delete(j.working, ""); len(j.working) == 0 && j.idle != nil {
		close(j.idle)
		j.idle = nil
	}
	s.mu.Unlock()
	select {
	case <-idle:
	case <-r.Context().Done():
		return
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]any{}
	for _, id := range hosts {
		if ret := j.returns[id]; ret != nil {
			out[id] = ret
		} else {
			out[id] = map[string]any{"stdout": "", "stderr": "ssh: connect to host " + id + " port 22: Connection refused", "retcode": 255}
		}
	}
	answer(w, out)
}

func (s *Server) listJob(jid string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[jid]
	if j == nil {
		return map[string]any{"jid": jid, "Error": "Cannot contact returner or no job with this jid", "Result": map[string]any{}}
	}
	result := map[string]any{}
	for id, data := range j.returns {
		result[id] = map[string]any{"return": data["return"], "retcode": data["retcode"], "success": data["success"]}
	}
	return map[string]any{"jid": jid, "Function": j.fun, "Minions": j.minions, "Result": result}
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		refuse(w, http.StatusUnauthorized, "")
		return
	}
	if s.NoEvents != 0 {
		refuse(w, s.NoEvents, "no events here")
		return
	}
	c := make(chan event, 10_000)
	s.mu.Lock()
	s.subs[c] = true
	s.streams++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, c)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := w.(http.Flusher)
	fmt.Fprint(w, "retry: 400\n")
	flush.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e, ok := <-c:
			if !ok {
				return
			}
			s.mu.Lock()
			pause := s.slow
			s.mu.Unlock()
			if pause > 0 {
				time.Sleep(pause)
			}
			b, _ := json.Marshal(map[string]any{"tag": e.tag, "data": e.data})
			fmt.Fprintf(w, "tag: %s\ndata: %s\n\n", e.tag, b)
			flush.Flush()
		}
	}
}
