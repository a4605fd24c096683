package star

import "golang.org/x/sys/unix"

// limitMemory makes the kernel refuse memory beyond a size: Go then ends the
// process. Address space says nothing, since Go reserves a lot of it. Where the
// limit that holds is lower, it stays: only root may raise it.
func limitMemory(size uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	size = min(size, now.Max)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: size, Max: size})
}
