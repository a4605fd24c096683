package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/proc"
)

// Pushes.
//
// What is sent is kept in a file of the agent's directory until it is whole, so
// that a push that was interrupted goes on at the byte where it ended: over the
// next connection of the same run, or in a later run. The name of the file has
// the hash of what is sent and the process that writes it. A later push copies
// the longest of these files and appends to the copy: whoever still writes to
// the first one, behind a connection that nobody has missed yet, disturbs
// nothing. The program that results is compared with its hash before it runs.

// A parcel is an image as a push sends it.
type parcel struct {
	by   string // the program that unpacks it, "sftp" where a file has it
	size int64  // of what is sent
	sum  string // of what is sent, in hex
	file string // with "sftp": where the program is on the host
	keep bool   // the host is a relay, which has what was sent for those behind it
}

// pushScript takes the agent and puts it in the first directory, from the one
// numbered skip on, that takes it and lets it run. It says behind the mark from
// at which byte the parcel is to begin. The new file has another name until it
// is whole and was seen to run, so that who comes at the same time finds all of
// it or nothing. fresh takes no notice of what an earlier push left.
func pushScript(e *roster.Entry, img *image, x parcel, mark, from string, skip int, fresh bool) string {
	size := strconv.FormatInt(img.size, 10)
	return scriptHead + `umask 077
t=.new-` + token() + `
a=brine-` + img.hash + `
k=.part-` + img.hash + `
part() { set -- $(LC_ALL=C ls -ldn "$1" 2>/dev/null); w=$5; case $1 in -rw-------*) [ "$2" = 1 ] && [ "$3" = "$i" ];; *) return 1;; esac; }
fault() { [ $1 = short ] || rm -f $k-*.$$; echo ` + mark + ` $1 $n "$d" >&2; [ -z "$2" ] || printf '%s\n' "$2" >&2; exit 114; }
n=0
for d in ` + strings.Join(candidates(e), " ") + `; do
n=$((n+1))
[ $n -gt ` + strconv.Itoa(skip) + ` ] || continue
trap 'rm -f $t; away' EXIT
trap 'exit 1' HUP INT TERM PIPE
takes || continue
here $a && [ "$z" = ` + size + ` ] && [ -x $a ] && fault done
` + x.fill(e, img.size, from, fresh) + ` || { rm -f $k-*.$$; : >$t; { head -c ` + size + ` /dev/zero || dd if=/dev/zero bs=65536 count=$((` + size + `/65536+1)); } 2>/dev/null >$t && fault bad
command -v head >/dev/null 2>&1 || command -v dd >/dev/null 2>&1 || fault odd; fault full; }
s=$({ sha256sum $t || sha256 -q $t || shasum -a 256 $t || openssl dgst -sha256 -r $t || ./$t agent --sum; } 2>/dev/null)
[ "${s%% *}" = ` + img.hash + ` ] || fault bad
s=$(./$t version 2>&1 </dev/null) || fault norun "$s"
mv -f $t $a || fault full
` + x.keeping() + `rm -f $k-*
ls -t | grep '^brine-[0-9a-f]*$' | tail -n +4 | while read -r o; do rm -f "$o"; done
for o in .new-* .part-*; do [ -f "$o" ] && [ -n "$(find "./$o" -mtime +0)" ] && rm -f "./$o"; done
fault done
done
d=-
fault nowhere
`
}

// fill are the lines of pushScript that write the program to $t, the last of
// them a list that fails where the disk is full.
//
// What an earlier push left is taken only where a program of the host can tell
// that the result is what was meant, and only from a file that nobody else could
// write or link. Of those whose process has ended, only the copy is kept. A host
// without cat keeps nothing.
// program is the size of the program.
func (x parcel) fill(e *roster.Entry, program int64, from string, fresh bool) string {
	if x.by == "sftp" {
		return "rm -f $k-*\ncp " + proc.Quote(x.file) + " $t"
	}
	size := strconv.FormatInt(x.size, 10)
	find := `if command -v sha256sum || command -v sha256 || command -v shasum || command -v openssl; then
for o in $p.*; do part "$o" && [ "$w" -gt $z ] && [ "$w" -le ` + size + ` ] && { z=$w; q=$o; }; done
fi >/dev/null 2>&1
[ $z -gt 0 ] && cp "$q" $p.$$ 2>/dev/null && part $p.$$ && z=$w || z=0
`
	if fresh {
		find = ""
	}
	// A terminal that passes all bytes has no end of input.
	read := "cat"
	if e.TTY {
		read = "head -c $((" + size + "-z)) | cat"
	}
	unpack := x.by + " -dc <$p.$$ >$t"
	if x.by == "cat" {
		unpack = "{ mv -f $p.$$ $t && chmod 700 $t; }"
	}
	direct := x.by + " -dc >$t"
	if e.TTY {
		direct = "head -c " + size + " | " + direct
	}
	return `if command -v cat >/dev/null 2>&1; then
p=$k-` + x.sum + ` z=0
rm -f $p.$$
` + find + `for o in $k-*; do [ "$o" = $p.$$ ] || kill -0 "${o##*.}" 2>/dev/null || rm -f "$o"; done
{ [ $z -gt 0 ] || : >$p.$$; } && echo "$z ` + from + `" >&2 && ` + read + ` >>$p.$$ && {
part $p.$$ && [ "$w" = ` + size + ` ] || { here $a && [ "$z" = ` + strconv.FormatInt(program, 10) + ` ] && fault done; fault short; }
` + unpack + `
}
else
echo "0 ` + from + `" >&2
` + direct + `
fi`
}

