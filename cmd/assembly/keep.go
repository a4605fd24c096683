//go:build !slim

package assembly

import (
	"os"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/sshexec"
)

// KeepDir returns the directory of the sockets of kept connections; see sshexec.KeepDir.
func KeepDir(getenv func(string) string, cfg *config.Config, uid int, create bool) (string, error) {
	return sshexec.KeepDir(getenv("XDG_RUNTIME_DIR"), cfg.CacheDir, uid, create)
}

// keeping is how connections are kept, by ssh_persist or, where that is not set,
// ControlPersist of ssh_config.
func keeping(o EnvOptions, h host.Host, getenv func(string) string) (*sshexec.Keeping, error) {
	opts := o.Config.Opts
	k := &sshexec.Keeping{
		Dir:   func(create bool) (string, error) { return KeepDir(getenv, o.Config, h.Geteuid(), create) },
		Start: func(dir string, ready *os.File) error { return startKeeper(h, dir, ready) },
	}
	if opts.At("ssh_persist") == nil {
		return k, nil
	}
	d := time.Duration(0)
	if opts.At("ssh_persist") != false {
		var err error
		if d, err = secondsOf(opts, "ssh_persist"); err != nil {
			return nil, err
		}
		if d < 0 {
			return nil, fun.Errorf("the option ssh_persist must be a number of seconds from 0 on, not %v", opts.At("ssh_persist"))
		}
	}
	k.For = &d
	return k, nil
}

// startKeeper starts this program as the keeper. What the commands of ssh_config need
// of the environment comes with each run.
func startKeeper(h host.Host, dir string, ready *os.File) error {
	exe, err := host.Executable()
	if err != nil {
		return err
	}
	_, err = h.Start(host.Cmd{Argv: []string{exe, sshexec.KeeperCommand, dir}, Dir: "/", Stdout: ready})
	return err
}
