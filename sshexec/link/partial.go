package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// The records of an answer to invoke: see sshexec/agent.
const (
	recordReturn byte = iota
	recordState
	maxState = 1 << 20 // bytes of one state's return
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
		if kind != recordState || n > maxState || p.size+int64(n) > limit {
			return errors.New("the agent's answer is invalid")
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return short(err)
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
