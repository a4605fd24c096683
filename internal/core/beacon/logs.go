package beacon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

const (
	maxRead = 8 << 20  // bytes that one look reads of a log
	maxLine = 16 << 10 // bytes of a line in an event
)

// logFile finds lines of a log that match regular expressions.
// Salt: salt/beacons/log_beacon.py.
var logFile = Kind{
	Name: "log", Doc: "lines of a log that match",
	keys: []key{
		{name: "file", required: true, check: (*checking).isPath},
		{name: "tags", required: true, check: (*checking).isMapping},
	},
	check: func(c *checking) {
		c.mappings("tags", []string{"regex"}, false, func(at source.Pos, where string, m *value.Map) {
			text, ok := m.At("regex").(string)
			if !ok || text == "" {
				c.fault(at, "write '{regex: .*error.*}'", "%s has no regex", where)
			} else if _, err := pyre.Compile(text, 0); err != nil {
				c.fault(at, "", "%s: %q is not a regular expression: %v", where, text, err)
			}
		})
	},
	look: lookLog,
}

func lookLog(_ context.Context, l *look) ([]*value.Map, error) {
	path := value.Str(l.option("file"))
	st, err := l.env.Host.Stat(path)
	if err != nil {
		return nil, err
	}
	pos, _ := value.AsInt(l.state.At("pos"))
	inode, _ := value.AsInt(l.state.At("inode"))
	if l.first || l.state.Str("file") != path {
		pos, inode = st.Size, int64(st.Inode)
	}
	if inode != int64(st.Inode) || pos > st.Size || pos < 0 { // another file, or it was emptied
		pos = 0
	}
	text, err := readFrom(l.env.Host, path, pos)
	if err != nil {
		return nil, err
	}
	patterns := value.NewMap(0)
	for k, v := range l.mapping("tags").All() {
		patterns.Set(k, v.(*value.Map).Str("regex"))
	}
	found, n, err := matching(text, patterns)
	l.state.Set("file", path)
	l.state.Set("inode", int64(st.Inode))
	l.state.Set("pos", pos+int64(n))
	return found, err
}

// readFrom reads a file from a position, at most maxRead bytes.
func readFrom(h host.Host, path string, pos int64) ([]byte, error) {
	f, err := h.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(pos, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, f, pos)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxRead))
}

// matching returns the data of the whole lines that match, and how many bytes it looked at.
// A line without an end waits for it, unless it fills all that was read.
func matching(text []byte, patterns *value.Map) (found []*value.Map, n int, err error) {
	compiled := make([]*pyre.Regexp, 0, patterns.Len())
	var tags []string
	for k, v := range patterns.All() {
		re, err := pyre.Compile(value.Str(v), 0)
		if err != nil {
			return nil, 0, err
		}
		compiled, tags = append(compiled, re), append(tags, value.Str(k))
	}
	for n < len(text) && len(found) < maxFound {
		end := bytes.IndexByte(text[n:], '\n')
		if end < 0 {
			if len(text) < maxRead || n > 0 {
				return found, n, nil
			}
			end = len(text) - 1
		}
		line := cutLine(strings.TrimSuffix(string(text[n:n+end]), "\r"))
		n += end + 1
		for i, re := range compiled {
			hit, err := re.Match(line)
			if err != nil {
				return found, n, fmt.Errorf("%s: %w", tags[i], err)
			}
			if hit != nil {
				found = append(found, value.MapOf("tag", tags[i], "match", "yes", "raw", line, "error", ""))
			}
		}
	}
	return found, n, nil
}

