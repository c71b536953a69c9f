// Package system is the state of this installation, for its operator: its database,
// the networks it follows and their nodes, prices, queues, mail, and leases of work.
// It only reads. Every query reads a bounded number of rows through an index, so
// that it costs the same at any size.
package system

import (
	"cmp"
	"context"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// Most is as far as waiting rows are counted.
	Most = 1000
	// Recent is how many of the last mails are looked at.
	Recent = 100
	// patience is how long all nodes together may take to answer.
	patience = 3 * time.Second
)

// Network is a network that this installation follows.
type Network struct {
	Name   chain.Network
	Domain scope.Domain
	// Nodes looks at its nodes now; nil for a simulated one.
	Nodes func(ctx context.Context) []chain.NodeStatus
	// Calls are how many calls a day a node is to be asked.
	Calls CallBudget
	// Status is how this process follows it; false while it doesn't.
	Status func() (chain.Status, bool)
}

// CallBudget is how many calls a day one node of a network gets of a process that follows it: while nothing is awaited
// there, and while something always is. 0 where that isn't known.
type CallBudget struct{ Idle, Awaited int64 }

// Service looks. Its fields are set once, before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
	// Version is the program's version, Started the time when this process began.
	Version string
	Started time.Time
	// Networks are those that are followed.
	Networks []Network
	Quotes   *quote.Service
	// Checks are what /readyz asks, by name.
	Checks map[string]func(ctx context.Context) error
	// MailServer is where mails go; empty where they are only kept.
	MailServer string
	// Drift is how far this machine's clock is ahead of the database's; nil where
	// they are one.
	Drift func() time.Duration
	// Marks are the folders of address marks.
	Marks func() []addressmark.Status
	// Lost counts requests to /v1 that this process has no place for in their log.
	Lost func() int64
}

// Report is how it all was at a moment.
type Report struct {
	At, Started time.Time
	Version     string
	Postgres    bool
	Database    models.About
	Checks      []Check
	Networks    []NetworkReport
	Prices      Prices
	Queues      []Queue
	Mail        Mail
	Leases      []models.Lease
	Lost        int64
	Drift       time.Duration // of this machine's clock from the database's
	Marks       []addressmark.Status
	Skipped     models.Skipped // addresses that the database didn't know to be given out
}

// Check is a part of /readyz; Failed says why in the words of a log.
type Check struct{ Name, Failed string }

// NetworkReport is how a network is followed.
type NetworkReport struct {
	Name      string
	Domain    scope.Domain
	Simulated bool
	Read      bool // at least once
	// Applied is the last block that was read, Tip the node's tip at the last poll.
	Applied, Tip int64
	Problem      string
	At           time.Time // of the last look
	Nodes        []chain.NodeStatus
	Calls        CallBudget
}

// Prices are the sources of the live domain.
type Prices struct {
	// Wanted reports that a live method is on; no source is requested otherwise.
	Wanted  bool
	Sources []quote.Health
	Alarms  []string
}

// Queue is work that waits.
type Queue struct {
	Name string
	// Waiting counts up to Most; Due is the part of them that is due.
	Waiting, Due int
	// Oldest is what the first of them waits for; nil where nothing waits.
	Oldest *time.Time
}

// Mail is how sending mails goes, by the last of them.
type Mail struct {
	Server                  string
	Sent, Failed, Kept, All int
	LastSent, LastFailed    *time.Time
	Why                     string // the last one failed
}

// Look looks at everything now. The nodes are asked meanwhile, for three seconds at most.
func (s *Service) Look(ctx context.Context) (Report, error) {
	r := Report{At: s.Clock(), Started: s.Started, Version: s.Version, Postgres: s.DB.Postgres()}
	var asking sync.WaitGroup
	var unread error
	asking.Go(func() { r.Networks, unread = s.AskNodes(ctx) })
	err := s.read(ctx, &r)
	asking.Wait()
	return r, cmp.Or(err, unread)
}

// AskNodes looks at the nodes of all networks, and how far these are followed. The nodes have three seconds.
func (s *Service) AskNodes(ctx context.Context) ([]NetworkReport, error) {
	list := s.ask(ctx)
	return list, s.cursors(ctx, list)
}

// read reads the figures of the database.
func (s *Service) read(ctx context.Context, r *Report) (err error) {
	if r.Database, err = s.DB.About(ctx); err != nil {
		return err
	}
	if r.Queues, err = s.queues(ctx, r.At); err != nil {
		return err
	}
	if r.Mail, err = s.mail(ctx); err != nil {
		return err
	}
	db := s.DB.Read(ctx)
	if err := db.Order("name").Limit(Recent).Find(&r.Leases).Error; err != nil {
		return err
	}
	r.Checks = s.checks(ctx)
	if r.Skipped, err = s.DB.Skipped(ctx, r.At); err != nil {
		return err
	}
	if s.Marks != nil {
		r.Marks = s.Marks()
	}
	if s.Lost != nil {
		r.Lost = s.Lost()
	}
	if s.Drift != nil {
		r.Drift = s.Drift()
	}
	r.Prices, err = s.prices(ctx)
	return err
}

