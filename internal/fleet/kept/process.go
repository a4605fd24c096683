package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A Process is the process of a run as it sees itself.
type Process struct {
	*Run
	lock *os.File
}

// Adopt makes this process the one of the run of a directory. Its stdin is the lock that
// [Store.Create] returned.
func Adopt(dir string, stdin *os.File) (*Process, error) {
	r, err := OpenDir(dir)
	if err != nil {
		return nil, err
	}
	// What this process starts must not hold the lock longer than it does.
	fd, err := syscall.Dup(int(stdin.Fd()))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	lock := os.NewFile(uintptr(fd), lockFile)
	mine, err := lock.Stat()
	if err == nil {
		var theirs os.FileInfo
		if theirs, err = os.Stat(filepath.Join(dir, lockFile)); err == nil && !os.SameFile(mine, theirs) {
			err = errors.New("it is not started as the process of a run")
		}
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p := &Process{r, lock}
	return p, p.Note(os.Getpid())
}

// Mine makes this process the one of a run that it created.
func (r *Run) Mine(lock *os.File) (*Process, error) {
	p := &Process{r, lock}
	return p, p.Note(os.Getpid())
}

// End says how the run ended. The lock goes with the process.
func (p *Process) End(status int, at time.Time) error {
	_ = os.Remove(p.Answers())
	text, err := json.Marshal(End{status, at.UTC()})
	if err != nil {
		return err
	}
	return write(filepath.Join(p.dir, endFile), text)
}

// Note says which process the run is.
func (p *Process) Note(pid int) error {
	return write(filepath.Join(p.dir, pidFile), []byte(strconv.Itoa(pid)))
}
