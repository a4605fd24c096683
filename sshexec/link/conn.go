package link

import (
	"context"
	"errors"
	"io"

	"brine/internal/fun"
	"brine/internal/value"
)

// A Tree is a snapshot of files behind salt://, with their hashes.
type Tree struct{ files fun.Files }

// NewTree returns the tree of files.
func NewTree(files fun.Files) *Tree { return &Tree{files: files} }

// TargetOpts returns those of a controller's options that hold on targets too:
// how states are compiled and run. Paths, credentials and what else concerns
// the controller alone stay here.
func TargetOpts(opts *value.Map) *value.Map { return value.NewMap(0) }

// A Conn is a connection to an agent. It is safe for concurrent use.
type Conn struct{ facts Facts }

var errClosed = errors.New("the connection to the agent is closed")

// Connect greets the agent at the far end of rw and returns the connection.
// What comes before the agent's hello (motd, output of shell start files) is
// skipped up to MaxNoise. It waits no longer than ctx and then closes rw.
func Connect(ctx context.Context, rw io.ReadWriteCloser, o Options) (*Conn, error) {
	return nil, errClosed
}

// Facts returns what the agent said of itself.
func (c *Conn) Facts() Facts { return c.facts }

// Open makes the agent the minion t. It does not wait for the agent: what it
// cannot do with t, the first call tells. To be called once, before all else.
func (c *Conn) Open(ctx context.Context, t Target) error { return errClosed }

// Invoke calls an execution function on the target; many calls may be under
// way at once. What goes wrong is in the Return: Lost where the connection ended
// or ctx was cancelled, TimedOut where ctx's deadline passed, Refused where the
// agent would not begin. When ctx ends, the agent ends the call and its
// processes; Invoke does not wait for that.
func (c *Conn) Invoke(ctx context.Context, job fun.Job) fun.Return {
	return fun.Return{Stage: fun.Lost, Err: errClosed}
}

// Running returns the calls that the agent works on: what find_job and
// saltutil.running ask.
func (c *Conn) Running(ctx context.Context) ([]Running, error) { return nil, errClosed }

// Signal ends the call of a job as signal 1, 2, 3, 9 or 15 would.
func (c *Conn) Signal(ctx context.Context, jid string, sig int) error { return errClosed }

// Grains returns grains of the target; all of them where keys is empty.
func (c *Conn) Grains(ctx context.Context, keys []string) (*value.Map, error) { return nil, errClosed }

// Done is closed when the connection has ended; Err then says why.
func (c *Conn) Done() <-chan struct{} { return nil }

// Err returns why the connection ended; nil while it lives or after Close.
func (c *Conn) Err() error { return errClosed }

// Close ends the connection: the agent ends the calls still running and
// itself.
func (c *Conn) Close() error { return nil }
