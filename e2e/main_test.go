// Package e2e tests brine as its users meet it: the real command line, real
// processes and, for most of them, a real sshd. Start with main_test.go, which
// makes the test binary brine, and script_test.go, the commands of the scripts
// in testdata/script.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"brine/cmd"
	"brine/internal/core/host"
	"brine/internal/testkit/pythontest"
)

// TestMain lets the test binary be brine and, by their names, the Salt
// brinePrograms, so that scripts run the code under test. As an agent it is known by
// its name, too: sudo hands on no variables.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	if n := os.Getenv("BRINE_TEST_HOSTILE"); n != "" {
		os.Exit(hostileAgent(n))
	}
	if os.Getenv("BRINE_TEST_RUN") == "1" || strings.HasPrefix(name, "brine-") || strings.HasPrefix(name, ".new-") {
		if fast, err := time.ParseDuration(os.Getenv("BRINE_TEST_CLOCK")); err == nil {
			os.Exit(cmd.MainOn(fastClock{host.NewLocal(), fast}))
		}
		os.Exit(cmd.Main())
	}
	// How long a run takes is not to decide what it prints.
	if _, set := os.LookupEnv("BRINE_PROGRESS"); !set {
		os.Setenv("BRINE_PROGRESS", "none")
	}
	pythontest.Direct()
	// Expected modes of files are those of the usual umask.
	syscall.Umask(0o022)
	all := map[string]func(){}
	for _, name := range programNames {
		all[name] = func() { os.Exit(cmd.Main()) }
	}
	testscript.Main(atRoot{m}, all)
}

// brineProgram is the brine that tests run: the one that users have, where BRINE_TEST_PROGRAM names
// it, else the test itself, which starts more slowly.
func brineProgram() string {
	if p := os.Getenv("BRINE_TEST_PROGRAM"); p != "" {
		return p
	}
	return self()
}

// self is the program that the tests are.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}

// brinePrograms is a directory with links to the program by all of its names; "" where it is the
// test itself, whose names are in PATH already.
var brinePrograms = sync.OnceValue(func() string {
	if os.Getenv("BRINE_TEST_PROGRAM") == "" {
		return ""
	}
	dir, err := os.MkdirTemp("", "brine-brinePrograms-")
	if err != nil {
		panic(err)
	}
	atExit = append(atExit, func() { _ = os.RemoveAll(dir) })
	for _, name := range programNames {
		if err := os.Symlink(brineProgram(), filepath.Join(dir, name)); err != nil {
			panic(err)
		}
	}
	return dir
})

// programNames are what brine is called by.
var programNames = []string{"brine", "salt", "salt-call", "salt-run", "salt-ssh"}

// fastClock is this machine with a clock that is fast.
type fastClock struct {
	host.Host
	by time.Duration
}

func (c fastClock) Now() time.Time { return c.Host.Now().Add(c.by) }

// atRoot runs the tests at the root of the repository, where the paths of the
// documentation hold.
type atRoot struct{ *testing.M }

func (m atRoot) Run() int {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Many tests wait for a machine, a pause or a time-out, and use no processor
	// meanwhile.
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	// No test uses the cache of this machine, and none leaves something there.
	cache, err := os.MkdirTemp("", "brine-e2e-cache-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("BRINE_CACHE_DIR", cache)
	defer os.RemoveAll(cache)
	status := m.M.Run()
	for _, f := range atExit {
		f()
	}
	return status
}

// atExit is called when all tests are over.
var atExit []func()

// TestScripts runs testdata/script: each file is a user's session with the
// real binary.
func TestScripts(t *testing.T) {
	t.Parallel()
	var dirs []string
	err := filepath.WalkDir("testdata/script", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if found, _ := filepath.Glob(filepath.Join(dir, "*.txtar")); len(found) == 0 {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 dir,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				UpdateScripts:       *update,
				Cmds:                scriptCommands(),
				Condition:           scriptCondition,
				Setup: func(e *testscript.Env) error {
					e.Setenv("REPO", root)
					e.Setenv("BRINE_PROGRESS", "none")
					if dir := brinePrograms(); dir != "" {
						e.Setenv("PATH", dir+string(os.PathListSeparator)+e.Getenv("PATH"))
					}
					return scriptHome(e.WorkDir, e.Setenv)
				},
			})
		})
	}
}