// keeping is the line of pushScript that leaves what was sent where a relay looks for
// it, by its hash: see the package relay. Where that fails, it is sent again.
func (x parcel) keeping() string {
	if !x.keep || x.by == "sftp" {
		return ""
	}
	take := "mv -f $p.$$"
	if x.by == "cat" { // it is the program
		take = "ln -f $a"
	}
	return "{ [ -n \"$p\" ] && mkdir -p cache/relay && " + take + " cache/relay/" + x.sum + "; } 2>/dev/null\n"
}

// pushInTurn pushes when it is the host's turn.
func (p *placer) pushInTurn(ctx context.Context, c *Client, e *roster.Entry, a *absent) error {
	img, err := p.imageFor(c, a.sys, a.machine)
	if err != nil {
		return err
	}
	t, err := p.begin(ctx, c)
	if err != nil {
		return err
	}
	defer t.leave()
	return p.push(ctx, c, e, img, a.unpack, t)
}

// turnsBy returns the turns of the hosts that are reached by a relay; "" is directly.
func (p *placer) turnsBy(relay string) *turns {
	if relay == "" || p.turns == nil {
		return p.turns
	}
	p.turnsMu.Lock()
	defer p.turnsMu.Unlock()
	t := p.behind[relay]
	if t == nil {
		t = newTurns(p.turns.limit)
		if p.behind == nil {
			p.behind = map[string]*turns{}
		}
		p.behind[relay] = t
	}
	return t
}

// begin waits until a push to a host may begin.
func (p *placer) begin(ctx context.Context, c *Client) (*turn, error) {
	fleet.Enter(ctx, fleet.Queued)
	t, err := p.turnsBy(c.via).take(ctx, c.Done())
	if errors.Is(err, errEnded) {
		return nil, &Error{ID: c.ID, Addr: c.Addr, Stage: Push, Err: &interruptedError{err: c.why(), since: time.Now()}}
	}
	if err != nil {
		return nil, c.fail(Push, err, "")
	}
	fleet.Enter(ctx, fleet.Pushing)
	return t, nil
}

// An interruptedError says that an agent did not arrive since the network failed
// or was too slow. What arrived is kept on the host.
type interruptedError struct {
	err       error
	got, size int64     // bytes that arrived, of how many
	since     time.Time // when the last of them arrived
}

func (e *interruptedError) Error() string {
	if e.size == 0 {
		return "interrupted before the agent was sent: " + e.err.Error()
	}
	return fmt.Sprintf("interrupted after %s of %s: %v", megabytes(e.got), megabytes(e.size), e.err)
}

func (e *interruptedError) Unwrap() error { return e.err }

// megabytes writes a number of bytes for people.
func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB" }

