package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/source"
)

// The API is further rows of the table of routes. A row has an apiOp, which is a
// function from a request to an answer; both are structs, of which the OpenAPI document
// is made as well. The programs that use it bring a token with each request, and
// cookies count for nothing, so that no page of another site can use it.

// apiRoot begins the paths of the API, and apiBase those of this version.
const (
	apiRoot = "/api/"
	apiBase = "/api/v1"
)

// An apiOp is what a route of the API does.
type apiOp struct {
	id, summary string
	// open says that no token is needed.
	open bool
	// signed says that the body is signed, and is read by what answers it.
	signed          bool
	request, answer reflect.Type
	status          int
	events          bool // the answer is a stream of such events
	starts          bool // it starts a run, and takes an idempotency key
	scope           scopeRule
	do              func(*Server, *apiCall) (any, error)
}

// An apiCall is a request of the API that was read.
type apiCall struct {
	op  *apiOp
	w   http.ResponseWriter
	r   *http.Request
	v   *visit
	in  any    // the request, as op.request
	raw []byte // the body
	key *heldKey
	// status is that of the answer, where it is not that of the operation.
	status int
}

type callKey struct{}

// op returns an apiOp. The fields of R that have the tag "query" are parameters, those
// with the tag "json" are the body.
func op[R, A any](id, summary string, scope scopeRule, do func(*Server, *apiCall, *R) (*A, error)) *apiOp {
	return &apiOp{
		id: id, summary: summary, scope: scope, status: http.StatusOK,
		request: reflect.TypeFor[R](), answer: reflect.TypeFor[A](),
		do: func(s *Server, c *apiCall) (any, error) { return do(s, c, c.in.(*R)) },
	}
}

// nothing is a request or an answer without content.
type nothing struct{}

// starting says that the operation starts a run.
func (o *apiOp) starting() *apiOp {
	o.starts, o.status = true, http.StatusCreated
	return o
}

// creating says that the operation makes something.
func (o *apiOp) creating() *apiOp {
	o.status = http.StatusCreated
	return o
}

// silent says that the answer has no content.
func (o *apiOp) silent() *apiOp {
	o.status = http.StatusNoContent
	return o
}

// streaming says that the operation answers with server-sent events.
func (o *apiOp) streaming() *apiOp {
	o.events = true
	return o
}

// withoutToken says that no token is needed.
func (o *apiOp) withoutToken() *apiOp {
	o.open = true
	return o
}

// signing says that the request is signed instead of having a token.
func (o *apiOp) signing() *apiOp {
	o.open, o.signed, o.status = true, true, http.StatusAccepted
	return o
}

// A formed request has a form of the pages that asks for the same, of which the audit
// record is made.
type formed interface{ form() url.Values }

// api answers the requests of a route of the API.
func (s *Server) api(x route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{role: x.least} // where no token is needed
		if open := x.api.open || s.opts.OpenMetrics && isHealth(r.URL.Path); !open {
			var err error
			if v, err = s.bearer(r); err != nil {
				if errors.Is(err, errAPIOff) && isHealth(r.URL.Path) {
					err = errHealthOff
				}
				writeProblem(w, problemOf(err))
				return
			}
		}
		r = x.grant(r, v)
		c := &apiCall{op: x.api, w: w, r: r, v: v}
		if err := c.read(); err != nil {
			writeProblem(w, problemOf(err))
			return
		}
		v = x.with(s, c.r, v)
		c.v, r = v, x.grant(r, v)
		c.r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		if replayed := s.holdKey(x, c); replayed {
			return
		}
		defer c.key.release()
		if x.action != "" && !x.api.signed { // what is signed is recorded when it is known who signed it
			s.perform(x, w, c.r, v)
			return
		}
		if why := x.refuses(s, c.r, v); why != nil {
			s.fault(w, c.r, why)
			return
		}
		x.do(s, w, c.r, v)
	}
}

// answerCall is what the routes of the API do.
func answerCall(s *Server, w http.ResponseWriter, r *http.Request, _ *visit) {
	c := r.Context().Value(callKey{}).(*apiCall)
	out, err := c.op.do(s, c)
	switch {
	case err != nil:
		s.fault(w, r, err)
	case c.op.events, c.op.answer == reflect.TypeFor[plainText](): // they have been written
	case c.op.status == http.StatusNoContent:
		w.WriteHeader(c.op.status)
	default:
		status := c.op.status
		if c.status != 0 {
			status = c.status
		}
		writeJSON(w, "application/json", status, out)
	}
}

// read reads the parameters and the body.
func (c *apiCall) read() error {
	in := reflect.New(c.op.request)
	c.in = in.Interface()
	if err := readQuery(c.r.URL.Query(), in.Elem()); err != nil {
		return err
	}
	if isSafe(c.r.Method) {
		return nil
	}
	var err error
	if c.raw, err = io.ReadAll(c.r.Body); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return &apiError{kind: tooLarge, detail: fmt.Sprintf("A body has at most %d bytes.", maxBody)}
		}
		return &apiError{kind: badBody, detail: "The body cannot be read: " + err.Error()}
	}
	if c.op.signed {
		return nil
	}
	if len(c.raw) > 0 {
		kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		if err != nil || kind != "application/json" {
			return &apiError{kind: wrongType, detail: fmt.Sprintf("The body has the type %q.", c.r.Header.Get("Content-Type")), hint: "Send the header Content-Type: application/json."}
		}
	}
	if err := readBody(c.raw, in); err != nil {
		return err
	}
	c.r.PostForm = url.Values{}
	if f, ok := c.in.(formed); ok {
		c.r.PostForm = f.form()
	}
	if id := c.r.PathValue("schedule"); id != "" {
		c.r.PostForm.Set("id", id)
	}
	c.r.Form = c.r.PostForm
	return nil
}

