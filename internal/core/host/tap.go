package host

import "context"

// A Tap sees what the programs of a context print, while they run. It must be quick and
// safe for concurrent use.
type Tap interface {
	// Begin is called when a program has begun; nil: nobody is to see what it prints.
	Begin() Printing
}

// A Printing sees what one program prints. It keeps nothing of b.
type Printing interface {
	Print(stderr bool, b []byte)
	// End tells how the program ended.
	End(out Output)
}

type tapKey struct{}

// WithTap returns a context whose programs t sees; nil: nobody does.
func WithTap(ctx context.Context, t Tap) context.Context { return context.WithValue(ctx, tapKey{}, t) }

// TapOf returns who sees the programs of a context; nil: nobody does.
func TapOf(ctx context.Context) Tap {
	t, _ := ctx.Value(tapKey{}).(Tap)
	return t
}

// shown reports whether what a program prints may be seen while it runs: not what brine
// reads to find something out, what it takes as data, or what answers to an input that
// brine made, which may be a password.
func (c *Cmd) shown() bool {
	return !c.ReadOnly && !c.Private && !c.Foreground && c.Stdout == nil && c.Stderr == nil && (c.Stdin == nil || c.Verbatim)
}

// printing returns who sees what a program of a context prints; nil: nobody.
func (c *Cmd) printing(ctx context.Context) Printing {
	if t := TapOf(ctx); t != nil && c.shown() {
		return t.Begin()
	}
	return nil
}

// seen passes on what is read to who sees it.
type seen struct {
	to     Printing
	stderr bool
}

func (s seen) Write(b []byte) (int, error) {
	s.to.Print(s.stderr, b)
	return len(b), nil
}
