package delivery

import (
	"context"
	"strings"
	"time"

	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook/guard"
	"cointill/models"
)

// The bounds of one check for late deliveries.
const (
	mostLines = 10_000 // endpoints that something waits for
	mostSoon  = 1000   // deliveries of an endpoint whose time comes within a lease, among which those on their way are
)

// frontQuery returns the query that reads the first waiting delivery of each endpoint, and how many of
// its deliveries are claimed, up to its share: these are due when their lease ends. Like a
// claim it steps from endpoint to endpoint through the index, past the rows behind each first.
func frontQuery(postgres bool) string {
	first := `SELECT id, due_at, domain FROM deliveries WHERE endpoint_id = lines.endpoint AND done_at IS NULL ORDER BY due_at LIMIT 1`
	from := `lines CROSS JOIN LATERAL (` + first + `) AS head`
	if !postgres {
		from = `lines JOIN deliveries AS head ON head.id = (` + strings.Replace(first, "id, due_at, domain", "id", 1) +
			`)`
	}
	return `
		WITH RECURSIVE lines(endpoint, n) AS (
			SELECT min(endpoint_id), 1 FROM deliveries WHERE done_at IS NULL
			UNION ALL
			SELECT (SELECT min(endpoint_id) FROM deliveries WHERE done_at IS NULL AND endpoint_id > lines.endpoint), n + 1
			FROM lines WHERE lines.endpoint IS NOT NULL AND n < @lines
		)
		SELECT head.domain, head.due_at, COALESCE((SELECT host FROM endpoints WHERE endpoints.id = lines.endpoint), '') AS host,
			(SELECT count(*) FROM (
				SELECT soon.id FROM (
					SELECT id, claimed_at FROM deliveries
					WHERE endpoint_id = lines.endpoint AND done_at IS NULL AND due_at > @now AND due_at <= @leased ORDER BY due_at DESC LIMIT @soon
				) AS soon WHERE soon.claimed_at IS NOT NULL LIMIT @share
			) AS sent) AS sent
		FROM ` + from
}

// Late tells for how long the first delivery of each domain that waits for a worker has been
// due; 0 where none does. Rows behind others of their endpoint are left out: others are on
// their way to its endpoint, or to its host as many as the worker may have there to slow
// endpoints, so that only their answers hold it up.
func Late(ctx context.Context, db *models.DB, now time.Time) (map[scope.Domain]time.Duration, error) {
	var rows []struct {
		Domain scope.Domain
		DueAt  time.Time
		Host   string
		Sent   int
	}
	err := db.Read(ctx).Raw(frontQuery(db.Postgres()), map[string]any{"now": now, "leased": now.Add(leaseFor),
		"lines": mostLines, "soon": mostSoon, "share": share}).Find(&rows).Error
	if err != nil {
		return nil, err
	}
	sent := map[string]int{}
	for _, r := range rows {
		sent[r.Host] += r.Sent
	}
	late := map[scope.Domain]time.Duration{}
	for _, r := range rows {
		waitsForAnswers := r.Sent > 0 || r.Host != "" && sent[r.Host] >= outbox.QuarterOf(guard.PerHost)
		if !waitsForAnswers {
			late[r.Domain] = max(late[r.Domain], now.Sub(r.DueAt))
		}
	}
	return late, nil
}
