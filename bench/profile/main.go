// Command profile is brine under the profilers of Go: it takes brine's own
// command line and writes, where the variables name files, a CPU profile
// (BRINE_CPUPROFILE) and a profile of the heap at its highest
// (BRINE_MEMPROFILE), for go tool pprof.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"brine/cmd"
)

func main() {
	if p := os.Getenv("BRINE_CPUPROFILE"); p != "" {
		f, err := os.Create(p)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "profile:", err)
			os.Exit(1)
		}
	}
	heap := watchHeap(os.Getenv("BRINE_MEMPROFILE"))
	status := cmd.Main()
	pprof.StopCPUProfile()
	if err := heap(); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
	}
	os.Exit(status)
}

// watchHeap looks at the heap ten times a second and keeps the profile of the
// highest; what it returns writes that to the file.
func watchHeap(file string) (write func() error) {
	if file == "" {
		return func() error { return nil }
	}
	var (
		mu   sync.Mutex
		best uint64
		text []byte
	)
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		mu.Lock()
		defer mu.Unlock()
		if m.HeapInuse < best+best/20 {
			return
		}
		var b bytes.Buffer
		if pprof.WriteHeapProfile(&b) == nil {
			best, text = m.HeapInuse, b.Bytes()
		}
	}
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			look()
		}
	}()
	return func() error {
		look()
		mu.Lock()
		defer mu.Unlock()
		return os.WriteFile(file, text, 0o600)
	}
}
