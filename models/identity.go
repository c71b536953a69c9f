package models

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
)

// noCluster stands for a cluster's number that may not be asked for.
const noCluster = "-"

// sameDatabase compares two identities. It compares the cluster's number only when both have
// one.
func sameDatabase(one, other string) bool {
	cluster, within, _ := strings.Cut(one, "/")
	clusterOther, withinOther, _ := strings.Cut(other, "/")
	return within == withinOther && (cluster == clusterOther || cluster == noCluster || clusterOther == noCluster)
}

// databaseIdentity tells a PostgreSQL database from a copy that pg_restore made: by its
// cluster, when that may be read, and by the numbers of the database and of a table, which
// pg_restore makes new. Decision 27 says what this can't detect.
func databaseIdentity(ask func(query string, into any) error) (here string, err error) {
	var may bool
	// Not all that speak PostgreSQL have the function.
	if err := ask("SELECT COALESCE(has_function_privilege(to_regprocedure('pg_control_system()'), 'execute'), false)",
		&may); err != nil {
		return "", err
	}
	cluster := "'" + noCluster + "'"
	if may {
		cluster = "(SELECT system_identifier FROM pg_control_system())"
	}
	err = ask("SELECT concat_ws('/', "+cluster+
		", (SELECT oid FROM pg_database WHERE datname = current_database()), 'instances'::regclass::oid)", &here)
	return here, err
}

// queryWith runs queries on a handle.
func queryWith(tx *Tx) func(query string, into any) error {
	return func(query string, into any) error { return tx.Raw(query).Scan(into).Error }
}

// errMoved is the error of a connection to another database than the earlier ones: a dump was
// restored in the place of the served database, for example.
var errMoved = errors.New("it isn't the one that this process was started with")

// checkDatabase refuses a connection that leads to another database than the served one.
func (h *health) checkDatabase(ctx context.Context, c *pgx.Conn) error {
	home := h.home.Load()
	if home == nil {
		return nil
	}
	here, err := databaseIdentity(func(query string, into any) error {
		return c.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(into)
	})
	if err == nil && !sameDatabase(*home, here) {
		err = errMoved
	}
	return err
}
