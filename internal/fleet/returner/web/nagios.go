package web

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// newNagios submits passive checks by NRDP: the state of a service of the
// target, or of the target itself.
// Salt: returners/nagios_nrdp_return.py. Difference: there every return that is
// not empty is well, a highstate that failed, too; and the token stands in the
// URL, where servers log it.
func newNagios(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	check := s.Str("checktype")
	switch check {
	case "":
		check = s.Str("check_type")
	}
	switch check {
	case "", "passive":
		check = "1"
	case "active":
		check = "0"
	}
	c := newClient(true, s.Str("token"))
	return &each{client: c, send: func(ctx context.Context, r *value.Map) error {
		answer, err := c.form(ctx, s.Str("url"), url.Values{
			"token": {strings.TrimSpace(s.Str("token"))}, "cmd": {"submitcheck"}, "XMLDATA": {checkResult(r, s.Str("service"), check)},
		})
		if err != nil {
			return err
		}
		if text := string(answer); between(text, "<status>", "</status>") != "0" {
			if m := between(text, "<message>", "</message>"); m != "" {
				return c.hide(fmt.Errorf("NRDP: %s", m))
			}
			return c.hide(fmt.Errorf("NRDP: %s", c.head(answer)))
		}
		return nil
	}}, nil
}

func between(s, from, to string) string {
	_, s, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, to)
	return strings.TrimSpace(s)
}

// checkResult is the XML of one check.
func checkResult(r *value.Map, service, check string) string {
	state, word := "0", "succeeded"
	if !jobs.Succeeded(r) {
		state, word = "2", "failed"
	}
	kind, name := "host", ""
	if service != "" {
		kind, name = "service", "<servicename>"+html.EscapeString(service)+"</servicename>"
	}
	return fmt.Sprintf("<?xml version='1.0'?>\n<checkresults>\n<checkresult type='%s' checktype='%s'><hostname>%s</hostname>%s<state>%s</state><output>%s</output></checkresult>\n</checkresults>",
		kind, html.EscapeString(check), html.EscapeString(r.Str("id")), name, state, html.EscapeString(fmt.Sprintf("%s %s, job %s", r.Str("fun"), word, r.Str("jid"))))
}
