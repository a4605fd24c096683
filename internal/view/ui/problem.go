package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"brine/internal/fleet/approval"
)

// problemType begins the types of problems.
const problemType = "urn:brine:problem:"

// A Problem is an error of the API, as RFC 9457 has it.
type Problem struct {
	Type   string         `json:"type" doc:"What kind of problem it is." problem:"yes"`
	Title  string         `json:"title" doc:"The kind in words."`
	Status int            `json:"status" doc:"The HTTP status."`
	Detail string         `json:"detail" doc:"What is wrong with this request."`
	Hint   string         `json:"hint,omitempty" doc:"What to do about it."`
	Errors []FieldProblem `json:"errors,omitempty" doc:"What is wrong with single fields and targets of a template."`
}

// A FieldProblem is what is wrong with a field.
type FieldProblem struct {
	Path   string `json:"path" doc:"The keys of the field, separated by colons; or the name of a target."`
	Detail string `json:"detail" doc:"What is wrong with it."`
}

// The kinds of problems.
const (
	badBody      = "invalid-body"
	badParameter = "invalid-parameter"
	badKey       = "invalid-idempotency-key"
	noToken      = "unauthorized"
	notAllowed   = "forbidden"
	outOfScope   = "out-of-scope"
	noSuch       = "not-found"
	apiOff       = "api-off"
	wrongMethod  = "method-not-allowed"
	conflict     = "conflict"
	tooLarge     = "too-large"
	wrongType    = "unsupported-media-type"
	wrongHost    = "wrong-host"
	unworkable   = "unprocessable"
	badAnswers   = "invalid-answers"
	keyReused    = "idempotency-key-reused"
	tooMany      = "too-many-failures"
	broken       = "internal-error"
	unavailable  = "unavailable"
)

// problems are the titles and statuses of the kinds. The first one with a status stands
// for others that have it.
var problems = []struct {
	kind   string
	status int
	title  string
}{
	{badBody, http.StatusBadRequest, "The body of the request is not valid"},
	{badParameter, http.StatusBadRequest, "A parameter of the request is not valid"},
	{badKey, http.StatusBadRequest, "The idempotency key is not valid"},
	{noToken, http.StatusUnauthorized, "A valid token is needed"},
	{notAllowed, http.StatusForbidden, "The role of the token does not allow this"},
	{outOfScope, http.StatusForbidden, "The token is limited to other things"},
	{noSuch, http.StatusNotFound, "Not found"},
	{apiOff, http.StatusNotFound, "The API is off"},
	{wrongMethod, http.StatusMethodNotAllowed, "The method is not allowed here"},
	{conflict, http.StatusConflict, "The state of the object does not allow this"},
	{tooLarge, http.StatusRequestEntityTooLarge, "The request is too large"},
	{wrongType, http.StatusUnsupportedMediaType, "The body of the request must be JSON"},
	{wrongHost, http.StatusMisdirectedRequest, "brine ui is not served for this host name"},
	{unworkable, http.StatusUnprocessableEntity, "This did not work"},
	{badAnswers, http.StatusUnprocessableEntity, "The answers to the template are not valid"},
	{keyReused, http.StatusUnprocessableEntity, "The idempotency key belongs to another request"},
	{tooMany, http.StatusTooManyRequests, "There were too many requests with wrong tokens"},
	{broken, http.StatusInternalServerError, "brine ui failed"},
	{unavailable, http.StatusServiceUnavailable, "Not available at the moment"},
}

// problemNames are the types that problems may have.
func problemNames() (names []string) {
	for _, p := range problems {
		names = append(names, problemType+p.kind)
	}
	return names
}

// An apiError is a problem that a handler found.
type apiError struct {
	kind, detail, hint string
	fields             []FieldProblem
}

// Error is what is wrong.
func (e *apiError) Error() string { return e.detail }

// problem is the answer that the error becomes.
func (e *apiError) problem() Problem {
	for _, p := range problems {
		if p.kind == e.kind {
			return Problem{Type: problemType + p.kind, Title: p.title, Status: p.status, Detail: e.detail, Hint: e.hint, Errors: e.fields}
		}
	}
	return Problem{Type: "about:blank", Title: http.StatusText(http.StatusInternalServerError), Status: http.StatusInternalServerError, Detail: e.detail}
}

// kindOfStatus is the kind of problem that an HTTP status stands for.
func kindOfStatus(status int) string {
	for _, p := range problems {
		if p.status == status {
			return p.kind
		}
	}
	return broken
}

// problemOf is the problem that an error of a handler is.
func problemOf(err error) *apiError {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*roleError](err); ok {
		return &apiError{kind: notAllowed, detail: e.Error(), hint: "Use a token of a higher role: brine ui token add NAME --role " + e.needs.String()}
	}
	if e, ok := errors.AsType[*approval.ForbiddenError](err); ok {
		return &apiError{kind: notAllowed, detail: e.Error()}
	}
	switch {
	case errors.Is(err, errUngranted):
		return &apiError{kind: broken, detail: err.Error()}
	case errors.Is(err, ErrNotFound):
		return &apiError{kind: noSuch, detail: err.Error()}
	case errors.Is(err, approval.ErrAnswered):
		return &apiError{kind: conflict, detail: err.Error(), hint: "List the approvals again."}
	case errors.Is(err, errChanged):
		return &apiError{kind: conflict, detail: err.Error(), hint: "Read the chain again, and send its present version."}
	}
	return &apiError{kind: unworkable, detail: err.Error()}
}

// forAPI reports whether a request is answered with JSON.
func forAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, apiRoot) || strings.HasPrefix(r.URL.Path, saltBase+"/") || isHealth(r.URL.Path)
}

// writeProblem answers a request with a problem.
func writeProblem(w http.ResponseWriter, e *apiError) {
	p := e.problem()
	h := w.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="brine ui"`)
	case http.StatusTooManyRequests:
		h.Set("Retry-After", "60")
	}
	writeJSON(w, "application/problem+json", p.Status, p)
}

func writeJSON(w http.ResponseWriter, mime string, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // no type of the API can fail
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mime)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
