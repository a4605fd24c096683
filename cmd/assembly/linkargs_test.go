//go:build linux

package assembly

import "brine/internal/value"

// jailSources are files on the file server.
var jailSources = map[string]string{
	"app.conf": "port = 8080\n", "tree/one": "1\n", "tree/sub/two": "2\n", "tree/shadow": "3\n",
	"one.patch": "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n # " + ownWord + "\n-[section]\n+[other]\n",
}

// jailCommands make what the arguments of linkArgs name.
var jailCommands = []string{
	"mkdir -p /srv/in/sub && cd /srv/in && echo one >one && echo two >sub/shadow && echo three >shadow && tar cf /srv/a.tar one sub shadow && zip -qr /srv/a.zip one sub shadow && gzip -k one",
	"git init -q -b main /srv/repo && cd /srv/repo && git config user.email a@b && git config user.name a && echo 1 >shadow && git add . && git commit -qm one",
	"openssl genrsa -traditional -out /srv/ca.key 2048",
	"openssl req -x509 -new -key /srv/ca.key -subj /CN=ca -days 1000 -out /srv/ca.crt",
}

func args(kv ...value.Value) *value.Map { return value.MapOf(kv...) }

// linkArgs are arguments of functions whose examples do nothing in a jail, or not all
// that the function can do. The path that is tried is set after them; another path is
// @GROUND@, where the attack is.
var linkArgs = map[string][]*value.Map{
	"execution archive.tar": {
		args("options", "xf", "tarfile", "/srv/a.tar", "dest", "/srv"), args("options", "xf", "tarfile", "/srv/a.tar", "cwd", "/srv"),
		args("options", "cf", "tarfile", "/srv/b.tar", "sources", value.Strings("one"), "cwd", "/srv/in"),
	},
	"execution archive.unzip":           {args("zip_file", "/srv/a.zip", "dest", "/srv")},
	"execution archive.cmd_unzip":       {args("zip_file", "/srv/a.zip", "dest", "/srv", "options", "-o")},
	"execution archive.zip":             {args("zip_file", "/srv/b.zip", "sources", value.Strings("/srv/in/one"), "cwd", "/srv/in"), args("zip_file", "/srv/b.zip", "sources", value.Strings("shadow", "x"), "cwd", "/srv/in")},
	"execution archive.cmd_zip":         {args("zip_file", "/srv/b.zip", "sources", value.Strings("/srv/in/one"), "cwd", "/srv/in"), args("zip_file", "/srv/b.zip", "sources", value.Strings("shadow", "x"), "cwd", "/srv/in")},
	"execution archive.gzip":            {args("sourcefile", "/srv/in/one")},
	"execution archive.gunzip":          {args("gzipfile", "/srv/in/one.gz")},
	"execution cmd.run":                 {args("cmd", "true")},
	"execution cmd.run_all":             {args("cmd", "echo x >>shadow")},
	"execution cmd.retcode":             {args("cmd", "echo x >>shadow")},
	"execution cmd.shell":               {args("cmd", "cat shadow")},
	"execution cp.get_file":             {args("path", "salt://app.conf", "dest", "/srv/in/got")},
	"execution cp.get_template":         {args("path", "salt://app.conf", "dest", "/srv/in/got")},
	"execution cp.get_url":              {args("path", "salt://app.conf", "dest", "/srv/in/got")},
	"execution cp.get_dir":              {args("path", "salt://tree", "dest", "/srv/in/got")},
	"execution file.append":             {args("args", "line")},
	"execution file.blockreplace":       {args("marker_start", "# begin", "marker_end", "# end", "content", "x", "backup", ".bak", "append_if_not_found", true)},
	"execution file.comment":            {args("regex", "^key", "backup", ".bak")},
	"execution file.uncomment":          {args("regex", "^key"), args("regex", "begin", "backup", ".bak")},
	"execution file.comment_line":       {args("regex", "^key", "backup", ".bak"), args("regex", "^key", "backup", false)},
	"execution file.copy":               {args("src", "@GROUND@/own/x", "dst", "@GROUND@/own/copy"), args("src", "@GROUND@/own/sub", "dst", "@GROUND@/own/copy", "recurse", true)},
	"execution file.line":               {args("content", "new", "mode", "ensure", "after", "^key", "backup", true)},
	"execution file.link":               {args("src", "@GROUND@/own/x", "path", "@GROUND@/own/hard")},
	"execution file.manage_file":        {args("name", "@GROUND@/own/x", "sfn", "", "ret", nil, "source", nil, "source_sum", value.NewMap(0), "user", "mallory", "group", "mallory", "mode", "0644", "attrs", nil, "saltenv", "base", "backup", nil, "contents", "x\n")},
	"execution file.move":               {args("src", "@GROUND@/own/x", "dst", "@GROUND@/own/moved")},
	"execution file.patch":              {args("originalfile", "@GROUND@/own/x", "patchfile", "/srv/salt/one.patch")},
	"execution file.psed":               {args("before", "key", "after", "lock")},
	"execution file.rename":             {args("src", "@GROUND@/own/x", "dst", "@GROUND@/own/moved")},
	"execution file.replace":            {args("pattern", "key", "repl", "lock", "backup", ".bak"), args("pattern", "key", "repl", "lock", "backup", false), args("pattern", "zzz", "repl", "lock", "append_if_not_found", true)},
	"execution file.sed":                {args("before", "key", "after", "lock")},
	"execution file.symlink":            {args("src", "/srv/in/one", "path", "@GROUND@/own/l", "force", true)},
	"execution git.clone":               {args("url", "/srv/repo", "cwd", "/srv")},
	"execution git.init":                {args()},
	"execution git.worktree_add":        {args("cwd", "/srv/repo", "worktree_path", "/srv/tree", "force", true)},
	"execution git.archive":             {args("cwd", "/srv/repo", "output", "/srv/in/out.tar")},
	"execution git.config_set":          {args("key", "a.b", "value", "c")},
	"execution http.query":              {args("url", "http://127.0.0.1:1/")},
	"execution ini.set_option":          {args("sections", args("section", args("key", "other")))},
	"execution ini.remove_option":       {args("section", "section", "option", "key")},
	"execution ini.remove_section":      {args("section", "section")},
	"execution rsync.rsync":             {args("src", "/srv/in/", "dst", "/srv/out")},
	"execution ssh.set_auth_key":        {args("user", "mallory", "key", "AAAAC3NzaC1lZDI1NTE5AAAAIGtestkeytestkeytestkeytestkeytestkeytestkey", "enc", "ssh-ed25519")},
	"execution tls.create_ca":           {args("ca_name", "a", "bits", int64(1024))},
	"execution x509.create_private_key": {args("bits", int64(1024)), args("algo", "ed25519")},
	"execution x509.create_certificate": {args("signing_private_key", "/srv/ca.key", "CN", "x", "days_valid", int64(100))},
	"execution x509.create_csr":         {args("private_key", "/srv/ca.key", "CN", "x")},
	"execution x509.write_pem":          {args("text", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")},

	"state archive.extracted": {
		args("source", "/srv/a.tar", "enforce_toplevel", false, "user", "mallory", "group", "mallory"),
		args("source", "/srv/a.zip", "enforce_toplevel", false, "overwrite", true), args("source", "/srv/a.tar", "enforce_toplevel", false, "clean", true),
	},
	"state file.append":    {args("text", "line")},
	"state file.comment":   {args("regex", "^key"), args("regex", "^key", "backup", false)},
	"state file.uncomment": {args("regex", "begin"), args("regex", "begin", "backup", false)},
	"state file.copy":      {args("source", "@GROUND@/own/x", "force", true, "user", "mallory"), args("source", "@GROUND@/own/sub", "force", true, "makedirs", true), args("name", "@GROUND@/own/copy", "source", "@GROUND@/own/x", "preserve", true)},
	"state file.decode":    {args("encoded_data", "aGVsbG8=", "encoding_type", "base64")},
	"state file.directory": {
		args("user", "mallory", "mode", "0777", "makedirs", true, "recurse", value.Strings("user", "mode")), args("clean", true), args("user", "mallory", "force", true),
	},
	"state file.hardlink": {args("target", "@GROUND@/own/x", "force", true), args("name", "@GROUND@/own/hard", "target", "@GROUND@/own/x")},
	"state file.keyvalue": {args("key", "key", "value", "other", "separator", " = "), args("key_values", args("new", "x"), "append_if_not_found", true)},
	"state file.line":     {args("content", "new", "mode", "ensure", "after", "^key", "backup", true), args("content", "new", "mode", "insert", "location", "end")},
	"state file.managed": {
		args("contents", "x", "user", "mallory", "group", "mallory"), args("source", "salt://app.conf", "mode", "0644", "backup", "minion"),
		args("contents", "x", "follow_symlinks", false), args("contents", "x", "makedirs", true, "dir_mode", "0777"), args("user", "mallory", "replace", false),
		args("name", "@GROUND@/own/x", "contents", "x", "tmp_dir", "@GROUND@/own"),
	},
	"state file.mknod":               {args("ntype", "p", "user", "mallory")},
	"state file.patch":               {args("source", "salt://one.patch"), args("source", "salt://one.patch", "name", "@GROUND@/own/x")},
	"state file.pruned":              {args("recurse", true)},
	"state file.recurse":             {args("source", "salt://tree", "user", "mallory", "clean", true), args("source", "salt://tree", "file_mode", "0666", "dir_mode", "0777", "keep_symlinks", true)},
	"state file.rename":              {args("source", "@GROUND@/own/x", "force", true, "makedirs", true), args("name", "@GROUND@/own/moved", "source", "@GROUND@/own/x")},
	"state file.replace":             {args("pattern", "key", "repl", "lock"), args("pattern", "zzz", "repl", "new", "append_if_not_found", true, "backup", false)},
	"state file.retention_schedule":  {args("retain", args("most_recent", int64(0)))},
	"state file.serialize":           {args("dataset", args("a", int64(1)), "user", "mallory", "serializer", "json"), args("dataset", args("a", int64(1)), "merge_if_exists", true, "serializer", "yaml")},
	"state file.symlink":             {args("target", "/srv/in/one", "force", true, "user", "mallory", "makedirs", true), args("target", "/srv/in/one", "backupname", "old")},
	"state file.tidied":              {args("age", int64(0), "rmdirs", true)},
	"state file.touch":               {args("makedirs", true)},
	"state git.cloned":               {args("name", "/srv/repo")},
	"state git.detached":             {args("name", "/srv/repo", "rev", "main")},
	"state git.latest":               {args("name", "/srv/repo", "rev", "main"), args("name", "/srv/repo", "rev", "main", "force_clone", true, "force_reset", true)},
	"state git.present":              {args(), args("force", true)},
	"state ini.options_absent":       {args("sections", args("section", value.Strings("key")))},
	"state ini.options_present":      {args("sections", args("section", args("key", "other")))},
	"state ini.sections_absent":      {args("sections", value.Strings("section"))},
	"state rsync.synchronized":       {args("source", "/srv/in/", "delete", true)},
	"state ssh_auth.present":         {args("user", "mallory", "enc", "ssh-ed25519", "name", "AAAAC3NzaC1lZDI1NTE5AAAAIGtestkeytestkeytestkeytestkeytestkeytestkey")},
	"state x509.certificate_managed": {args("signing_private_key", "/srv/ca.key", "CN", "x", "days_valid", int64(100), "days_remaining", int64(0))},
	"state x509.csr_managed":         {args("private_key", "/srv/ca.key", "CN", "x")},
	"state x509.crl_managed":         {args("signing_private_key", "/srv/ca.key", "signing_cert", "/srv/ca.crt", "revoked", value.NewList())},
	"state x509.pem_managed":         {args("text", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "user", "mallory")},
	"state x509.private_key_managed": {args("bits", int64(1024), "user", "mallory", "overwrite", true), args("algo", "ed25519", "overwrite", true)},
}

// alsoPaths are arguments that take a URL or a path, and one that is tried as a path.
var alsoPaths = []string{
	"execution rsync.rsync dst", "execution rsync.rsync src", "state rsync.synchronized source", "state file.managed source",
	"state file.append source", "state file.recurse source", "state archive.extracted source", "state file.patch source",
	"execution x509.create_csr private_key", "execution x509.read_certificate certificate",
}

// notInJail are modules, or functions with an argument, of states that do nothing
// with a path in a jail, and why.
var notInJail = map[string]string{
	"acl":                 "no file system of a jail has ACLs for sure",
	"alternatives":        "the link is in the directories of the system",
	"blockdev":            "no block devices",
	"cmd":                 "the command is the caller's; execution functions with cwd are tried",
	"composer":            "not installed",
	"file.exists name":    "it only looks",
	"file.missing name":   "it only looks",
	"gem":                 "needs a network",
	"helm":                "not installed",
	"hg":                  "not installed",
	"iptables":            "no right to change the network",
	"mount":               "no right to mount",
	"mysql_database":      "no server",
	"mysql_grants":        "no server",
	"mysql_query":         "no server",
	"mysql_user":          "no server",
	"nfs_export":          "no server",
	"nftables":            "no right to change the network",
	"npm":                 "needs a network",
	"pip":                 "needs a network",
	"pkgrepo":             "the repositories are those of the system",
	"postgres_cluster":    "not installed",
	"postgres_initdb":     "not installed",
	"postgres_tablespace": "no server",
	"quota":               "no quotas",
	"raid":                "no devices",
	"selinux":             "no SELinux",
	"service":             "no systemd",
	"supervisord":         "not installed",
	"user":                "accounts are not in the ground",
	"virtualenv":          "needs a network",
}
