package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/value"
)

// JUnit writes JUnit XML as Jenkins reads it (junit-10.xsd of its xUnit plugin),
// and with it GitLab, GitHub actions and others: a suite for each host, of an
// orchestration for each step and host, and a case for each state. States of
// test mode that would change something are skipped: nobody did them. Their changes are in
// system-out.
func JUnit(w io.Writer, r *Run) error {
	b := bufio.NewWriter(w)
	if _, err := b.WriteString(xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	t := r.Total()
	root := start("testsuites", "name", cmp.Or(r.command(), "brine"), "tests", strconv.Itoa(t.All()), "failures", strconv.Itoa(t.Failed()), "errors", "0", "time", seconds(r.Length()))
	if err := e.EncodeToken(root); err != nil {
		return err
	}
	for i, s := range r.Suites {
		if err := r.junitSuite(e, i, s); err != nil {
			return err
		}
	}
	if err := e.EncodeToken(root.End()); err != nil {
		return err
	}
	if err := e.Flush(); err != nil {
		return err
	}
	if err := b.WriteByte('\n'); err != nil {
		return err
	}
	return b.Flush()
}

func (r *Run) junitSuite(e *xml.Encoder, i int, s *Suite) error {
	attrs := []string{
		"name", s.Name(), "id", strconv.Itoa(i), "package", cmp.Or(s.Step, r.Fun), "hostname", s.Host,
		"tests", strconv.Itoa(s.Count.All()), "failures", strconv.Itoa(s.Count.Failed()), "errors", "0",
		"skipped", strconv.Itoa(s.Count.ByStatus[Skipped] + s.Count.ByStatus[NotRun] + s.Count.ByStatus[Pending]), "time", seconds(s.Count.Length),
	}
	if !r.Start.IsZero() {
		attrs = append(attrs, "timestamp", r.Start.Add(s.Begin).UTC().Format("2006-01-02T15:04:05"))
	}
	suite := start("testsuite", attrs...)
	if err := e.EncodeToken(suite); err != nil {
		return err
	}
	if jid := cmp.Or(s.JID, r.JID); jid != "" {
		props := start("properties")
		prop := start("property", "name", "jid", "value", jid)
		for _, t := range []xml.Token{props, prop, prop.End(), props.End()} {
			if err := e.EncodeToken(t); err != nil {
				return err
			}
		}
	}
	for _, c := range s.Cases {
		if err := junitCase(e, s, c); err != nil {
			return err
		}
	}
	return e.EncodeToken(suite.End())
}

func junitCase(e *xml.Encoder, s *Suite, c *Case) error {
	class := strings.ReplaceAll(s.Host, ".", "_")
	if c.SLS != "" {
		class += "." + c.SLS
	}
	name := c.Title()
	if name != c.Fun {
		name += " " + c.Fun
	}
	tc := start("testcase", "name", name, "classname", class, "time", seconds(c.Length))
	if err := e.EncodeToken(tc); err != nil {
		return err
	}
	changes, stderr := c.Changes, ""
	if m, ok := changes.(value.Mapping); ok && c.Status == Failed {
		changes, stderr = apart(m)
	}
	diff, rest := details(&Case{Changes: changes})
	out := strings.TrimSpace(strings.Join([]string{diff, rest}, "\n"))
	switch c.Status {
	case Failed:
		if err := element(e, start("failure", "message", c.whyLine(), "type", c.Fun), strings.TrimSuffix(c.why()+"\n"+unmetText(c), "\n")); err != nil {
			return err
		}
	case Skipped, NotRun:
		if err := element(e, start("skipped", "message", firstLine(c.Comment)), ""); err != nil {
			return err
		}
	case Pending:
		if err := element(e, start("skipped", "message", strings.TrimSuffix("would change: "+firstLine(c.Comment), ": ")), ""); err != nil {
			return err
		}
	default:
		out = strings.TrimSpace(c.Comment + "\n" + out)
	}
	if out != "" {
		if err := element(e, start("system-out"), written(out)); err != nil {
			return err
		}
	}
	if stderr != "" {
		if err := element(e, start("system-err"), written(stderr)); err != nil {
			return err
		}
	}
	return e.EncodeToken(tc.End())
}

// apart takes what a program wrote to stderr out of its outcome.
func apart(m value.Mapping) (rest value.Value, stderr string) {
	stderr, ok := at(m, "stderr").(string)
	if !ok || at(m, "retcode") == nil {
		return m, ""
	}
	left := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		if k != "stderr" {
			v, _ := m.Get(k)
			left.Set(k, v)
		}
	}
	return left, strings.TrimSpace(stderr)
}

// element writes an element with text. The encoder replaces what XML cannot
// have.
func element(e *xml.Encoder, s xml.StartElement, body string) error {
	if err := e.EncodeToken(s); err != nil {
		return err
	}
	if body != "" {
		if err := e.EncodeToken(xml.CharData(body)); err != nil {
			return err
		}
	}
	return e.EncodeToken(s.End())
}

// start is an element with attributes, given as names and values.
func start(name string, attrs ...string) xml.StartElement {
	s := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i+1 < len(attrs); i += 2 {
		s.Attr = append(s.Attr, xml.Attr{Name: xml.Name{Local: attrs[i]}, Value: attrs[i+1]})
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// stamp is a moment in UTC; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