func (s *Service) checks(ctx context.Context) (list []Check) {
	for _, name := range []string{"database", "migrations", "networks"} {
		ask, known := s.Checks[name]
		if !known {
			continue
		}
		c := Check{Name: name}
		if err := ask(ctx); err != nil {
			c.Failed = err.Error()
		}
		list = append(list, c)
	}
	return list
}

func (s *Service) prices(ctx context.Context) (p Prices, err error) {
	if s.Quotes == nil {
		return p, nil
	}
	if p.Wanted, err = s.Quotes.Wanted(ctx); err != nil {
		return p, err
	}
	if p.Sources, err = s.Quotes.Healths(ctx); err == nil && p.Wanted {
		p.Alarms = s.Quotes.Alarms(p.Sources)
	}
	return p, err
}

// ask looks at the nodes of all networks at once.
func (s *Service) ask(ctx context.Context) []NetworkReport {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := make([]NetworkReport, len(s.Networks))
	var all sync.WaitGroup
	for i, n := range s.Networks {
		list[i] = NetworkReport{Name: string(n.Name), Domain: n.Domain, Simulated: n.Nodes == nil, Calls: n.Calls}
		if n.Nodes != nil {
			all.Go(func() { list[i].Nodes = n.Nodes(ctx) })
		}
	}
	all.Wait()
	return list
}

// cursors fills in how far each network is followed.
func (s *Service) cursors(ctx context.Context, list []NetworkReport) error {
	var rows []models.ChainCursor // a handful
	if err := s.DB.Read(ctx).Find(&rows).Error; err != nil {
		return err
	}
	for i := range list {
		for _, row := range rows {
			if n := &list[i]; row.Network == n.Name {
				n.Read, n.Applied, n.Tip, n.Problem, n.At = true, row.Height, row.SourceTip, row.Problem, row.UpdatedAt
			}
		}
	}
	return nil
}

// queues counts the waiting rows of each queue, up to a bound and along an index.
func (s *Service) queues(ctx context.Context, now time.Time) (list []Queue, err error) {
	for _, q := range []struct{ name, count, due, oldest string }{
		{"deliveries", `SELECT count(*) FROM (SELECT id FROM deliveries WHERE done_at IS NULL LIMIT ?) AS listed`,
			`SELECT count(*) FROM (SELECT id FROM deliveries WHERE done_at IS NULL AND due_at <= ? LIMIT ?) AS listed`,
			`SELECT due_at FROM deliveries WHERE done_at IS NULL ORDER BY due_at LIMIT 1`},
		{"mails", `SELECT count(*) FROM (SELECT id FROM mails WHERE done_at IS NULL LIMIT ?) AS listed`,
			`SELECT count(*) FROM (SELECT id FROM mails WHERE done_at IS NULL AND due_at <= ? LIMIT ?) AS listed`,
			`SELECT due_at FROM mails WHERE done_at IS NULL ORDER BY due_at LIMIT 1`},
		{"resends", `SELECT count(*) FROM (SELECT id FROM resends WHERE done_at IS NULL LIMIT ?) AS listed`,
			`SELECT count(*) FROM (SELECT id FROM resends WHERE done_at IS NULL AND counted_at <= ? LIMIT ?) AS listed`,
			`SELECT counted_at AS due_at FROM resends WHERE done_at IS NULL ORDER BY counted_at LIMIT 1`},
	} {
		found := Queue{Name: q.name}
		var oldest []struct{ DueAt time.Time }
		db := s.DB.Read(ctx)
		if err = db.Raw(q.count, Most).Scan(&found.Waiting).Error; err == nil {
			err = db.Raw(q.due, now, Most).Scan(&found.Due).Error
		}
		if err == nil {
			err = db.Raw(q.oldest).Scan(&oldest).Error
		}
		if err != nil {
			return nil, err
		}
		if len(oldest) > 0 {
			found.Oldest = &oldest[0].DueAt
		}
		list = append(list, found)
	}
	return list, nil
}

// mail looks at the last mails.
func (s *Service) mail(ctx context.Context) (Mail, error) {
	m := Mail{Server: s.MailServer}
	var rows []models.Mail
	err := s.DB.Read(ctx).Select("id", "outcome", "done_at", "last_error").Order("id DESC").Limit(Recent).
		Find(&rows).Error
	for _, row := range rows {
		m.All++
		switch row.Outcome {
		case "sent":
			if m.Sent++; m.LastSent == nil {
				m.LastSent = row.DoneAt
			}
		case "kept":
			m.Kept++
		case "failed", "unknown":
			if m.Failed++; m.LastFailed == nil {
				m.LastFailed, m.Why = row.DoneAt, contact.MaskEmails(row.LastError) // of a customer of any business
			}
		}
	}
	return m, err
}
