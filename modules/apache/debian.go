package apache

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// isLink reports whether path is a symbolic link.
func isLink(h host.Host, path string) (bool, error) {
	st, err := h.Lstat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, fun.Errorf("%s", host.OSError(err))
	}
	return st.Mode&fs.ModeSymlink != 0, nil
}

// withSuffix returns the name of a file that has one of some suffixes, the first
// where it has none.
func withSuffix(name string, suffixes ...string) string {
	for _, s := range suffixes {
		if strings.HasSuffix(name, s) {
			return name
		}
	}
	return name + suffixes[0]
}

func checkSite(_ context.Context, c *fun.Call, a *siteArg) (fun.Result, error) {
	site := a.Site
	file := withSuffix(site, ".conf")
	yes, err := isLink(c.Env.Host, "/etc/apache2/sites-enabled/"+file)
	if err == nil && !yes && site == "default" {
		yes, err = isLink(c.Env.Host, "/etc/apache2/sites-enabled/000-"+file)
	}
	return fun.Result{Value: yes}, err
}

func checkMod(_ context.Context, c *fun.Call, a *modArg) (fun.Result, error) {
	yes, err := isLink(c.Env.Host, "/etc/apache2/mods-enabled/"+withSuffix(a.Mod, ".load", ".conf"))
	return fun.Result{Value: yes}, err
}

func checkConf(_ context.Context, c *fun.Call, a *confArg) (fun.Result, error) {
	yes, err := isLink(c.Env.Host, "/etc/apache2/conf-enabled/"+withSuffix(a.Conf, ".conf"))
	return fun.Result{Value: yes}, err
}

// toggle runs one of the programs a2en... and a2dis... on name. It returns Salt's mapping.
func toggle(ctx context.Context, c *fun.Call, program, title, key, name, missing, done string) (fun.Result, error) {
	if err := refuse(name); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Run(ctx, c.Env.Host, program, name)
	if err != nil {
		return fun.Result{}, err
	}
	status := value.Value(int64(out.Status))
	switch {
	case out.Status == 0:
		status = key + " " + name + " " + done
	case out.Status == 1 && missing != "":
		status = key + " " + name + " " + missing
	}
	return fun.Result{Value: value.MapOf("Name", title, key, name, "Status", status), Retcode: out.Status}, nil
}

func a2ensite(ctx context.Context, c *fun.Call, a *siteArg) (fun.Result, error) {
	return toggle(ctx, c, "a2ensite", "Apache2 Enable Site", "Site", a.Site, "Not found", "enabled")
}

func a2dissite(ctx context.Context, c *fun.Call, a *siteArg) (fun.Result, error) {
	return toggle(ctx, c, "a2dissite", "Apache2 Disable Site", "Site", a.Site, "", "disabled")
}

func a2enmod(ctx context.Context, c *fun.Call, a *modArg) (fun.Result, error) {
	return toggle(ctx, c, "a2enmod", "Apache2 Enable Mod", "Mod", a.Mod, "Not found", "enabled")
}

func a2dismod(ctx context.Context, c *fun.Call, a *modArg) (fun.Result, error) {
	return toggle(ctx, c, "a2dismod", "Apache2 Disable Mod", "Mod", a.Mod, "", "disabled")
}

func a2enconf(ctx context.Context, c *fun.Call, a *confArg) (fun.Result, error) {
	return toggle(ctx, c, "a2enconf", "Apache2 Enable Conf", "Conf", a.Conf, "Not found", "enabled")
}

func a2disconf(ctx context.Context, c *fun.Call, a *confArg) (fun.Result, error) {
	return toggle(ctx, c, "a2disconf", "Apache2 Disable Conf", "Conf", a.Conf, "", "disabled")
}
