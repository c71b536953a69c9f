package models

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
)

// noCluster stands for a cluster's number that may not be asked for.
const noCluster = "-"

// samePlace compares what whereabouts told: the cluster's number only where both times it was known.
func samePlace(one, other string) bool {
	cluster, within, _ := strings.Cut(one, "/")
	clusterOther, withinOther, _ := strings.Cut(other, "/")
	return within == withinOther && (cluster == clusterOther || cluster == noCluster || clusterOther == noCluster)
}

// whereabouts tells a PostgreSQL's database from what pg_restore makes of it: by its
// cluster, where that may be asked, and by the numbers of the database and of a table,
// which pg_restore makes anew. Decision 27 says what this can't tell.
func whereabouts(ask func(query string, into any) error) (here string, err error) {
	var may bool
	// Not all that speak PostgreSQL have the function.
	if err := ask("SELECT COALESCE(has_function_privilege(to_regprocedure('pg_control_system()'), 'execute'), false)", &may); err != nil {
		return "", err
	}
	cluster := "'" + noCluster + "'"
	if may {
		cluster = "(SELECT system_identifier FROM pg_control_system())"
	}
	err = ask("SELECT concat_ws('/', "+cluster+", (SELECT oid FROM pg_database WHERE datname = current_database()), 'instances'::regclass::oid)", &here)
	return here, err
}

// through puts questions by a handle.
func through(tx *Tx) func(query string, into any) error {
	return func(query string, into any) error { return tx.Raw(query).Scan(into).Error }
}

// errMoved is of a connection to another database than those before it: a dump that was put
// in the place of the one that is served, say.
var errMoved = errors.New("it isn't the one that this process was started with")

// stays refuses a connection that leads to another database than is served.
func (h *health) stays(ctx context.Context, c *pgx.Conn) error {
	home := h.home.Load()
	if home == nil {
		return nil
	}
	here, err := whereabouts(func(query string, into any) error {
		return c.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(into)
	})
	if err == nil && !samePlace(*home, here) {
		err = errMoved
	}
	return err
}