// fieldsOfType calls a function with the fields of a struct that have a tag, those of
// embedded structs too.
func fieldsOfType(t reflect.Type, tag string, each func(f reflect.StructField, name string, optional bool)) {
	for f := range t.Fields() {
		if f.Anonymous {
			fieldsOfType(f.Type, tag, each)
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get(tag), ",")
		if name != "" && name != "-" {
			each(f, name, rest == "omitempty")
		}
	}
}

// readBody reads an object into a struct. Keys that it does not know are errors.
func readBody(text []byte, in reflect.Value) error {
	var names []string
	var missing []string
	given := map[string]json.RawMessage{}
	if len(text) > 0 {
		d := json.NewDecoder(bytes.NewReader(text))
		if err := d.Decode(&given); err != nil {
			return bodyError(err)
		}
		if _, err := d.Token(); err != io.EOF {
			return &apiError{kind: badBody, detail: "The body has something behind its object."}
		}
	}
	fieldsOfType(in.Type().Elem(), "json", func(_ reflect.StructField, name string, optional bool) {
		names = append(names, name)
		if _, ok := given[name]; !ok && !optional {
			missing = append(missing, name)
		}
	})
	for key := range given {
		if !slices.Contains(names, key) {
			hint := "There are no fields here."
			if len(names) > 0 {
				hint = "There are " + strings.Join(names, ", ") + "."
			}
			return &apiError{kind: badBody, detail: fmt.Sprintf("Unknown field %q%s.", key, source.DidYouMean(key, names)), hint: hint}
		}
	}
	if len(missing) > 0 {
		return &apiError{kind: badBody, detail: "These fields are missing: " + strings.Join(missing, ", ") + "."}
	}
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, in.Interface()); err != nil {
		return bodyError(err)
	}
	return nil
}

// bodyError says what is wrong with a body.
func bodyError(err error) error {
	e := &apiError{kind: badBody, detail: "The body is not a JSON object: " + err.Error() + "."}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		e.detail = fmt.Sprintf("%s must be of type %s, and is of type %s.", t.Field, jsonType(t.Type), t.Value)
	}
	return e
}

// readQuery reads parameters into a struct. Those that it does not know are errors: a
// filter that is misspelt must not show everything.
func readQuery(q url.Values, in reflect.Value) error {
	var names []string
	var fault error
	bad := func(name, format string, args ...any) {
		fault = &apiError{kind: badParameter, detail: name + ": " + fmt.Sprintf(format, args...) + "."}
	}
	fieldsOfType(in.Type(), "query", func(f reflect.StructField, name string, _ bool) {
		names = append(names, name)
		text, at := q.Get(name), in.FieldByName(f.Name)
		switch {
		case len(q[name]) > 1:
			bad(name, "it is given twice")
		case text == "":
		case f.Tag.Get("enum") != "" && !slices.Contains(strings.Split(f.Tag.Get("enum"), ","), text):
			bad(name, "%q is not one of %s", text, strings.ReplaceAll(f.Tag.Get("enum"), ",", ", "))
		case at.Kind() == reflect.Int:
			most, _ := strconv.Atoi(f.Tag.Get("max"))
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > most {
				bad(name, "%q is not a number from 1 to %d", text, most)
				return
			}
			at.SetInt(int64(n))
		case at.Kind() == reflect.Bool:
			yes, err := strconv.ParseBool(text)
			if err != nil {
				bad(name, "%q is not true or false", text)
				return
			}
			at.SetBool(yes)
		default:
			at.SetString(text)
		}
	})
	for key := range q {
		if !slices.Contains(names, key) {
			return &apiError{kind: badParameter, detail: fmt.Sprintf("Unknown parameter %q%s.", key, source.DidYouMean(key, names))}
		}
	}
	return fault
}

// otherAPI answers what no route of the API answers.
func (s *Server) otherAPI(w http.ResponseWriter, r *http.Request) {
	if s.opts.Tokens == nil {
		writeProblem(w, errAPIOff)
		return
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(other); strings.HasPrefix(pattern, method+" "+apiRoot) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		writeProblem(w, &apiError{kind: noSuch, detail: "There is no " + r.URL.Path + " in the API.", hint: "See " + apiBase + "/openapi.json."})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, &apiError{kind: wrongMethod, detail: r.Method + " is not allowed here.", hint: "Use " + strings.Join(allowed, " or ") + "."})
}

// errAPIOff says that there is no API.
var (
	errAPIOff    = &apiError{kind: apiOff, detail: "brine ui was started without tokens.", hint: "Start it with --tokens FILE; 'brine ui token add' makes tokens."}
	errHealthOff = &apiError{kind: apiOff, detail: errAPIOff.detail, hint: "--open-metrics lets everybody who reaches the server read this; --tokens FILE lets those who have a token."}
)
