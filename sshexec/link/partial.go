package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"brine/internal/core/fun"
	"brine/internal/core/tee"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// The records of an answer to invoke: see sshexec/agent.
const (
	recordReturn byte = iota
	recordState
	recordPart
	maxState = 1 << 20 // bytes of one state's return
	// maxPart bounds a part of what programs print, and maxParts all of a call, in bytes:
	// more than an agent sends, since what takes the place of secrets may be longer.
	maxPart  = 512 << 10
	maxParts = 4 * tee.MaxCall
	// maxStates is how many states a run may report, partialItems how many
	// items their returns may have together, in addition to one for every eight
	// bytes.
	maxStates    = 100_000
	partialItems = 4096
)

// A partial is what a state run has told before its return: the records of the
// states, which are read only where the return does not come.
type partial struct {
	records [][]byte
	size    int64 // of all that came
	kept    int64 // of records
	room    *room
	printed func(tee.Part) // gets what programs print; nil: nobody listens
	parts   int64          // bytes of that
}

// done gives back the memory.
func (p *partial) done() { p.room.less(p.kept) }

// read reads records up to the return, which is what r has then. They may have
// limit bytes in all.
func (p *partial) read(r *bufio.Reader, limit int64) error {
	for {
		kind, err := r.ReadByte()
		if err != nil {
			if isEnd(err) {
				return errors.New("the agent's answer has no return")
			}
			return err
		}
		if kind == recordReturn {
			return nil
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return short(err)
		}
		invalid := kind != recordState || n > maxState || p.size+int64(n) > limit
		if kind == recordPart {
			p.parts += int64(min(n, maxPart)) + 64
			invalid = n > maxPart || p.parts > maxParts
		}
		if invalid {
			return errors.New("the agent's answer is invalid")
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return short(err)
		}
		if kind == recordPart {
			p.hear(b)
			continue
		}
		p.size += int64(n) + 24
		// Where there is no room they are left out: they are needed only if the
		// return does not come.
		if size := int64(n) + 24; len(p.records) < maxStates && p.room.more(p.kept, size) {
			p.records = append(p.records, b)
			p.kept += size
		}
	}
}

// hear hands on a part of what programs print.
func (p *partial) hear(b []byte) {
	left := 16
	v, err := wire.ParseWithin(b, &left)
	t, _ := v.(value.Tuple)
	if err != nil || len(t) != 7 || p.printed == nil {
		return
	}
	var part tee.Part
	var ok [7]bool
	part.Of, ok[0] = t[0].(string)
	part.Program, ok[1] = t[1].(int64)
	part.Stderr, ok[2] = t[2].(bool)
	part.Text, ok[3] = t[3].(string)
	part.Dropped, ok[4] = t[4].(int64)
	part.Ended, ok[5] = t[5].(bool)
	part.Status, ok[6] = t[6].(int64)
	if ok == [7]bool{true, true, true, true, true, true, true} && len(part.Of) <= maxWarning && part.Dropped >= 0 {
		p.printed(part)
	}
}

func short(err error) error {
	if isEnd(err) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// into gives a Return that failed the states that are known to be done.
func (p *partial) into(ret *fun.Return) {
	if len(p.records) == 0 {
		return
	}
	done := value.NewMap(len(p.records))
	if p.kept > smallPartial {
		p.room.parsing.Lock()
		defer p.room.parsing.Unlock()
	}
	left := int(partialItems + p.kept/8)
	for _, b := range p.records {
		v, err := wire.ParseWithin(b, &left)
		t, _ := v.(value.Tuple)
		if err != nil || len(t) != 3 {
			continue
		}
		tag, ok := t[0].(string)
		total, ok2 := t[1].(int64)
		m, ok3 := t[2].(*value.Map)
		if ok && ok2 && ok3 && total >= 0 && total < 1<<31 {
			done.Set(tag, m)
			ret.Total = int(total)
		}
	}
	if done.Len() > 0 {
		ret.Partial = done
	}
}
