package sse

import (
	"context"
	"slices"
	"time"
)

const (
	// maxDomains bounds the domains watched at once in one process.
	maxDomains = 1024
	// domainChunk is how many domains are read in one statement.
	domainChunk = 256
	// domainRest is how long domains are left alone after each was read, which takes a tenth of a millisecond.
	domainRest = 500 * time.Microsecond
)

// activity names the newest rows of a domain of a business: it changes when something happens there.
type activity struct{ payment, event, unmatched, sendSteps int64 }

// pollDomains reads the newest rows of watched domains and notifies the pages of those in which something
// happened. It does nothing while the domains are left alone.
func (h *Hub) pollDomains(ctx context.Context, topics []Topic) error {
	select {
	case <-h.rested.C:
		defer h.rested.Reset(time.Duration(len(topics)) * domainRest)
	default:
		return nil
	}
	for chunk := range slices.Chunk(topics, domainChunk) {
		versions, err := h.readActivities(ctx, chunk)
		if err != nil {
			return err
		}
		h.notifyPages(chunk, versions)
	}
	return nil
}

// domainKey names a domain of a business.
type domainKey struct {
	business int64
	domain   string
}

// readActivities reads the newest rows of domains in one statement, each from the end of an index.
func (h *Hub) readActivities(ctx context.Context, topics []Topic) ([]version, error) {
	businesses, withSends := make([]int64, len(topics)), []int64{0} // the zero keeps it from being empty
	for i, topic := range topics {
		if businesses[i] = topic.Business; topic.Sends {
			withSends = append(withSends, topic.Business)
		}
	}
	rows, err := h.db.Read(ctx).Raw(newestRows, withSends, businesses).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[domainKey]activity{}
	for rows.Next() {
		var key domainKey
		var now activity
		if err := rows.Scan(&key.business, &key.domain, &now.payment, &now.event, &now.unmatched,
			&now.sendSteps); err != nil {
			return nil, err
		}
		found[key] = now
	}
	versions := make([]version, len(topics))
	for i, topic := range topics {
		versions[i].activity = found[domainKey{topic.Business, topic.Domain}]
		if !topic.Sends { // another page of the business asked for them
			versions[i].sendSteps = 0
		}
	}
	return versions, rows.Err()
}

// newestRows selects the activity of both domains of businesses; the first list names those whose newest hundred
// sends are asked for too.
const newestRows = `
SELECT b.id, d.domain,
	COALESCE((SELECT id FROM payments p WHERE p.business_id = b.id AND p.domain = d.domain
		ORDER BY created_at DESC, id DESC LIMIT 1), 0),
	COALESCE((SELECT MAX(number) FROM events e WHERE e.business_id = b.id AND e.domain = d.domain), 0),
	COALESCE((SELECT MAX(id) FROM transfers t WHERE t.business_id = b.id AND t.domain = d.domain
		AND unmatched <> '' AND resolution = ''), 0),
	CASE WHEN b.id IN ? THEN COALESCE((SELECT SUM(steps) FROM (SELECT steps FROM sends s
		WHERE s.business_id = b.id AND s.domain = d.domain ORDER BY id DESC LIMIT 100) newest), 0) ELSE 0 END
FROM businesses b CROSS JOIN (SELECT 'test' AS domain UNION ALL SELECT 'live') d WHERE b.id IN ?`
