package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/cmd"
	"brine/modules/cp"
	"brine/modules/machine"
)

// sshCommand is how git calls ssh with an identity file, whose path is in the
// environment.
const sshCommand = `ssh -oStrictHostKeyChecking=no -oPasswordAuthentication=no -oKbdInteractiveAuthentication=no -oChallengeResponseAuthentication=no -oBatchMode=yes -i "$GIT_IDENTITY"`

const maxKey = 1 << 20

// runIdentities runs git with each identity file until one works.
// Salt: salt/modules/git.py _git_run.
func (g *Client) runIdentities(ctx context.Context, dir string, m mode, args []string) (cmd.Out, error) {
	var faults, missing []string
	last := cmd.Out{Retcode: 1}
	for i, id := range g.Identity {
		file, drop, ok, err := g.identity(ctx, id)
		if err != nil {
			return last, err
		}
		if !ok {
			missing = append(missing, id)
			continue
		}
		out, fault, err := g.runIdentity(ctx, dir, m, id, file, args)
		if drop != nil {
			drop()
		}
		if err != nil {
			return out, err
		}
		if fault == "" && out.Retcode == 0 {
			// The next command tries the one that works first.
			g.Identity = slices.Concat(g.Identity[i:i+1], g.Identity[:i], g.Identity[i+1:])
			return out, nil
		}
		last = out
		if fault != "" {
			faults = append(faults, Redact(fault))
		}
	}
	if m.soft {
		return last, nil
	}
	msg := "Unable to authenticate using identity file:\n\n" + strings.Join(faults, "\n")
	if len(missing) > 0 {
		if len(faults) > 0 {
			msg += "\n\n"
		}
		msg += "The following identity file(s) were not found: " + strings.Join(missing, ", ")
	}
	return last, fun.Errorf("%s", msg)
}

// runIdentity runs git with the identity file id, whose copy is at file. fault says why it did not work; a
// a git that failed and printed nothing has none.
func (g *Client) runIdentity(ctx context.Context, dir string, m mode, id, file string, args []string) (out cmd.Out, fault string, err error) {
	key, err := g.readKey(file)
	if err != nil {
		return out, "", fun.Errorf("Unable to read identity file %s: %s", id, host.OSError(err))
	}
	if encrypted(key) {
		return cmd.Out{Retcode: 1}, "Identity file " + id + " is passphrase-protected and cannot be used in a non-interactive command.", nil
	}
	env := environ()
	env.Set("GIT_IDENTITY", file)
	env.Set("GIT_SSH_COMMAND", sshCommand)
	out, err = g.once(ctx, dir, m, env, args)
	if err == nil && out.Retcode != 0 {
		fault = m.messageOf(out)
	}
	return out, fault, err
}

// identity returns the path of an identity file on this machine: a copy that
// drop removes for one of the file server. ok is false where there is none.
func (g *Client) identity(ctx context.Context, id string) (file string, drop func(), ok bool, err error) {
	if cp.Scheme(id) != "salt" {
		file = machine.Expand(g.Env.Host, id)
		st, err := g.Env.Host.Stat(file)
		return file, nil, err == nil && st.Mode.IsRegular(), nil
	}
	client := cp.New(g.Env, g.SaltEnv)
	if found, err := client.Exists(ctx, id); err != nil || !found {
		return "", nil, false, err
	}
	r, err := client.Open(ctx, id, cp.Options{})
	if err != nil {
		return "", nil, false, fun.Errorf("Unable to read identity file %s: %v", id, err)
	}
	defer func() { _ = r.Close() }()
	key, err := io.ReadAll(io.LimitReader(r, maxKey))
	if err != nil {
		return "", nil, false, fun.Errorf("Unable to read identity file %s: %v", id, err)
	}
	return g.copyKey(key)
}

// copyKey writes a key to a file that only the account of g may read.
func (g *Client) copyKey(key []byte) (file string, drop func(), ok bool, err error) {
	h := g.Env.Host
	dir, err := h.MkdirTemp("", "brine-git-")
	if err != nil {
		return "", nil, false, fun.Errorf("Unable to store an identity file: %s", host.OSError(err))
	}
	drop = func() { _ = h.RemoveAll(dir) }
	file = filepath.Join(dir, "id")
	secret := host.FileMode(0o600)
	err = h.WriteFile(file, bytes.NewReader(key), host.WriteOptions{Mode: &secret})
	if err == nil && g.User != "" {
		a, lookupErr := h.LookupUser(g.User)
		if lookupErr != nil {
			drop()
			return "", nil, false, fun.Errorf("User '%s' is not available", g.User)
		}
		if err = h.Chown(file, a.UID, a.GID); err == nil {
			err = h.Chown(dir, a.UID, a.GID)
		}
	}
	if err != nil {
		drop()
		return "", nil, false, fun.Errorf("Unable to store an identity file: %s", host.OSError(err))
	}
	return file, drop, true, nil
}

func (g *Client) readKey(file string) ([]byte, error) {
	r, err := g.Env.Host.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, maxKey))
}

// encrypted reports whether a private key needs a passphrase.
func encrypted(key []byte) bool {
	text := string(key)
	if strings.Contains(text, "BEGIN ENCRYPTED PRIVATE KEY-----") || strings.Contains(text, "Proc-Type: 4,ENCRYPTED") {
		return true
	}
	_, body, ok := strings.Cut(text, "-----BEGIN OPENSSH PRIVATE KEY-----")
	if !ok {
		return false
	}
	body, _, _ = strings.Cut(body, "-----")
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		return false
	}
	raw, ok = bytes.CutPrefix(raw, []byte("openssh-key-v1\x00"))
	if !ok || len(raw) < 4 {
		return false
	}
	n := binary.BigEndian.Uint32(raw)
	raw = raw[4:]
	return uint64(n) <= uint64(len(raw)) && string(raw[:n]) != "none"
}
