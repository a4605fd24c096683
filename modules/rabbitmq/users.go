package rabbitmq

import (
	"context"
	"crypto/rand"
	"strings"

	"brine/modules/cmd"
)

// withPassword runs a command of rabbitmqctl that reads a password from stdin where
// the command line has none, so that no other account sees it. Releases before 3.8
// want it on the command line.
func (b *Client) withPassword(ctx context.Context, looks bool, command, user, password string) (cmd.Out, error) {
	if err := checkName(user); err != nil {
		return cmd.Out{}, err
	}
	j := job{looks: looks, stdin: password + "\n", options: []string{command}, words: []string{user}}
	prompts, err := b.prompts(ctx)
	if err != nil {
		return cmd.Out{}, err
	}
	if !prompts || strings.ContainsFunc(password, odd) || password == "" {
		j.words = append(j.words, password)
	}
	out, err := b.try(ctx, "rabbitmqctl", j)
	out.Stdout = strings.Replace(out.Stdout, "Password: \n", "", 1)
	return out, err
}

// promptsKey is where a run keeps what prompts returns.
type promptsKey struct{}

// prompts reports whether rabbitmqctl reads passwords from stdin. The releases that
// do are those that know the command version.
func (b *Client) prompts(ctx context.Context) (bool, error) {
	if v, ok := b.Env.Memo.Load(promptsKey{}); ok {
		return v == true, nil
	}
	out, err := b.try(ctx, "rabbitmqctl", job{looks: true, options: []string{"version"}})
	if err != nil {
		return false, err
	}
	b.Env.Memo.Store(promptsKey{}, out.Retcode == 0)
	return out.Retcode == 0, nil
}

// odd reports whether a rune might not survive being typed at a prompt.
func odd(r rune) bool { return r <= ' ' || r > '~' }

// AddUser creates a user. Without a password nobody can log in as the user.
func (b *Client) AddUser(ctx context.Context, name string, password *string) (string, error) {
	word := ""
	if password != nil {
		word = *password
	} else {
		word = rand.Text() // RabbitMQ demands one; it is cleared below
	}
	out, err := b.withPassword(ctx, false, "add_user", name, word)
	if err != nil {
		return "", err
	}
	if out.Retcode != 0 {
		return "", failure(out)
	}
	if password == nil {
		if _, err := b.ClearPassword(ctx, name); err != nil {
			_, _ = b.DeleteUser(ctx, name) // the first error is the one to tell
			return "", err
		}
	}
	return out.Stdout, nil
}

// DeleteUser removes a user.
func (b *Client) DeleteUser(ctx context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"delete_user"}, name)
}

// ChangePassword sets the password of a user.
func (b *Client) ChangePassword(ctx context.Context, name, password string) (string, error) {
	out, err := b.withPassword(ctx, false, "change_password", name, password)
	if err == nil && out.Retcode != 0 {
		err = failure(out)
	}
	return out.Stdout, err
}

// ClearPassword removes the password of a user, who cannot log in by one then.
func (b *Client) ClearPassword(ctx context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"clear_password"}, name)
}

// CheckPassword reports whether a password is that of a user. A broker that does
// not answer is an error, not a wrong password.
func (b *Client) CheckPassword(ctx context.Context, name, password string) (bool, error) {
	out, err := b.withPassword(ctx, true, "authenticate_user", name, password)
	switch said := out.Stdout + out.Stderr; {
	case err != nil:
		return false, err
	case out.Retcode == 0:
		return true, nil
	case strings.Contains(said, "failed to authenticate") || strings.Contains(said, "invalid credentials"):
		return false, nil
	}
	return false, failure(out)
}

// SetPermissions sets what a user may configure, write and read in a virtual host.
func (b *Client) SetPermissions(ctx context.Context, vhost, user, conf, write, read string) (string, error) {
	if err := checkName(vhost, user); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"set_permissions", "-p", vhost}, user, conf, write, read)
}

// SetUserTags replaces the tags of a user.
func (b *Client) SetUserTags(ctx context.Context, name string, tags []string) (string, error) {
	if err := checkName(append([]string{name}, tags...)...); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"set_user_tags"}, append([]string{name}, tags...)...)
}

// AddVHost creates a virtual host.
func (b *Client) AddVHost(ctx context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"add_vhost"}, name)
}

// DeleteVHost removes a virtual host with its queues and messages.
func (b *Client) DeleteVHost(ctx context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return b.Ctl(ctx, []string{"delete_vhost"}, name)
}

// password returns the argument password; nil where it was not given.
func password(a *addUserArgs) *string {
	if !a.Password.Given {
		return nil
	}
	s := a.Password.V
	return &s
}
