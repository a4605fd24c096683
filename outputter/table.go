package outputter

import (
	"io"
	"strings"
	"unicode/utf8"

	"brine/internal/py/value"
)

// Table prints lists of rows as tables. The settings are Salt's
// out.table.NAME: rows_key, labels_key, delim (" | "), prefix ("| "), suffix
// (" |"), row_delimiter ("-"), justify (center), width (50, in characters),
// has_header and separate_rows (true), nested_indent (0), and title, above the
// one table that rows_key names. Rows are dicts, lists of text, or text; data
// with other rows are printed by [Nested]. Salt: salt/output/table_out.py.
func Table(w io.Writer, data value.Value, o *Options) error { return newTabler(o).print(w, data, o) }

func newTabler(o *Options) *tabler {
	t := &tabler{
		o: o, c: colors(o.Color), delim: " | ", prefix: "| ", suffix: " |", rule: "-", justify: center,
		width: 50, header: true, separate: true,
	}
	t.configure(o.Opts)
	return t
}

// maxIndent bounds nested_indent.
const maxIndent = 1000

func (t *tabler) print(w io.Writer, data value.Value, o *Options) error {
	n, _ := value.AsInt(o.Opts.At("out.table.nested_indent"))
	indent := int(min(max(0, n), maxIndent))
	if title := o.Opts.At("out.table.title"); value.Truth(title) && t.rowsKey != "" {
		// In Salt the title is the colour of an empty text.
		t.lines = append(t.lines, strings.Repeat(" ", indent)+value.Str(title)+t.c.white+t.c.endc+"\n")
	}
	t.show(data, indent)
	if t.notTable {
		return Nested(w, data, o)
	}
	return print(w, strings.Join(t.lines, "\n"))
}

type tabler struct {
	o                           *Options
	c                           palette
	delim, prefix, suffix, rule string
	rowsKey, labelsKey          string
	justify                     func(string, int) string
	width                       int
	header, separate            bool
	lines                       []string
	notTable                    bool // there are rows that make no table
}

func (t *tabler) configure(opts *value.Map) {
	text := func(name string, dst *string) {
		if s, ok := opts.At("out.table." + name).(string); ok {
			*dst = s
		}
	}
	text("delim", &t.delim)
	text("prefix", &t.prefix)
	text("suffix", &t.suffix)
	text("row_delimiter", &t.rule)
	text("rows_key", &t.rowsKey)
	text("labels_key", &t.labelsKey)
	switch strings.ToLower(opts.Str("out.table.justify")) {
	case "left":
		t.justify = ljust
	case "right":
		t.justify = rjust
	}
	if n, ok := value.AsInt(opts.At("out.table.width")); ok && n > 0 {
		t.width = int(n)
	}
	flag := func(name string, dst *bool) {
		if v, ok := opts.Get("out.table." + name); ok {
			*dst = value.Truth(v)
		}
	}
	flag("has_header", &t.header)
	flag("separate_rows", &t.separate)
}

func (t *tabler) line(indent int, color, s, suffix string) {
	t.lines = append(t.lines, strings.Repeat(" ", indent)+color+t.o.clean(s)+t.c.endc+suffix)
}

func items(v value.Value) ([]value.Value, bool) {
	switch v := v.(type) {
	case *value.List:
		return v.Items, true
	case value.Tuple:
		return v, true
	}
	return nil, false
}

func (t *tabler) show(v value.Value, indent int) {
	if rows, ok := items(v); ok && t.rowsKey == "" {
		t.rows(rows, nil, indent)
		return
	}
	m, ok := v.(value.Mapping)
	if !ok {
		return
	}
	if t.rowsKey != "" {
		if _, ok := m.Get(t.rowsKey); !ok {
			for _, k := range sortedKeys(m) {
				x, _ := m.Get(k)
				t.show(x, indent)
			}
			return
		}
	}
	for _, k := range sortedKeys(m) {
		if t.rowsKey != "" && value.Str(k) != t.rowsKey {
			continue
		}
		x, _ := m.Get(k)
		if t.rowsKey == "" {
			t.line(indent, t.c.darkGray, value.Str(k), ":")
			t.line(indent, t.c.darkGray, "----------", "")
		}
		rows, ok := items(x)
		if !ok {
			t.show(x, indent+4)
			continue
		}
		var labels value.Value
		if t.labelsKey != "" {
			labels, _ = m.Get(t.labelsKey)
		}
		t.rows(rows, labels, indent)
	}
}