// push places the agent: in the first directory that takes it, by the best way
// in which it arrives there whole.
func (p *placer) push(ctx context.Context, c *Client, e *roster.Entry, img *image, unpack string, t *turn) error {
	ways := append(p.images.ways(img, unpack), "sftp")
	var full, bad, dead []string
	fresh := false // this way begins at the first byte
	for skip, way := 0, 0; ; {
		r, err := p.pushOnce(ctx, &sending{c: c, e: e, img: img, by: ways[way], turn: t, log: p.opts.Log, maxStall: p.stall}, ways[way], skip, fresh)
		if err != nil {
			return err
		}
		switch r.fault {
		case "done":
			return nil
		case "bad", "odd", "short": // not what was sent, or none can tell: another way, the same directory
			if r.from > 0 && !fresh {
				fresh = true // what was there already may be to blame
				continue
			}
			fresh = false
			bad = append(bad, ways[way])
			if way++; way < len(ways) {
				continue
			}
			if r.fault == "odd" {
				full, way = append(full, r.dir), 0
				break
			}
			return c.fail(Push, fmt.Errorf("what arrives in %s is not what was sent (by %s)", r.dir, strings.Join(bad, ", ")), "see the host's disk and its gzip, cat and cp")
		case "full":
			full = append(full, r.dir)
		case "norun":
			dead = append(dead, r.dir+": "+oneLine(r.more))
		}
		if r.fault != "nowhere" && r.n > skip {
			skip = r.n
			continue
		}
		switch {
		case len(dead) > 0:
			return c.fail(Push, fmt.Errorf("the agent for %s does not run there: %s", PlatformName(img.platform), dead[0]),
				"the host's processor or kernel may be older than the agent, or a policy of the host forbids programs there; thin_dir in the roster names another directory")
		case len(full) > 0:
			return c.fail(Push, fmt.Errorf("it could not be written whole to %s", strings.Join(full, ", ")), "see the room on the host's disks; thin_dir in the roster names another directory")
		}
		return c.fail(Push, errors.New("no directory there can hold it and let it run"),
			"see noexec mounts and the owners of the directories; thin_dir in the roster names another one")
	}
}

// pushed is what became of an agent that was sent: done, full, bad, odd (full or
// bad), short, norun or nowhere, in which directory, by number and name.
type pushed struct {
	fault string
	n     int
	dir   string
	more  string
	from  int64 // the byte that it was sent from
}

// pushOnce sends the image once, by a way of push.
func (p *placer) pushOnce(ctx context.Context, x *sending, way string, skip int, fresh bool) (_ pushed, err error) {
	c, e := p.shared(ctx, x, way), x.e
	if main := x.c; c != main {
		defer func() {
			if err != nil && !main.connectionLost(err) { // the next try does without the relay
				c.onStall()
			}
			x.c = main
			_ = c.Close() // what was sent is judged by the script
		}()
		x.c = c
	}
	ctx, stop := x.watch(ctx)
	defer stop()
	item, body, err := p.wrap(ctx, x, way)
	if err != nil {
		return pushed{}, x.cause(ctx, err)
	}
	defer body.Close()
	item.keep = c.keeps
	mark, from := "brine-push-"+token(), "brine-from-"+token()
	s, err := c.start(ctx, launchOf(e, pushScript(e, x.img, item, mark, from, skip, fresh)))
	if err != nil {
		return pushed{}, x.cause(ctx, err)
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	var (
		begin int64
		werr  error
	)
	if way != "sftp" {
		// The script may end before it takes anything, and says why.
		if _, err := s.await(ctx, from); err == nil {
			begin = number(s.complaint(), from)
			werr = x.send(ctx, s.stdin, body, begin, item.size)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, s) }()
	if !e.TTY {
		_ = s.stdin.Close()
	}
	x.settle()
	status, err := s.settled(ctx)
	_, rest, _ := strings.Cut(s.complaint(), mark+" ")
	line, more, _ := strings.Cut(rest, "\n")
	if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
		n, _ := strconv.Atoi(f[1])
		r := pushed{f[0], n, f[2], more, begin}
		if r.fault != "short" || werr == nil || err == nil && ctx.Err() == nil {
			return r, nil
		}
	}
	switch {
	case err != nil || ctx.Err() != nil:
		return pushed{}, x.cause(ctx, err)
	case werr != nil && !errors.Is(werr, io.EOF):
		return pushed{}, x.cause(ctx, werr)
	}
	return pushed{}, c.fail(Push, ended("the command", status, oneLine(s.complaint())), "")
}

// number returns the number before a mark in what a script said.
func number(text, mark string) int64 {
	text, _, _ = strings.Cut(text, mark)
	f := strings.Fields(text)
	if len(f) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(f[len(f)-1], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// wrap makes the parcel of a way.
func (p *placer) wrap(ctx context.Context, x *sending, way string) (parcel, io.ReadCloser, error) {
	if way == "sftp" {
		name, drop, err := p.stage(ctx, x)
		if err != nil {
			return parcel{}, nil, err
		}
		return parcel{by: way, file: name}, staged{strings.NewReader(""), drop}, nil
	}
	body, size, sum, err := p.images.stream(x.img, way)
	if err != nil {
		return parcel{}, nil, x.c.fail(Push, err, "")
	}
	return parcel{by: way, size: size, sum: sum}, body, nil
}

// staged is the empty input of a script that has a file instead.
type staged struct {
	io.Reader
	drop func()
}

func (s staged) Close() error {
	s.drop()
	return nil
}
