package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/version"
	"brine/internal/py/source"
	"brine/sshexec"
)

// agentPlatforms are those that agents are built for, as Go names them; arm is
// ARMv7.
var agentPlatforms = [...]string{
	"linux/amd64", "linux/arm64", "linux/arm", "linux/arm/v6", "linux/386", "linux/riscv64", "linux/ppc64le", "linux/s390x", "linux/loong64",
	"freebsd/amd64", "freebsd/arm64", "darwin/amd64", "darwin/arm64",
}

type buildOptions struct {
	agentDirFlags
	source string
	embed  string
}

func newBuild(a *app.App, runF func(context.Context, *buildOptions, []string) error) *cobra.Command {
	o := &buildOptions{}
	c := &cobra.Command{
		Use:   "build <platform>...",
		Short: "Build the agent for other platforms",
		Long: `Build the agent for targets of other platforms, and put it into the directory of
agents, where brine ssh finds it.

This needs Go and the source of exactly this version of brine: the checkout of the
working directory, the one that this program was built from, or --source.
The package or archive brine-agents of a release has the agents of all platforms.

Platforms: ` + printable.Wrap(agentPlatforms[:], 70) + `.

Exit status: 0 all were built; 1 one could not be built; 64 usage error.`,
		Example: `  brine agent build linux/arm64
  brine agent build --source ~/src/brine linux/arm linux/386 freebsd/amd64`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgs: agentPlatforms[:],
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return build(c.Context(), a, c, o, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.register(c)
	c.Flags().StringVar(&o.source, "source", "", "directory of the source of brine")
	c.Flags().StringVar(&o.embed, "embed", "", "write them compressed, with their hashes, for a release build (make release)")
	_ = c.Flags().MarkHidden("embed")
	return c
}

// parsePlatform reads "linux/arm64", "linux-arm64", "linux/arm/v7" and returns
// the name by which agents lie in their directory, and what Go calls it.
func parsePlatform(s string) (name string, env []string, err error) {
	spelt := strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(s), "-", "/"), "/v7")
	spelt = strings.NewReplacer("x86_64", "amd64", "aarch64", "arm64", "armv7", "arm", "armv6", "arm/v6", "i386", "386", "i686", "386", "macos/", "darwin/").Replace(spelt)
	known := false
	for _, p := range agentPlatforms {
		known = known || p == spelt
	}
	if !known {
		return "", nil, fmt.Errorf("there is no platform %q%s; there are %s", s, source.DidYouMean(spelt, agentPlatforms[:]), strings.Join(agentPlatforms[:], ", "))
	}
	goos, arch, _ := strings.Cut(spelt, "/")
	arm := "7"
	if a, v, ok := strings.Cut(arch, "/v"); ok {
		name, arch, arm = goos+"-"+a+"v"+v, a, v
	} else {
		name = goos + "-" + arch
	}
	// The least that a processor of the platform has, whatever this machine's
	// Go is set to.
	return name, []string{
		"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch, "GOARM=" + arm, "GOAMD64=v1", "GO386=sse2", "GOARM64=v8.0",
		"GOPPC64=power8", "GORISCV64=rva20u64", "GOWORK=off",
	}, nil
}

// goHint says how to come by an agent without Go.
const goHint = "install Go (https://go.dev/dl or your distribution), or install brine-agents of a release, which has the agents of all platforms"

