// Package carbon is Salt's returner "carbon": numbers of returns for Graphite.
package carbon

import (
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// Spec returns the returner.
func Spec() returner.Spec {
	return returner.Spec{
		Name: "carbon", Doc: "Send the numbers in returns to Graphite's carbon.", Src: "returners/carbon_return.py", New: open, Prepare: prepare,
		Keys: returner.Keys(`
			host@ = localhost -- the server
			port@ = 2003 -- its port for lines of text
			mode = text -- text; Salt knows pickle, too
			skip_on_error = False -- silently leave out what is not a number
			metric_base_pattern -- beginning of names; [module], [function] and [minion_id] are filled in
		`),
	}
}

const timeout = 5 * time.Second

type carbon struct {
	conn    net.Conn
	pattern string
	quiet   bool
	warn    func(string)
}

// prepare refuses what the server would not understand.
func prepare(s returner.Settings) (returner.Settings, error) {
	if m := s.Str("mode"); m != "text" && m != "" {
		return s, fmt.Errorf("carbon.mode: %q is not supported: only lines of text are sent, to carbon.port (2003 as a rule)", m)
	}
	return s, nil
}

func open(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	d := net.Dialer{Timeout: timeout}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(s.Str("host"), strconv.Itoa(s.Int("port"))))
	if err != nil {
		return nil, err
	}
	r := &carbon{conn: c, pattern: s.Str("metric_base_pattern"), quiet: s.Bool("skip_on_error"), warn: func(string) {}}
	if s.Log != nil {
		r.warn = func(path string) { s.Log.Warn("carbon: no number", "metric", path) }
	}
	return r, nil
}

// Return writes a line for each number.
func (c *carbon) Return(_ context.Context, rets []*value.Map) error {
	var b strings.Builder
	for _, r := range rets {
		at := time.Now()
		if t, ok := jobs.Time(r.Str("jid")); ok {
			at = t
		}
		c.walk(&b, c.base(r), r.At("return"), at.Unix())
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := c.conn.Write([]byte(b.String()))
	return err
}

// base is the beginning of the names of a return's metrics.
func (c *carbon) base(r *value.Map) string {
	name, id := r.Str("fun"), strings.ReplaceAll(r.Str("id"), ".", "_")
	if c.pattern != "" {
		mod, fn, _ := strings.Cut(name, ".")
		return strings.NewReplacer("[module]", mod, "[function]", fn, "[minion_id]", id).Replace(c.pattern)
	}
	// Guests move between hosts: their metrics have no host in their names.
	if strings.HasPrefix(name, "virt.") {
		return name
	}
	return name + "." + id
}

// walk writes the numbers within v. Salt: returners/carbon_return.py _walk.
func (c *carbon) walk(b *strings.Builder, path string, v value.Value, at int64) {
	switch v := v.(type) {
	case *value.Map:
		for k, x := range v.All() {
			c.walk(b, path+"."+clean(value.Str(k)), x, at)
		}
	case *value.List:
		for i, x := range v.Items {
			c.walk(b, path+"."+strconv.Itoa(i), x, at)
		}
	default:
		f, err := value.ToFloat(v)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			if !c.quiet {
				c.warn(path)
			}
			return
		}
		fmt.Fprintf(b, "%s %s %d\n", path, strconv.FormatFloat(f, 'f', -1, 64), at)
	}
}

// clean makes a name of one part: dots and blanks would make two.
func clean(s string) string { return strings.NewReplacer(".", "_", " ", "_", "\n", "_").Replace(s) }

// Close ends the connection.
func (c *carbon) Close() error { return c.conn.Close() }
