package postgres

import (
	"context"
	"path"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// debian runs a program of Debian's postgresql-common.
func debian(ctx context.Context, env *fun.Env, argv ...string) (tool.Out, error) {
	if !tool.Has(env.Host, argv[0]) {
		return tool.Out{}, fun.Errorf("%s command not found", argv[0])
	}
	out, err := tool.Run(ctx, env.Host, argv...)
	if err == nil && !out.OK() {
		env.Log().Error("postgres: "+argv[0]+" failed", "stderr", strings.TrimSpace(out.Stderr))
	}
	return out, err
}

// A Cluster is a cluster that Debian's tools are to create; what is "" or false is
// up to them.
type Cluster struct {
	Version, Name, Port, Locale, Encoding, DataDir, WALSegSize string
	GroupAccess, Checksums                                     bool
}

// named checks version and name of a cluster, which are arguments of programs.
func named(version, name string) error {
	if version == "" || name == "" || version[0] == '-' || name[0] == '-' {
		return fun.Errorf("Invalid cluster: %s/%s", version, name)
	}
	return nil
}

// CreateCluster creates a cluster.
func CreateCluster(ctx context.Context, env *fun.Env, cl Cluster) (tool.Out, error) {
	if err := named(cl.Version, cl.Name); err != nil {
		return tool.Out{}, err
	}
	argv := []string{"pg_createcluster"}
	for _, kv := range [][2]string{{"--port", cl.Port}, {"--locale", cl.Locale}, {"--encoding", cl.Encoding}, {"--datadir", cl.DataDir}} {
		if kv[1] != "" {
			argv = append(argv, kv[0], kv[1])
		}
	}
	argv = append(argv, cl.Version, cl.Name)
	var rest []string
	if cl.GroupAccess {
		rest = append(rest, "--allow-group-access")
	}
	if cl.Checksums {
		rest = append(rest, "--data-checksums")
	}
	if cl.WALSegSize != "" {
		rest = append(rest, "--wal-segsize", cl.WALSegSize)
	}
	if len(rest) > 0 {
		argv = append(append(argv, "--"), rest...)
	}
	return debian(ctx, env, argv...)
}

// Clusters returns the clusters of this machine by version/name.
func Clusters(ctx context.Context, env *fun.Env) (*value.Map, error) {
	out, err := debian(ctx, env, "pg_lsclusters", "--no-header")
	if err != nil {
		return nil, err
	}
	m := value.NewMap(2)
	for line := range strings.Lines(out.Stdout) {
		f := strings.Fields(line)
		if len(f) < 7 {
			continue
		}
		port, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			continue
		}
		m.Set(f[0]+"/"+f[1], value.MapOf("port", port, "status", f[3], "user", f[4], "datadir", f[5], "log", f[6]))
	}
	return m, nil
}

// RemoveCluster removes a cluster and its data.
func RemoveCluster(ctx context.Context, env *fun.Env, version, name string, stop bool) (tool.Out, error) {
	if err := named(version, name); err != nil {
		return tool.Out{}, err
	}
	argv := []string{"pg_dropcluster"}
	if stop {
		argv = append(argv, "--stop")
	}
	return debian(ctx, env, append(argv, version, name)...)
}

type clusterCreateArgs struct {
	versionArg
	clusterArg
	Port             string `arg:"port,int" doc:"port"`
	Locale           string `arg:"locale" doc:"locale"`
	Encoding         string `arg:"encoding" doc:"character encoding"`
	DataDir          string `arg:"datadir,path" doc:"data directory"`
	AllowGroupAccess bool   `arg:"allow_group_access" doc:"let the group read the data directory"`
	DataChecksums    bool   `arg:"data_checksums" doc:"with checksums of data pages"`
	WALSegSize       string `arg:"wal_segsize" doc:"size of the segments of the write-ahead log in megabytes"`
}

func clusterCreate(ctx context.Context, c *fun.Call, a *clusterCreateArgs) (fun.Result, error) {
	out, err := CreateCluster(ctx, c.Env, Cluster{
		Version: a.Version, Name: a.Name, Port: a.Port, Locale: a.Locale, Encoding: a.Encoding, DataDir: a.DataDir, WALSegSize: a.WALSegSize,
		GroupAccess: a.AllowGroupAccess, Checksums: a.DataChecksums,
	})
	if err != nil || !out.OK() {
		return fun.Result{Value: false}, err
	}
	return fun.Value(out.All())
}

type clusterExistsArgs struct {
	versionArg
	clusterArg
}

func clusterExists(ctx context.Context, c *fun.Call, a *clusterExistsArgs) (fun.Result, error) {
	all, err := Clusters(ctx, c.Env)
	return fun.Result{Value: all.Has(a.Version + "/" + a.Name)}, err
}

type clusterListArgs struct {
	_       fun.Arguments
	Verbose bool `arg:"verbose" default:"False" doc:"return what is known of each"`
}

func clusterList(ctx context.Context, c *fun.Call, a *clusterListArgs) (fun.Result, error) {
	all, err := Clusters(ctx, c.Env)
	if err != nil || a.Verbose {
		return fun.Result{Value: all}, err
	}
	return fun.Value(value.NewList(all.Keys()...))
}

