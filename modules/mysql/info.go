package mysql

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func status(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewMap(0), func(ctx context.Context, conn *Conn) (value.Value, error) {
		r, err := conn.Query(ctx, "SHOW STATUS")
		if err != nil {
			return nil, err
		}
		m := value.NewMap(len(r.Rows))
		for _, row := range r.Rows {
			m.Set(value.Str(row[0]), value.Str(row[1]))
		}
		return m, nil
	})
}

func version(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, "", func(_ context.Context, conn *Conn) (value.Value, error) { return conn.Version, nil })
}

// slave returns the first row of the replication status; nil for a server that
// does not replicate another.
func (c *Conn) slave(ctx context.Context) (*value.Map, error) {
	r, err := c.Query(ctx, "SHOW SLAVE STATUS")
	if err != nil || len(r.Rows) == 0 {
		return nil, err
	}
	return r.dict(r.Rows[0]), nil
}

func slaveLag(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, int64(-3), func(ctx context.Context, conn *Conn) (value.Value, error) {
		m, err := conn.slave(ctx)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			return int64(-1), nil
		case m.At("Slave_IO_Running") == "Yes":
			return m.At("Seconds_Behind_Master"), nil
		}
		return int64(-2), nil
	})
}

func freeSlave(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, "", func(ctx context.Context, conn *Conn) (value.Value, error) {
		m, err := conn.slave(ctx)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, fun.Errorf("the server does not replicate another one")
		}
		// The former master may be gone.
		if master, err := Dial(ctx, c.Env, Options{kw: value.MapOf("connection_host", m.At("Master_Host"))}); err == nil {
			_, _ = master.Raw(ctx, "FLUSH LOGS")
			master.Close()
		}
		for _, s := range []string{"STOP SLAVE", "RESET MASTER", "RESET SLAVE ALL"} {
			if _, err := conn.Raw(ctx, s); err != nil {
				return nil, err
			}
		}
		if m, err = conn.slave(ctx); err != nil {
			return nil, err
		}
		if m == nil {
			return "promoted", nil
		}
		return "failed", nil
	})
}

func processlist(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		return dicts(conn.Query(ctx, "SHOW FULL PROCESSLIST"))
	})
}

func masterStatus(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return row(ctx, c, a, "SHOW MASTER STATUS")
}

func slaveStatus(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return row(ctx, c, a, "SHOW SLAVE STATUS")
}

// row returns the first row of an answer; an empty list where there is none.
func row(ctx context.Context, c *fun.Call, a *dbListArgs, text string) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		r, err := conn.Query(ctx, text)
		if err != nil {
			return nil, err
		}
		if len(r.Rows) == 0 {
			return value.NewList(), nil
		}
		return r.dict(r.Rows[0]), nil
	})
}

func showVariables(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return table(ctx, c, a, "SHOW VARIABLES")
}

func showGlobal(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return table(ctx, c, a, "SHOW GLOBAL VARIABLES")
}

func table(ctx context.Context, c *fun.Call, a *dbListArgs, text string) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		return dicts(conn.Query(ctx, text))
	})
}

func pluginsList(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		r, err := conn.Query(ctx, "SHOW PLUGINS")
		if err != nil {
			return nil, err
		}
		l := value.NewList()
		for _, row := range r.Rows {
			l.Append(value.MapOf("name", row[0], "status", row[1]))
		}
		return l, nil
	})
}

// pluginStatus returns the status of a plugin, "" where there is none.
func (c *Conn) pluginStatus(ctx context.Context, name string) (string, error) {
	r, err := c.Query(ctx, "SELECT PLUGIN_STATUS FROM INFORMATION_SCHEMA.PLUGINS WHERE PLUGIN_NAME = ?", name)
	if err != nil || len(r.Rows) == 0 {
		return "", err
	}
	return value.Str(r.Rows[0][0]), nil
}

// pluginStatusArgs are the arguments of pluginStatus and pluginRemove.
type pluginStatusArgs struct {
	pluginArg
	ConnArgs
	_ fun.Kwargs
}

func pluginStatus(ctx context.Context, c *fun.Call, a *pluginStatusArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, "", func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.pluginStatus(ctx, a.Name)
	})
}

type pluginAddArgs struct {
	pluginArg
	Soname string `arg:"soname" doc:"its library; default: the name and .so"`
	ConnArgs
	_ fun.Kwargs
}

func pluginAdd(ctx context.Context, c *fun.Call, a *pluginAddArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		name, soname := a.Name, a.Soname
		have, err := conn.pluginStatus(ctx, name)
		if err != nil || have != "" {
			return true, err
		}
		if soname == "" {
			soname = name + ".so"
		}
		_, err = conn.Raw(ctx, "INSTALL PLUGIN "+Identifier(name)+" SONAME "+conn.Literal(soname))
		return true, err
	})
}

func pluginRemove(ctx context.Context, c *fun.Call, a *pluginStatusArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		have, err := conn.pluginStatus(ctx, a.Name)
		if err != nil || have == "" {
			return true, err
		}
		_, err = conn.Raw(ctx, "UNINSTALL PLUGIN "+Identifier(a.Name))
		return true, err
	})
}
