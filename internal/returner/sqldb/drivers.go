package sqldb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"

	"brine/internal/jobs"
	"brine/internal/returner"
)

const dialTimeout = 5 * time.Second

func newMySQL(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = s.Str("user"), s.Str("pass"), s.Str("db")
	c.Net, c.Addr = "tcp", net.JoinHostPort(s.Str("host"), strconv.Itoa(s.Int("port")))
	c.Timeout, c.ReadTimeout, c.WriteTimeout = dialTimeout, 4*dialTimeout, 4*dialTimeout
	c.InterpolateParams = true // one round trip a statement
	c.Logger = silent{}
	var err error
	if c.TLS, err = clientTLS(s.Str("ssl_ca"), s.Str("ssl_cert"), s.Str("ssl_key"), s.Str("host")); err != nil {
		return nil, err
	}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return open(ctx, mysqlDialect, sql.OpenDB(conn))
}

// silent keeps the driver from writing to stderr: its errors are returned, too.
type silent struct{}

func (silent) Print(...any) {}

// clientTLS makes the TLS of a client of files; nil where none is named.
func clientTLS(ca, cert, key, server string) (*tls.Config, error) {
	if ca == "" && cert == "" {
		return nil, nil
	}
	c := &tls.Config{ServerName: server, MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func newPostgres(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	pass := s.Str("passwd")
	if pass == "" {
		pass = s.Str("pass")
	}
	c := pq.Config{
		Host: s.Str("host"), Port: uint16(s.Int("port")), User: s.Str("user"), Password: pass, Database: s.Str("db"),
		SSLMode: pq.SSLMode(s.Str("sslmode")), SSLCert: s.Str("sslcert"), SSLKey: s.Str("sslkey"), SSLRootCert: s.Str("sslrootcert"),
		ConnectTimeout: dialTimeout, ApplicationName: "brine",
	}
	conn, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, err
	}
	return open(ctx, pgDialect, sql.OpenDB(conn))
}

// unfit reports whether it is the values of a row that a server does not take:
// too long, no text of its character set, no JSON that it knows.
func unfit(err error) bool {
	var m *mysql.MySQLError
	if errors.As(err, &m) {
		switch m.Number {
		case 1153, 1264, 1366, 1406, 3140, 4025:
			return true
		}
	}
	var p *pq.Error
	if errors.As(err, &p) {
		class := p.Code.Class()
		return class == "22" || class == "54"
	}
	return false
}