type clusterRemoveArgs struct {
	versionArg
	clusterArg
	Stop bool `arg:"stop" default:"False" doc:"stop the server first"`
}

func clusterRemove(ctx context.Context, c *fun.Call, a *clusterRemoveArgs) (fun.Result, error) {
	out, err := RemoveCluster(ctx, c.Env, a.Version, a.Name, a.Stop)
	if err != nil {
		return fun.Result{}, err
	}
	m := out.All()
	if out.OK() {
		m.Set("changes", "Successfully removed cluster "+a.Version+"/"+a.Name)
	}
	return fun.Value(m)
}

// A DataDir is a data directory that initdb is to make.
type DataDir struct {
	Path, Auth, User, Password, Encoding, Locale, WALDir, RunAs string
	HasPassword, Checksums                                      bool
}

// DataDirExists reports whether a directory is a data directory.
func DataDirExists(h host.Host, dir string) bool {
	for _, f := range []string{"PG_VERSION", "postgresql.conf"} {
		if st, err := h.Stat(path.Join(dir, f)); err != nil || !st.Mode.IsRegular() {
			return false
		}
	}
	return true
}

// InitDataDir makes a data directory.
func InitDataDir(ctx context.Context, env *fun.Env, d DataDir) (bool, error) {
	bin := program(ctx, env, "initdb")
	if bin == "" {
		return false, fun.Errorf("initdb executable not found.")
	}
	if d.RunAs == "" {
		d.RunAs = superuser(env)
	}
	if d.User == "" {
		d.User = d.RunAs
	}
	as, err := account(env, d.RunAs)
	if err != nil {
		return false, err
	}
	argv := []string{bin, "--pgdata=" + d.Path, "--username=" + d.User, "--auth=" + d.Auth, "--encoding=" + d.Encoding}
	if d.Locale != "" {
		argv = append(argv, "--locale="+d.Locale)
	}
	if d.WALDir != "" {
		// The long name of the option changed in PostgreSQL 10.
		argv = append(argv, "-X", d.WALDir)
	}
	if d.Checksums {
		argv = append(argv, "--data-checksums")
	}
	if d.HasPassword {
		file, clean, err := passwordFile(env.Host, as, d.Password)
		if err != nil {
			return false, err
		}
		defer clean()
		argv = append(argv, "--pwfile="+file)
	}
	out, err := tool.RunWith(ctx, env.Host, tool.Options{Env: environment(env.Host, as), Dir: "/", User: as, Timeout: timeout(ctx, env), Name: bin}, argv...)
	if err != nil {
		return false, err
	}
	if out.Status != 0 {
		env.Log().Error("postgres: initdb failed", "stderr", out.Fault())
	}
	return out.OK(), nil
}

// passwordFile writes a password to a file that only an account can read.
func passwordFile(h host.Host, as *host.Account, password string) (name string, clean func(), err error) {
	dir, err := h.MkdirTemp("", "brine-initdb-")
	if err != nil {
		return "", nil, fun.Errorf("%s", host.OSError(err))
	}
	clean = func() { _ = h.RemoveAll(dir) }
	name = path.Join(dir, "pw")
	mode := host.FileMode(0o600)
	o := host.WriteOptions{Mode: &mode}
	if as != nil {
		o.UID, o.GID = &as.UID, &as.GID
		err = h.Chown(dir, as.UID, as.GID)
	}
	if err == nil {
		err = h.WriteFile(name, strings.NewReader(password+"\n"), o)
	}
	if err != nil {
		clean()
		return "", nil, fun.Errorf("%s", host.OSError(err))
	}
	return name, clean, nil
}

type datadirExistsArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"the data directory"`
}

func datadirExists(_ context.Context, c *fun.Call, a *datadirExistsArgs) (fun.Result, error) {
	return fun.Value(DataDirExists(c.Env.Host, a.Name))
}

type datadirInitArgs struct {
	_         fun.Arguments
	Name      string          `arg:"name,required,path" doc:"the data directory"`
	Auth      string          `arg:"auth" default:"password" doc:"authentication method of local connections"`
	User      string          `arg:"user" doc:"superuser of the cluster; default: the account"`
	Password  fun.Opt[string] `arg:"password,secret" doc:"password of the superuser"`
	Encoding  string          `arg:"encoding" default:"UTF8" doc:"character encoding"`
	Locale    string          `arg:"locale" doc:"locale"`
	WALDir    string          `arg:"waldir,path" doc:"directory of the write-ahead log"`
	Checksums bool            `arg:"checksums" default:"False" doc:"with checksums of data pages"`
	RunAs     string          `arg:"runas" doc:"account that runs initdb; default: postgres"`
}

func datadirInit(ctx context.Context, c *fun.Call, a *datadirInitArgs) (fun.Result, error) {
	if DataDirExists(c.Env.Host, a.Name) {
		return fun.Value(false)
	}
	ok, err := InitDataDir(ctx, c.Env, DataDir{
		Path: a.Name, Auth: a.Auth, User: a.User, Password: a.Password.V, Encoding: a.Encoding, Locale: a.Locale, WALDir: a.WALDir, RunAs: a.RunAs,
		HasPassword: a.Password.Given, Checksums: a.Checksums,
	})
	return fun.Result{Value: ok}, err
}
