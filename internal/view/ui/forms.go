package ui

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"brine/internal/fleet/approval"
)

// A rejected is a form of a page that was sent and not taken. The page is shown again with
// what was typed, and with what is wrong beside the field.
type rejected struct {
	Form   string // which of the page
	Sent   url.Values
	Faults []fieldError
}

// A fieldError says what is wrong with a field of a form, by the id of its element; "" is
// the whole form.
type fieldError struct {
	Field string
	Err   error
}

// Error is what is wrong.
func (e fieldError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e fieldError) Unwrap() error { return e.Err }

// OnField is an error that is about a field of a form.
func OnField(field string, err error) error {
	if err == nil {
		return nil
	}
	return fieldError{field, err}
}

// onField is OnField of a text.
func onField(field, text string) error { return fieldError{field, errors.New(text)} }

type rejectedKey struct{}

// rejectedOf is the form of a request that was not taken; nil: there is none.
func rejectedOf(r *http.Request) *rejected {
	x, _ := r.Context().Value(rejectedKey{}).(*rejected)
	return x
}

// statusOf is the status of a page.
func statusOf(r *http.Request) int {
	if rejectedOf(r) != nil {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// reject shows the page that a form was on, as a visit to it would, with why the form was
// not taken. What is not about the form, such as the role, has a page of its own.
func (s *Server) reject(w http.ResponseWriter, r *http.Request, pattern, form string, err error) {
	v, known := visitOf(r)
	if status, _ := faultOf(err); !known || forAPI(r) || status != http.StatusUnprocessableEntity {
		s.fault(w, r, err)
		return
	}
	rows := routes()
	x := rows[slices.IndexFunc(rows, func(x route) bool { return x.pattern == pattern })]
	bad := &rejected{Form: form, Sent: r.PostForm}
	var one fieldError
	if !errors.As(err, &one) {
		one.Err = err
	}
	bad.Faults = []fieldError{one}
	again := r.Clone(context.WithValue(r.Context(), rejectedKey{}, bad))
	again.Method, again.URL.RawQuery, again.PostForm = http.MethodGet, "", url.Values{}
	v = x.with(s, again, v.own())
	again = x.grant(again, v)
	if err := x.refuses(s, again, v); err != nil {
		s.fault(w, r, err)
		return
	}
	out := &held{header: http.Header{}}
	x.do(s, out, again, v)
	if at := bad.Faults[0].Field; at != "" && !bytes.Contains(out.body.Bytes(), []byte(`id="`+at+`-problem"`)) {
		bad.Faults[0].Field = "" // the page does not have the field now
		*out = held{header: http.Header{}}
		x.do(s, out, again, v)
	}
	maps.Copy(w.Header(), out.header)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body.Bytes())
}

// A held is an answer that is not sent yet.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header.
func (h *held) Header() http.Header { return h.header }

// WriteHeader sets the status.
func (h *held) WriteHeader(status int) { h.status = status }

// Write adds to the body.
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

// faultOf is the status and the title of the page that shows an error.
func faultOf(err error) (status int, title string) {
	_, role := errors.AsType[*roleError](err)
	_, forbidden := errors.AsType[*approval.ForbiddenError](err)
	e, scope := errors.AsType[*apiError](err)
	switch {
	case role || forbidden || errors.Is(err, errUngranted) || scope && e.kind == outOfScope:
		return http.StatusForbidden, "Not allowed"
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound, "Not found"
	}
	return http.StatusUnprocessableEntity, "This did not work"
}

// wrong reports whether a form of the page was not taken.
func (p page) wrong(form string) bool { return p.Bad != nil && p.Bad.Form == form }

// sent is what was typed into a field of a form that was not taken, else the usual value.
func (p page) sent(form, name, usual string) string {
	if p.wrong(form) && p.Bad.Sent.Has(name) {
		return p.Bad.Sent.Get(name)
	}
	return usual
}

// ticked reports whether a box with a value was ticked in a form that was not taken.
func (p page) ticked(form, name, value string) bool {
	return p.wrong(form) && slices.Contains(p.Bad.Sent[name], value)
}

// faultAt is what is wrong with a field; "": nothing.
func (p page) faultAt(id string) string {
	if p.Bad != nil {
		for _, x := range p.Bad.Faults {
			if x.Field == id {
				return sentence(x.Error())
			}
		}
	}
	return ""
}

// state connects a field with its help and with what is wrong with it.
func (p page) state(id, help string) templ.Attributes {
	described, a := help, templ.Attributes{}
	if p.faultAt(id) != "" {
		described = strings.TrimSpace(described + " " + id + "-problem")
		a["aria-invalid"] = "true"
		a["autofocus"] = p.Bad.Faults[0].Field == id
	}
	if described != "" {
		a["aria-describedby"] = described
	}
	return a
}

// sentence is an error as a sentence of a page.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if first, _, _ := strings.Cut(text, " "); strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") && !strings.Contains(text, "\n") {
		text += "."
	}
	return text
}

// withoutPaths leaves the directory of a file out of an error: it is that of the server.
func withoutPaths(err error, path, name string) error {
	if err == nil || !strings.Contains(err.Error(), path) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), path, name))
}
