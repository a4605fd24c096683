// Command profile is brine under the profilers of Go: it takes brine's own
// command line and writes, where the variables name files, a CPU profile
// (BRINE_CPUPROFILE) and, of the moment of most memory, a profile of the heap
// (BRINE_MEMPROFILE) and the goroutines beside it (its name with .goroutines),
// for go tool pprof. Of that moment it also tells on stderr what the memory was
// for.
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
		gos  []byte
		told string
	)
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		mu.Lock()
		defer mu.Unlock()
		used := m.HeapInuse + m.StackInuse
		if used < best+best/20 {
			return
		}
		var b, g bytes.Buffer
		if pprof.WriteHeapProfile(&b) == nil && pprof.Lookup("goroutine").WriteTo(&g, 0) == nil {
			best, text, gos = used, b.Bytes(), g.Bytes()
			told = fmt.Sprintf("at most memory: heap %d KiB, of it live at the last collection %d KiB; stacks %d KiB of %d goroutines",
				m.HeapInuse>>10, m.NextGC>>11, m.StackInuse>>10, runtime.NumGoroutine())
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
		fmt.Fprintln(os.Stderr, "profile:", told)
		if err := os.WriteFile(file+".goroutines", gos, 0o600); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o600)
	}
}
