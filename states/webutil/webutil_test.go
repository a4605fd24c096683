package webutil_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	webutilmod "brine/modules/webutil"
	"brine/states/webutil"
)

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "webutil", Load: webutilmod.Module}, fun.Entry{Kind: fun.State, Name: "webutil", Load: webutil.States})
}

func TestUsers(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutUser(host.Account{Name: "www", UID: 33, GID: 34})
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"test webutil.user_exists {name: ann, password: x, htpasswd_file: /etc/pw}", "None: User 'ann' is set to be added to htpasswd file {'ann': True}"},
		{"state webutil.user_exists {name: ann, password: x, htpasswd_file: /etc/pw, runas: www}", "True: Adding password for user ann {'ann': True}"},
		{"state webutil.user_exists {name: ann, password: y, htpasswd_file: /etc/pw}", "True: User already known {}"},
		{"state webutil.user_exists {name: ann, password: x, htpasswd_file: /etc/pw, update: true}", "True: User already known {}"},
		{"test webutil.user_exists {name: ann, password: y, htpasswd_file: /etc/pw, update: true}", "None: User 'ann' is set to be added to htpasswd file {'ann': True}"},
		{"state webutil.user_exists {name: ann, password: y, htpasswd_file: /etc/pw, update: true, options: B}", "True: Updating password for user ann {'ann': True}"},
		{"call webutil.verify [/etc/pw, ann, y]", "True"},
		{"call webutil.verify [/etc/pw, ann, x]", "False"},
		{"call webutil.verify [/etc/pw, bob, x]", "False"},
		{"call webutil.verify [/etc/none, bob, x]", "False"},
		{"state webutil.user_exists {name: ann, password: y, htpasswd_file: /etc/pw, force: true}", "True: Updating password for user ann {'ann': True}"},
		{"state webutil.user_exists {name: bob, htpasswd_file: /etc/pw}", "False: a password is needed for user bob {}"},
		{"state webutil.user_exists {name: 'a:b', password: x, htpasswd_file: /etc/pw}", "error: invalid user name 'a:b'"},
		{"state webutil.user_exists {name: bob, password: x}", "False: htpasswd_file is needed {}"},
		{"state webutil.user_exists {name: bob, password: x, htpasswd_file: /etc/pw, options: d}", `error: option "d" of htpasswd is not supported: there are B, 2, 5, s, m and p`},
		{"call webutil.userdel [/etc/pw, bob]", "['User bob not found']"},
		{"call webutil.userdel [/etc/none, bob]", "'Error: The specified htpasswd file does not exist'"},
		{"state webutil.user_absent {name: bob, htpasswd_file: /etc/pw}", "True: User already not in file {}"},
		{"test webutil.user_absent {name: bob, htpasswd_file: /etc/none}", "True: User already not in file {}"},
		{"test webutil.user_absent {name: ann, htpasswd_file: /etc/pw}", "None: User 'ann' is set to be removed from htpasswd file {'ann': True}"},
		{"state webutil.user_absent {name: ann, htpasswd_file: /etc/pw}", "True: Deleting password for user ann {'ann': True}"},
	})
	if st, err := h.Stat("/etc/pw"); err != nil || st.UID != 33 || st.GID != 34 || st.Size != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	for opts, prefix := range map[string]string{"B": "$2y$", "2": "$5$", "5": "$6$", "s": "{SHA}", "m": "$apr1$", "p": "secret", "": "$apr1$"} {
		h := host.NewFake()
		r := rig(h)
		r.Fn(t, "webutil.useradd", "{pwfile: /etc/pw, user: ann, password: secret, opts: '"+opts+"'}")
		if got := h.Text("/etc/pw"); !strings.HasPrefix(got, "ann:"+prefix) {
			t.Errorf("opts %q wrote %q", opts, got)
		}
		for password, want := range map[string]string{"secret": "True", "Secret": "False"} {
			if got := r.Fn(t, "webutil.verify", "{pwfile: /etc/pw, user: ann, opts: '"+opts+"', password: "+password+"}"); got != want {
				t.Errorf("opts %q: verify %s = %s", opts, password, got)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("ann:$apr1$x$y\n")
	f.Add("ann:$2y$99$x\nann:$6$rounds=999$\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutFile("/etc/pw", text, 0o644)
		r := rig(h)
		r.Fn(t, "webutil.verify", "{pwfile: /etc/pw, user: ann, password: x}")
		r.Fn(t, "webutil.userdel", "{pwfile: /etc/pw, user: ann}")
	})
}
