package star

import "golang.org/x/sys/unix"

// limitMemory makes the kernel refuse memory beyond a size: Go then ends the
// process. Address space says nothing, since Go reserves a lot of it.
func limitMemory(size uint64) error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: size, Max: size})
}