// cutLine returns a line as an event has it.
func cutLine(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// journalField is a field of the journal that entries can be looked for by.
var journalField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^_?[A-Z0-9][A-Z0-9_]*$`) })

// journald finds entries of the journal of systemd that have fields.
// Salt: salt/beacons/journald.py.
var journald = Kind{
	Name: "journald", Doc: "entries of the journal of systemd that have fields",
	keys: []key{{name: "services", required: true, check: (*checking).isMapping}},
	check: func(c *checking) {
		c.mappings("services", nil, false, func(at source.Pos, where string, m *value.Map) {
			for k, v := range m.All() {
				switch v.(type) {
				case string, int64:
				default:
					c.fault(m.Pos(k), "", "%s: %s: %s is neither text nor a number", where, value.Str(k), value.Repr(v))
				}
				if !journalField().MatchString(value.Str(k)) {
					c.fault(m.Pos(k), "fields are SYSLOG_IDENTIFIER, PRIORITY, _SYSTEMD_UNIT and so on: 'journalctl -o verbose' shows them",
						"%s: %q is not a field of the journal", where, value.Str(k))
				}
			}
			if m.Len() == 0 {
				c.fault(at, "write '{SYSLOG_IDENTIFIER: sshd}'", "%s has no field", where)
			}
		})
	},
	look: lookJournal,
}

// journalTime is how long journalctl may take.
const journalTime = time.Minute

func lookJournal(ctx context.Context, l *look) ([]*value.Map, error) {
	services := l.mapping("services")
	cursor, since := l.state.Str("cursor"), l.state.Str("since")
	if cursor == "" && since == "" { // the first look knows what comes from now on
		l.state.Set("since", strconv.FormatInt(l.env.Host.Now().Unix(), 10))
		return nil, nil
	}
	argv := []string{"journalctl", "--quiet", "--no-pager", "--output=json"}
	if cursor != "" {
		argv = append(argv, "--after-cursor="+cursor)
	} else {
		argv = append(argv, "--since=@"+since)
	}
	for k, v := range services.All() {
		for field, want := range v.(*value.Map).All() {
			argv = append(argv, value.Str(field)+"="+value.Str(want))
		}
		if last, _ := services.Entry(services.Len() - 1); k != last {
			argv = append(argv, "+")
		}
	}
	text, err := journal(ctx, l.env.Host, argv)
	if err != nil {
		return nil, err
	}
	var found []*value.Map
	for line := range bytes.Lines(text) {
		if len(found) >= maxFound || !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		v, err := value.ParseJSON(string(line))
		entry, ok := v.(*value.Map)
		if err != nil || !ok || entry.Str("__CURSOR") == "" {
			return found, errors.New("journalctl printed what is not an entry of the journal")
		}
		l.state.Set("cursor", entry.Str("__CURSOR"))
		data := journalData(entry)
		for name, want := range services.All() {
			if has(data, want.(*value.Map)) {
				one := data.Copy()
				one.Set("tag", value.Str(name))
				found = append(found, one)
			}
		}
	}
	return found, nil
}

// journal returns what journalctl prints. Where its first entry is larger than all that is
// read, long fields are left out.
func journal(ctx context.Context, h host.Host, argv []string) ([]byte, error) {
	for _, more := range [][]string{{"--all"}, nil} {
		out, err := h.Run(ctx, host.Cmd{Argv: append(slices.Clone(argv), more...), Timeout: journalTime, MaxOutput: maxRead, ReadOnly: true})
		switch {
		case err != nil:
			return nil, err
		case out.Status != 0 || out.TimedOut:
			return nil, fmt.Errorf("journalctl failed (%d): %s", out.Status, cutLine(strings.TrimSpace(string(out.Stderr))))
		case len(out.Stdout) == 0 || bytes.IndexByte(out.Stdout, '\n') >= 0:
			return out.Stdout, nil
		}
	}
	return nil, fmt.Errorf("an entry of the journal has more than %d bytes", maxRead)
}

// has reports whether an entry has fields.
func has(entry, want *value.Map) bool {
	for k, v := range want.All() {
		if value.Str(entry.At(k)) != value.Str(v) {
			return false
		}
	}
	return true
}

// journalNumbers are the fields that are numbers, as Python's module systemd has them.
var journalNumbers = []string{"PRIORITY", "SYSLOG_FACILITY", "_PID", "_UID", "_GID", "CODE_LINE", "ERRNO", "EXIT_STATUS", "LEADER"}

// journalData returns the fields of an entry. Those that are not text are lists of bytes.
func journalData(entry *value.Map) *value.Map {
	out := value.NewMap(entry.Len())
	for k, v := range entry.All() {
		switch x := v.(type) {
		case string:
			out.Set(k, cutLine(x))
		case *value.List:
			out.Set(k, cutLine(textOf(x)))
		}
	}
	for _, k := range journalNumbers {
		if n, err := strconv.ParseInt(out.Str(k), 10, 64); err == nil {
			out.Set(k, n)
		}
	}
	return out
}

// textOf makes text of a list of bytes, or of the values of a field that an entry has more
// than once.
func textOf(l *value.List) string {
	var b strings.Builder
	for i, x := range l.Items {
		if n, ok := x.(int64); ok && n >= 0 && n < 256 {
			b.WriteByte(byte(n))
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(value.Str(x))
	}
	return b.String()
}
