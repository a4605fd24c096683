package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/big"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/testkit/memtest"
)

func samples() []value.Value {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	ordered := value.MapOf("b", int64(1), "a", nil)
	ordered.Ordered = true
	return []value.Value{
		nil, true, false, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), huge, 1.5, math.Inf(-1), "", "text\x00é", value.Bytes("\xff\x00"),
		time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), value.NewList(), value.NewList(int64(1), "x", value.NewList(nil)),
		value.Tuple{int64(1), "a"},
		value.NewSet(int64(1), "b"), value.NewMap(0),
		value.MapOf(int64(1), "int", "1", "str", nil, "none", value.Tuple{int64(1), int64(2)}, value.MapOf("x", 1.25)), ordered,
	}
}

func TestValuesKeepTheirTypes(t *testing.T) {
	t.Parallel()
	for _, v := range samples() {
		b, err := AppendValue(nil, v)
		if err != nil {
			t.Errorf("%s: %v", value.Repr(v), err)
			continue
		}
		got, err := ParseValue(b)
		if err != nil || value.Repr(got) != value.Repr(v) || value.TypeName(got) != value.TypeName(v) {
			t.Errorf("%s came back as %s (%s), %v", value.Repr(v), value.Repr(got), value.TypeName(got), err)
		}
		for i := range b {
			if _, err := ParseValue(b[:i]); err == nil {
				t.Errorf("%s: %d of %d bytes parse", value.Repr(v), i, len(b))
			}
		}
	}
	lazy := value.NewLazyMap(func() *value.Map { return value.MapOf("a", int64(1)) })
	b, err := AppendValue(nil, lazy)
	if got, e := ParseValue(b); err != nil || e != nil || value.Repr(got) != "{'a': 1}" {
		t.Errorf("a lazy dict came back as %s, %v %v", value.Repr(got), err, e)
	}
}