func build(ctx context.Context, a *app.App, c *cobra.Command, o *buildOptions, args []string) error {
	if len(args) == 0 {
		return &app.StatusError{Status: app.ExitUsage, Err: errors.New("no platform was given"), Hint: "there are " + strings.Join(agentPlatforms[:], ", ")}
	}
	type build struct {
		platform string
		env      []string
	}
	var builds []build
	for _, arg := range args {
		name, env, err := parsePlatform(arg)
		if err != nil {
			return app.Usagef(c, "%s", err)
		}
		builds = append(builds, build{name, env})
	}
	goExe, err := a.Host.LookPath("go", "")
	if err != nil {
		if goExe = "/usr/local/go/bin/go"; runnable(goExe) != nil {
			return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("there is no Go on this machine to build an agent with (no go in PATH)"), Hint: goHint}
		}
	}
	src, err := agentSource(a, o.source)
	if err != nil {
		return err
	}
	dir := o.embed
	var images *sshexec.Images // that have what is built from now on
	if dir == "" {
		opts, s, err := agentOptions(a, &o.agentDirFlags)
		if err != nil {
			return err
		}
		defer s.End()
		if dir, _ = assembly.AgentDir(opts, a.Getenv); dir == "" {
			return &app.StatusError{Status: app.ExitUsage, Err: errors.New("there is no directory to put agents in: HOME is not set"), Hint: "name one by --agent-dir"}
		}
		images = assembly.Images(s.EnvOptions(""), a.Getenv, opts)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of agents: %w", err)
	}
	var sums strings.Builder
	for _, b := range builds {
		built, err := buildAgent(ctx, a, goExe, src, dir, b.platform, b.env)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s %s %d %s\n", b.platform, built.hash, built.size, version.Number())
		to, err := storeAgents(ctx, a, built, dir, b.platform, images)
		if err != nil {
			return fmt.Errorf("write the agent for %s: %w", sshexec.PlatformName(b.platform), err)
		}
		fmt.Fprintf(a.Out, "%s: %s (%s, %.12s)\n", sshexec.PlatformName(b.platform), to, megabytes(built.size), built.hash)
	}
	if o.embed != "" {
		if err := os.WriteFile(filepath.Join(dir, "SUMS"), []byte(sums.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func runnable(path string) error {
	st, err := os.Stat(path)
	if err == nil && (st.IsDir() || st.Mode()&0o111 == 0) {
		err = fs.ErrPermission
	}
	return err
}

// agentSource finds the source of this version of brine.
func agentSource(a *app.App, named string) (string, error) {
	const hint = "get the source of brine %s and name its directory by --source, or install brine-agents of a release, which has the agents of all platforms"
	if named != "" {
		v, err := sourceVersion(named)
		switch {
		case err != nil:
			return "", &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s is not the source of brine: %w", named, err), Hint: fmt.Sprintf(hint, version.Number())}
		case v != version.Number():
			return "", wrongSource(named, v)
		}
		return filepath.Abs(named)
	}
	var tried []string
	if wd, err := a.Host.Getwd(); err == nil {
		for d := wd; ; d = filepath.Dir(d) {
			tried = append(tried, d)
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	// Where this file was compiled, unless the path was trimmed.
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		tried = append(tried, filepath.Dir(filepath.Dir(file)))
	}
	var other error
	for _, d := range tried {
		v, err := sourceVersion(d)
		if err != nil {
			continue
		}
		if v == version.Number() {
			return d, nil
		}
		if other == nil {
			other = wrongSource(d, v)
		}
	}
	if other != nil {
		return "", other
	}
	return "", &app.StatusError{
		Status: app.ExitGeneric, Err: errors.New("the source of brine is not here: the working directory is in no checkout of it"),
		Hint: fmt.Sprintf(hint, version.Number()),
	}
}

func wrongSource(dir, v string) error {
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("%s is the source of brine %s, and this is brine %s: an agent has to be of the same version", dir, v, version.Number()),
		Hint: fmt.Sprintf("check out version %s there, or build brine itself from that source", version.Number()),
	}
}

// sourceVersion returns the version of the source of brine in a directory.
func sourceVersion(dir string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	if first, _, _ := strings.Cut(string(mod), "\n"); strings.TrimSpace(first) != "module "+version.Module {
		return "", errors.New("its go.mod is of another module")
	}
	text, err := os.ReadFile(filepath.Join(dir, "internal", "core", "version", "version.go"))
	if err != nil {
		return "", err
	}
	var s version.Scanner
	_, _ = s.Write(text)
	if s.Found() == "" {
		return "", errors.New("internal/core/version names no version")
	}
	return s.Found(), nil
}

// agentFlags are those of "go build" for an agent: the least bytes, as it
// crosses the wire, at a price of about a fifth more processor time in
// templates. What is not inlined is what runs seldom (no inlining at all doubles
// the time of templates); web servers are asked in HTTP/1.1 alone, which each
// of them speaks. Functions start where the one before ends, as far as the processor
// lets them.
func agentFlags(platform string) []string {
	align := "16"
	switch _, arch, _ := strings.Cut(platform, "-"); arch {
	case "amd64", "386":
		align = "1" // 200 KB less, over 28,000 functions
	case "arm64", "arm", "armv6":
		align = "4"
	}
	flags := []string{"-tags", "slim,nethttpomithttp2", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -funcalign=" + align}
	for _, p := range []string{
		version.Module + "/...", "filippo.io/...", "github.com/go-sql-driver/...", "github.com/pelletier/...", "github.com/philhofer/...", "github.com/tinylib/...", "golang.org/x/...",
		"go.starlark.net/internal/...", "go.starlark.net/lib/...", "go.starlark.net/resolve", "go.starlark.net/starlarkstruct", "go.starlark.net/syntax", "github.com/dlclark/regexp2/syntax", "github.com/jmespath/...",
		"archive/...", "compress/bzip2", "compress/gzip", "compress/zlib", "context", "crypto/ecdh", "crypto/ecdsa", "crypto/ed25519", "crypto/elliptic", "crypto/hkdf", "crypto/hmac", "crypto/hpke", "crypto/rsa", "crypto/internal/fips140/ecdsa", "crypto/internal/fips140/ed25519", "crypto/internal/fips140/mlkem",
		"crypto/internal/fips140/nistec/...", "crypto/internal/fips140/rsa", "crypto/tls", "crypto/x509", "database/...", "encoding/...", "flag", "html", "log/...", "math/big", "mime/...", "net/...", "os/...", "reflect", "regexp/...", "syscall", "text/...", "time/...", "vendor/...",
	} {
		flags = append(flags, "-gcflags="+p+"=-l")
	}
	return flags
}

// built is an agent that was just built.
type built struct {
	path, hash string
	size       int64
}

// buildAgent builds the agent of a platform to a file of another name in dir.
func buildAgent(ctx context.Context, a *app.App, goExe, src, dir, platform string, env []string) (*built, error) {
	name := sshexec.PlatformName(platform)
	tmp, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return nil, fmt.Errorf("write the agent for %s: %w", name, err)
	}
	tmp.Close()
	ok := false
	defer func() {
		if !ok {
			_ = os.Remove(tmp.Name())
		}
	}()
	out, err := a.Host.Run(ctx, host.Cmd{
		Argv: slices.Concat([]string{goExe, "build"}, agentFlags(platform), []string{"-o", tmp.Name(), "."}),
		Env:  mergeEnv(a.Host.Environ(), env), Dir: src,
	})
	if err == nil && out.Status != 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintf(a.Err, "brine: go build in %s says:\n", src)
		lastLines(a.Err, "  ", string(out.Stderr), 20)
		err = fmt.Errorf("go build ended with status %d", out.Status)
	}
	if err != nil {
		return nil, fmt.Errorf("build the agent for %s: %w", name, err)
	}
	f, err := os.Open(tmp.Name())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, s := sha256.New(), &version.Scanner{}
	b := &built{path: tmp.Name()}
	if b.size, err = io.Copy(io.MultiWriter(h, s), f); err != nil {
		return nil, err
	}
	b.hash = hex.EncodeToString(h.Sum(nil))
	if s.Found() != version.Number() {
		return nil, wrongSource(src, s.Found())
	}
	if err := os.Chmod(tmp.Name(), 0o755); err != nil {
		return nil, err
	}
	ok = true
	return b, nil
}

// mergeEnv puts variables over an environment.
func mergeEnv(base, over []string) []string {
	var out []string
	for _, kv := range base {
		k, _, _ := strings.Cut(kv, "=")
		kept := true
		for _, o := range over {
			kept = kept && !strings.HasPrefix(o, k+"=")
		}
		if kept {
			out = append(out, kv)
		}
	}
	return append(out, over...)
}

// storeAgents gives a built agent its name in dir, and returns it. For a release build,
// which has no images, it is compressed; else it is also compressed for the
// targets that have xz.
func storeAgents(ctx context.Context, a *app.App, b *built, dir, platform string, images *sshexec.Images) (string, error) {
	to := filepath.Join(dir, "brine-"+platform)
	if images == nil {
		to, err := packAgent(ctx, a, b.path, to, platform)
		_ = os.Remove(b.path)
		return to, err
	}
	switch packed, err := packXZ(ctx, a, b.path, platform); {
	case err != nil:
		_ = os.Remove(b.path)
		return "", err
	case packed != "":
		text, err := os.ReadFile(packed)
		_ = os.Remove(packed)
		if err != nil {
			return "", err
		}
		images.KeepXZ(b.hash, text)
	}
	return to, os.Rename(b.path, to)
}

// packXZ compresses an agent by the program xz and returns the file; "" where
// that program is not there.
func packXZ(ctx context.Context, a *app.App, path, platform string) (string, error) {
	argv := append(sshexec.XZ(platform), path)
	exe, err := a.Host.LookPath(argv[0], "")
	if err != nil {
		return "", nil // it is optional
	}
	argv[0] = exe
	return path + ".xz", packOne(ctx, a, argv)
}

// packOne runs a program that compresses.
func packOne(ctx context.Context, a *app.App, argv []string) error {
	out, err := a.Host.Run(ctx, host.Cmd{Argv: argv})
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("%s ended with status %d: %s", filepath.Base(argv[0]), out.Status, strings.TrimSpace(string(out.Stderr)))
	}
	return err
}

// packAgent compresses an agent for a release build, to a file of the name to
// and what the format adds, which it returns: by the program xz where it is
// there, else by zstd, which take their time and make it a fifth and a tenth
// smaller than what is packed while targets wait.
func packAgent(ctx context.Context, a *app.App, from, to, platform string) (string, error) {
	_ = os.Remove(to + ".xz") // of an earlier build, it would be preferred
	if packed, err := packXZ(ctx, a, from, platform); packed != "" || err != nil {
		if err == nil {
			to += ".xz"
			err = os.Rename(packed, to)
		}
		return to, err
	}
	to += ".zst"
	if exe, err := a.Host.LookPath("zstd", ""); err == nil {
		return to, packOne(ctx, a, []string{exe, "-19", "-q", "-f", from, "-o", to})
	}
	f, err := os.Open(from)
	if err != nil {
		return to, err
	}
	defer f.Close()
	var z bytes.Buffer
	if err := sshexec.Compress(&z, f, zstd.SpeedBestCompression); err != nil {
		return to, err
	}
	return to, os.WriteFile(to, z.Bytes(), 0o644)
}

func splitLines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// lastLines returns the end of what a program complained.
func lastLines(w io.Writer, prefix, text string, n int) {
	lines := splitLines(text)
	for _, l := range lines[max(0, len(lines)-n):] {
		fmt.Fprintf(w, "%s%s\n", prefix, l)
	}
}
