// Command bytes says what a Go program for Linux consists of: how many bytes each
// package has of code, of the tables about its functions and of their names, and how
// large the sections of the file are. The program may be stripped, as an agent is.
//
// usage: go run ./bench/bytes [-n ROWS] FILE
package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	rows := flag.Int("n", 40, "how many packages to show")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *rows); err != nil {
		fmt.Fprintln(os.Stderr, "bytes:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, path string, rows int) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	t, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(w, "%9s  section\n", "bytes")
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.FileSize >= 10_000 {
			fmt.Fprintf(w, "%9d  %s\n", s.FileSize, s.Name)
		}
	}
	for _, p := range t.parts {
		fmt.Fprintf(w, "%9d  of .gopclntab: %s\n", p.size, p.name)
	}
	fmt.Fprintf(w, "\n%9s %9s %9s %9s %9s  package (functions)\n", "together", "code", "tables", "names", "functions")
	var all row
	for _, r := range t.rows {
		all.code, all.tables, all.names, all.functions = all.code+r.code, all.tables+r.tables, all.names+r.names, all.functions+r.functions
	}
	all.name = "all"
	for _, r := range append(t.rows[:min(rows, len(t.rows)):min(rows, len(t.rows))], &all) {
		fmt.Fprintf(w, "%9d %9d %9d %9d %9d  %s\n", r.sum(), r.code, r.tables, r.names, r.functions, r.name)
	}
	return nil
}

// A row is what the functions of a package take.
type row struct {
	name                           string
	code, tables, names, functions int
}

func (r *row) sum() int { return r.code + r.tables + r.names }

type part struct {
	name string
	size int
}

type table struct {
	rows  []*row // the largest first
	parts []part // of .gopclntab
}

// Where things are in .gopclntab; see cmd/link/internal/ld/pcln.go and
// runtime.pcHeader and runtime._func.
const (
	magic      = 0xfffffff1
	headerSize = 72
	funcSize   = 44 // of a _func, before its two lists
)

// read divides the code and the tables about it among packages.
func read(f *elf.File) (*table, error) {
	text, lines := f.Section(".text"), f.Section(".gopclntab")
	if text == nil || lines == nil {
		return nil, errors.New("not a Go program")
	}
	d, err := lines.Data()
	if err != nil {
		return nil, err
	}
	u := f.ByteOrder
	if len(d) < headerSize || u.Uint32(d) != magic || d[7] != 8 {
		return nil, errors.New("its table of functions has a form that is not known here")
	}
	count := int(u.Uint64(d[8:]))
	var at [5]int // of the names, the units' files, the files, the tables, the functions
	for i := range at {
		at[i] = int(u.Uint64(d[32+8*i:]))
	}
	names, tables, funcs := d[at[0]:], d[at[3]:], d[at[4]:]
	t := &table{parts: []part{{"names of functions", at[1] - at[0]}, {"files", at[3] - at[1]}, {"tables by address", at[4] - at[3]}, {"rows of functions", len(d) - at[4]}}}
	kinds := map[string]int{}
	seen := map[uint32]bool{0: true}
	// Functions share tables: the first one pays.
	once := func(kind string, at uint32) int {
		if seen[at] {
			return 0
		}
		seen[at] = true
		n := pcTable(tables[at:])
		kinds[kind] += n
		return n
	}
	byName := map[string]*row{}
	named := map[string]bool{}
	for i := range count {
		fn := funcs[u.Uint32(funcs[8*i+4:]):]
		name, _, _ := bytes.Cut(names[u.Uint32(fn[4:]):], []byte{0})
		pkg := packageOf(string(name))
		r := byName[pkg]
		if r == nil {
			r = &row{name: pkg}
			byName[pkg] = r
			t.rows = append(t.rows, r)
		}
		end := uint32(text.Size)
		if i+1 < count {
			end = u.Uint32(funcs[8*(i+1):])
		}
		r.functions++
		r.code += int(end - u.Uint32(fn))
		if !named[string(name)] {
			named[string(name)] = true
			r.names += len(name) + 1
		}
		data := int(u.Uint32(fn[28:]))
		r.tables += 8 + funcSize + 4*data + 4*int(fn[43])
		r.tables += once("stack", u.Uint32(fn[16:])) + once("files", u.Uint32(fn[20:])) + once("lines", u.Uint32(fn[24:]))
		for k := range data {
			r.tables += once("other", u.Uint32(fn[funcSize+4*k:]))
		}
	}
	for _, kind := range []string{"stack", "files", "lines", "other"} {
		t.parts = append(t.parts, part{"tables by address: " + kind, kinds[kind]})
	}
	slices.SortStableFunc(t.rows, func(a, b *row) int { return cmp.Compare(b.sum(), a.sum()) })
	return t, nil
}

// pcTable returns the size of a table of values by address: pairs of a difference of
// values and one of addresses, up to a difference of 0.
func pcTable(b []byte) int {
	size := 0
	for {
		diff, n := binary.Uvarint(b[size:])
		if diff == 0 && size > 0 || n <= 0 {
			return size + 1
		}
		size += n
		_, n = binary.Uvarint(b[size:])
		size += n
	}
}

// packageOf returns the package of a function by its full name, such as
// "net/http.(*Client).Do" or "slices.Sort[go.shape.[]string]".
func packageOf(name string) string {
	for _, made := range []string{"type:.eq.", "type:.hash."} {
		name = strings.TrimPrefix(name, made)
	}
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		name = name[:slash+dot]
	}
	return strings.ReplaceAll(name, "%2e", ".")
}