func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	loop := value.NewList()
	loop.Append(loop)
	if _, err := AppendValue(nil, loop); err == nil {
		t.Error("a list within itself is no error")
	}
	deep := bytes.Repeat([]byte{tagList, 1}, 100_000)
	for name, b := range map[string][]byte{
		"deep":       append(deep, tagNone),
		"many items": {tagList, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"many nones": append([]byte{tagList, 0x80, 0x80, 0x80, 0x01}, make([]byte, 1<<21)...),
		"long text":  {tagStr, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'},
		"bad key":    {tagMap, 1, tagList, 0, tagNone},
		"bad item":   {tagSet, 1, tagList, 0},
		"bad tag":    {200},
		"bad int":    {tagBig, 1, 'x'},
		"bad time":   {tagTime, 1, 'x'},
		"rest":       {tagNone, tagNone},
		"empty":      {},
	} {
		var pe *ProtocolError
		if _, err := ParseValue(b); !errors.As(err, &pe) {
			t.Errorf("%s: %v, want a ProtocolError", name, err)
		}
	}
}

func TestNoiseBeforeTheHello(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, noise, want string
	}{
		{"none", "", ""},
		{"motd", "Welcome to web1\nLast login: never\n", ""},
		{"looks like it", "\x00brine wire\x00brine \x00\x00", ""},
		{"too much", strings.Repeat("x", 5000), "more than 4096 bytes"},
		{"a terminal", "\x00brine wire\x00\n", "changes line ends"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := skipTo(bytes.NewBufferString(tt.noise+magic), 4096)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
	err := skipTo(bytes.NewBufferString("bash: brine: command not found\n"), 4096)
	var nh *NoHelloError
	if !errors.As(err, &nh) || !strings.Contains(err.Error(), "command not found") {
		t.Errorf("err = %v", err)
	}
}

// pair returns both ends of a channel, started.
func pair(t testing.TB, ctl, agent Options) (*Mux, *Mux) {
	t.Helper()
	a, b := net.Pipe()
	agent.Role = Agent
	got := make(chan *Mux, 1)
	go func() {
		m, err := Greet(context.Background(), b, agent)
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	m, err := Greet(t.Context(), a, ctl)
	if err != nil {
		t.Fatal(err)
	}
	far := <-got
	t.Cleanup(func() {
		m.Close()
		far.Close()
		m.Wait()
		far.Wait()
	})
	return m, far
}

func TestStreams(t *testing.T) {
	t.Parallel()
	m, _ := pair(t, Options{Window: 1 << 10}, Options{Window: 2 << 10, Handle: func(ctx context.Context, s *Stream) error {
		switch s.Method() {
		case "echo":
			_, err := io.Copy(onlyW{s}, onlyR{s})
			if err != nil {
				return err
			}
			return s.CloseWrite(nil, value.MapOf("said", s.Head().At("say")))
		case "missing":
			return fs.ErrNotExist
		case "wait":
			<-ctx.Done()
			return ctx.Err()
		case "panic":
			panic("handler")
		}
		return Refusef("no %s", s.Method())
	}})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			want := bytes.Repeat([]byte{byte(i), 1, 2}, 20_000)
			s, err := m.Open(t.Context(), "echo", value.MapOf("say", int64(i)), true)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			go func() {
				if _, err := s.Write(want); err != nil {
					t.Errorf("stream %d: write: %v", i, err)
				}
				_ = s.CloseWrite(nil, nil)
			}()
			got, err := io.ReadAll(s)
			if err != nil || !bytes.Equal(got, want) || s.Closing().At("said") != int64(i) {
				t.Errorf("stream %d: %d bytes of %d, %v", i, len(got), len(want), err)
			}
		})
	}
	wg.Wait()
	if _, err := m.Call(t.Context(), "missing", nil, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	var re *RemoteError
	if _, err := m.Call(t.Context(), "other", nil, 100); !errors.As(err, &re) || re.Code != CodeRefused {
		t.Errorf("other: %v", err)
	}
	if _, err := m.Call(t.Context(), "panic", nil, 100); err == nil || !strings.Contains(err.Error(), "handler") {
		t.Errorf("panic: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Call(ctx, "wait", nil, 100); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
	m.mu.Lock()
	left := len(m.streams)
	m.mu.Unlock()
	if left != 0 {
		t.Errorf("%d streams are left", left)
	}
}

type (
	onlyW struct{ io.Writer }
	onlyR struct{ io.Reader }
)

func TestNotesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var got []value.Value
	done := make(chan struct{})
	m, _ := pair(t, Options{}, Options{Note: func(name string, v value.Value, _ int) {
		if name == "end" {
			close(done)
			return
		}
		got = append(got, v)
	}})
	for i := range 100 {
		if err := m.Note("n", int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = m.Note("end", nil)
	<-done
	for i, v := range got {
		if v != int64(i) {
			t.Fatalf("note %d is %v", i, v)
		}
	}
}

func TestTheNumberOfStreamsIsBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	m, _ := pair(t, Options{}, Options{Streams: 3, Handle: func(context.Context, *Stream) error { <-release; return nil }})
	var streams []*Stream
	for range 3 {
		s, err := m.Open(t.Context(), "x", nil, false)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of what is answered at once
	defer cancel()
	if _, err := m.Call(ctx, "x", nil, 10); !errors.Is(err, ErrBusy) {
		t.Errorf("the fourth: %v", err)
	}
	streams[0].Close() // its handler is still at work, and counts
	if _, err := m.Call(ctx, "x", nil, 10); !errors.Is(err, ErrBusy) {
		t.Errorf("after a cancel: %v", err)
	}
	close(release)
	for _, s := range streams[1:] {
		if _, err := io.ReadAll(s); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Call(t.Context(), "x", nil, 10); err != nil {
		t.Errorf("with room: %v", err)
	}
}

func TestASilentPeerIsNoticed(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	go func() { // says hello, then reads and is silent
		_ = hello(b)
		_, _ = io.Copy(io.Discard, b)
	}()
	m, err := Greet(t.Context(), a, Options{Heartbeat: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	<-m.Done()
	if !errors.Is(m.Err(), ErrSilent) {
		t.Errorf("err = %v", m.Err())
	}
}

func TestAPeerThatReadsNothingHoldsNobody(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	go func() {
		buf := make([]byte, 4096)
		_ = hello(b)
		_, _ = b.Read(buf) // the controller's hello
		for {
			if _, err := b.Write(appendFrame(nil, frame{typ: framePing})); err != nil {
				return
			}
		}
	}()
	m, err := Greet(t.Context(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Call(ctx, "x", nil, 10); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, m.Err()) {
		t.Errorf("call: %v", err)
	}
	<-m.Done() // pongs pile up to the bound
	if err := m.Err(); err == nil || !strings.Contains(err.Error(), "reads no more") {
		t.Errorf("err = %v", err)
	}
}

// hello writes what Greet waits for.
func hello(w io.Writer) error {
	p, err := AppendValue(nil, value.MapOf("proto", int64(Proto), "window", int64(1<<16), "frame", int64(1<<20), "is", "brine agent"))
	if err != nil {
		return err
	}
	_, err = w.Write(appendFrame([]byte(magic), frame{typ: frameHello, payload: p}))
	return err
}

func TestLiesEndTheChannel(t *testing.T) {
	t.Parallel()
	head, _ := AppendValue(nil, value.NewMap(0))
	open := func(id uint32, method string) []byte {
		return appendFrame(nil, frame{frameOpen, id, append(append([]byte{0, byte(len(method))}, method...), head...)})
	}
	data := func(id uint32, n int) []byte { return appendFrame(nil, frame{frameData, id, make([]byte, n)}) }
	for name, lie := range map[string][]byte{
		"type":           appendFrame(nil, frame{typ: 99}),
		"long frame":     {0xff, 0xff, 0xff, 0xff, byte(frameData), 0, 0, 0, 1},
		"second hello":   appendFrame(nil, frame{typ: frameHello}),
		"unknown stream": data(7, 1),
		"own stream":     data(1, 1),
		"our number":     open(3, "x"),
		"stream zero":    open(0, "x"),
		"twice":          append(open(2, "x"), open(2, "x")...),
		"too much data":  append(open(2, "x"), bytes.Repeat(data(2, 32<<10), 9)...),
		"credit":         append(open(2, "x"), bytes.Repeat(appendFrame(nil, frame{frameCredit, 2, []byte{0x3f, 0xff, 0xff, 0xff}}), 3)...),
		"short credit":   append(open(2, "x"), appendFrame(nil, frame{frameCredit, 2, []byte{1}})...),
		"two ends":       append(open(2, "x"), bytes.Repeat(appendFrame(nil, frame{frameEnd, 2, []byte{0}}), 2)...),
		"no method":      appendFrame(nil, frame{frameOpen, 2, []byte{0, 200}}),
		"no head":        appendFrame(nil, frame{frameOpen, 2, []byte{0, 1, 'x'}})[:9+3],
		"bad note":       appendFrame(nil, frame{typ: frameNote, payload: []byte{200}}),
		"bad value":      appendFrame(nil, frame{typ: frameNote, payload: []byte{1, 'n', 200}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := net.Pipe()
			go func() {
				_ = hello(b)
				go func() { _, _ = io.Copy(io.Discard, b) }()
				_, _ = b.Write(lie)
				if name == "no head" {
					b.Close()
				}
			}()
			m, err := Greet(t.Context(), a, Options{Note: func(string, value.Value, int) {}, Handle: func(ctx context.Context, _ *Stream) error {
				<-ctx.Done()
				return ctx.Err()
			}})
			if err != nil {
				t.Fatal(err)
			}
			<-m.Done()
			var pe *ProtocolError
			if !errors.As(m.Err(), &pe) && name != "no head" {
				t.Errorf("err = %v, want a ProtocolError", m.Err())
			}
			m.Wait()
		})
	}
}

func TestHellosThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*value.Map{
		"version": value.MapOf("proto", int64(99), "window", int64(1000), "frame", int64(1<<20)),
		"window":  value.MapOf("proto", int64(Proto), "window", int64(0), "frame", int64(1<<20)),
		"frame":   value.MapOf("proto", int64(Proto), "window", int64(1000), "frame", int64(1)),
		"types":   value.MapOf("proto", "x"),
	} {
		a, b := net.Pipe()
		go func() {
			p, _ := AppendValue(nil, m)
			go func() { _, _ = io.Copy(io.Discard, b) }()
			_, _ = b.Write(appendFrame([]byte(magic), frame{typ: frameHello, payload: p}))
		}()
		if _, err := Greet(t.Context(), a, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	a, _ := net.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Greet(ctx, a, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a peer that says nothing: %v", err)
	}
}

func TestTreesComeBack(t *testing.T) {
	t.Parallel()
	tree := &Tree{Envs: []*TreeEnv{{
		Name: "base", Dirs: []string{"a", "a/b", "z"},
		Files: []TreeFile{
			{Path: "a/b/x", Size: 3, Mode: 0o4755 &^ 0o4000, Sum: strings.Repeat("ab", 32)},
			{Path: "a/link", Mode: fs.ModeSymlink | 0o777, Link: "../nowhere"},
			{Path: "a0", Size: 1, Mode: 0o600 | fs.ModeSetuid},
		},
	}, {Name: "dev", Partial: true}}}
	b, id, err := tree.Encode()
	if err != nil || id != TreeID(b) {
		t.Fatal(id, err)
	}
	got, err := ParseTree(b)
	if err != nil {
		t.Fatal(err)
	}
	again, id2, err := got.Encode()
	if err != nil || id2 != id || !bytes.Equal(again, b) {
		t.Errorf("the tree came back as another one: %v", err)
	}
	e := got.Env("base")
	files, dirs := e.Below("a")
	if len(files) != 2 || len(dirs) != 1 || e.File("a0").Mode != 0o600|fs.ModeSetuid || !e.HasDir("a/b") || e.HasDir("a/b/x") || e.File("a") != nil {
		t.Errorf("tree = %+v, below a: %v %v", e, files, dirs)
	}
	for i := range b {
		if _, err := ParseTree(b[:i]); err == nil {
			t.Fatalf("%d of %d bytes parse", i, len(b))
		}
	}
}

// FuzzFrames feeds a channel with bytes: it must end without a panic, hold no
// more than it grants, and leave no handler behind.
func FuzzFrames(f *testing.F) {
	head, _ := AppendValue(nil, value.MapOf("path", "x"))
	open := appendFrame(nil, frame{frameOpen, 2, append([]byte{1, 1, 'x'}, head...)})
	f.Add(open)
	f.Add(append(open, appendFrame(nil, frame{frameData, 2, []byte("data")})...))
	f.Add(appendFrame(nil, frame{frameNote, 0, []byte{1, 'n', tagNone}}))
	f.Add(appendFrame(appendFrame(nil, frame{typ: framePing}), frame{frameCancel, 1, []byte("why")}))
	f.Add(appendFrame(nil, frame{frameEnd, 1, []byte{0}}))
	f.Add(appendFrame(nil, frame{frameEnd, 1, append([]byte{0}, head...)}))
	f.Add(appendFrame(nil, frame{frameCredit, 1, []byte{0, 0, 1, 0}}))
	f.Add([]byte("plain text"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, far := net.Pipe()
		go func() {
			_ = hello(far)
			go func() { _, _ = io.Copy(io.Discard, far) }()
			_, _ = far.Write(b)
			far.Close()
		}()
		m, err := Greet(t.Context(), a, Options{Handle: func(_ context.Context, s *Stream) error {
			_, err := io.Copy(io.Discard, s)
			return err
		}, Note: func(string, value.Value, int) {}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := m.Open(t.Context(), "call", nil, true); err == nil {
			_, _ = s.Write([]byte("body"))
			_, _ = io.ReadAll(s)
			s.Close()
		}
		<-m.Done()
		m.Wait()
	})
}

// FuzzValue checks that what parses is written as what parses to the same.
func FuzzValue(f *testing.F) {
	for _, v := range samples() {
		b, _ := AppendValue(nil, v)
		f.Add(b)
	}
	f.Add(append([]byte{tagList, 0x80, 0x80, 0x04}, make([]byte, 1<<16)...))
	debug.SetMemoryLimit(512 << 20)
	f.Fuzz(func(t *testing.T, b []byte) {
		var v value.Value
		var err error
		if peak := memtest.Peak(func() { v, err = ParseValue(b) }); peak > int64(128*len(b))+16<<20 {
			t.Errorf("%d bytes of memory for %d", peak, len(b))
		}
		if err != nil {
			return
		}
		again, err := AppendValue(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := ParseValue(again)
		if err != nil || value.Repr(w) != value.Repr(v) {
			t.Fatalf("%s came back as %s, %v", value.Repr(v), value.Repr(w), err)
		}
	})
}

// FuzzHello feeds the start of a channel.
func FuzzHello(f *testing.F) {
	var good bytes.Buffer
	_ = hello(&good)
	f.Add(good.Bytes())
	f.Add([]byte("Last login\n" + good.String()))
	f.Add([]byte(magic))
	f.Add(make([]byte, 1<<20))
	debug.SetMemoryLimit(512 << 20)
	f.Fuzz(func(t *testing.T, b []byte) {
		stop, peak := memtest.Watch()
		defer func() {
			if stop(); *peak > int64(16*len(b))+64<<20 {
				t.Errorf("%d bytes of memory for a hello of %d", *peak, len(b))
			}
		}()
		a, far := net.Pipe()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, far) }()
			_, _ = far.Write(b)
			far.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		m, err := Greet(ctx, a, Options{Noise: 1000})
		if ctx.Err() != nil {
			t.Fatal("the hello hangs")
		}
		if err == nil {
			m.Close()
		}
	})
}

func BenchmarkCall(b *testing.B) {
	m, _ := pair(b, Options{}, Options{Handle: func(_ context.Context, s *Stream) error { return s.Answer(true) }})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Call(b.Context(), "x", nil, 100); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThroughput(b *testing.B) {
	chunk := make([]byte, 1<<20)
	m, _ := pair(b, Options{}, Options{Handle: func(_ context.Context, s *Stream) error {
		_, err := s.Write(chunk)
		return err
	}})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		s, err := m.Open(b.Context(), "x", nil, false)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, onlyR{s}); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