// rows prints a table of rows that are all dicts, all lists or all text.
func (t *tabler) rows(rows []value.Value, labels value.Value, indent int) {
	if len(rows) == 0 {
		return
	}
	kind := value.TypeName(rows[0])
	for _, r := range rows[1:] {
		if value.TypeName(r) != kind {
			return
		}
	}
	var head []string
	switch l := labels.(type) {
	case value.Mapping:
		for _, k := range sortedKeys(l) {
			x, _ := l.Get(k)
			head = append(head, value.Str(x))
		}
	case *value.List:
		for _, x := range l.Items {
			head = append(head, value.Str(x))
		}
	}
	var cells [][]string
	for _, r := range rows {
		switch r := r.(type) {
		case value.Mapping:
			keys := sortedStrings(r.Keys())
			row := make([]string, len(keys))
			for i, k := range keys {
				x, _ := r.Get(k)
				row[i] = value.Str(x)
			}
			if head == nil {
				for _, k := range keys {
					head = append(head, title(strings.ReplaceAll(k, "_", " ")))
				}
			}
			cells = append(cells, row)
		case string:
			cells = append(cells, []string{r})
		default:
			list, ok := items(r)
			row := []string{}
			for _, x := range list {
				s, isText := x.(string)
				ok = ok && isText
				row = append(row, s)
			}
			t.notTable = t.notTable || !ok
			cells = append(cells, row)
		}
	}
	if head != nil {
		cells = append([][]string{head}, cells...)
	}
	t.table(cells, head != nil && t.header, indent+4)
}

func (t *tabler) table(cells [][]string, header bool, indent int) {
	var widths []int
	wrapped := make([][][]string, len(cells))
	for i, row := range cells {
		wrapped[i] = t.wrapRow(row)
		for _, line := range wrapped[i] {
			for j, s := range line {
				if j == len(widths) {
					widths = append(widths, 0)
				}
				widths[j] = max(widths[j], utf8.RuneCountInString(s))
			}
		}
	}
	total := len(t.prefix) + len(t.suffix) + len(t.delim)*max(0, len(widths)-1)
	for _, w := range widths {
		total += w
	}
	rule := strings.Repeat(t.rule, total)
	if t.separate {
		t.line(indent, t.c.lightGray, rule, "")
	}
	for _, row := range wrapped {
		for _, line := range row {
			for j := range line {
				line[j] = t.justify(line[j], widths[j])
			}
			t.line(indent, t.c.white, t.prefix+strings.Join(line, t.delim)+t.suffix, "")
		}
		if t.separate || header {
			t.line(indent, t.c.lightGray, rule, "")
			header = false
		}
	}
}

// wrapRow breaks the cells of a row at blanks where they are wider than the
// limit, and returns the lines that the row takes.
func (t *tabler) wrapRow(row []string) [][]string {
	columns := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		columns[i] = t.wrap(cell)
		height = max(height, len(columns[i]))
	}
	lines := make([][]string, height)
	for n := range lines {
		lines[n] = make([]string, len(row))
		for i := range row {
			if n < len(columns[i]) {
				lines[n][i] = columns[i][n]
			}
		}
	}
	return lines
}

func (t *tabler) wrap(cell string) []string {
	words := strings.Split(cell, " ")
	text := words[0]
	for _, word := range words[1:] {
		last := text[strings.LastIndexByte(text, '\n')+1:]
		first, _, _ := strings.Cut(word, "\n")
		sep := " "
		if len(last)+len(first) >= t.width {
			sep = "\n"
		}
		text += sep + word
	}
	return strings.Split(text, "\n")
}

// title makes the first letter of each word upper case and the others lower.
func title(s string) string {
	prev := false
	return strings.Map(func(r rune) rune {
		low, up := strings.ToLower(string(r)), strings.ToUpper(string(r))
		isLetter := low != up
		out := low
		if !prev {
			out = up
		}
		prev = isLetter
		r, _ = utf8.DecodeRuneInString(out)
		return r
	}, s)
}
