package system_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/models"
	"cointill/models/modelstest"
)

func TestLook(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		ctx := t.Context()
		s := &system.Service{DB: db, Clock: now.Now, Version: "1.2.3", Started: now.Now().Add(-time.Hour), MailServer: "mail.example:587",
			Quotes: &quote.Service{DB: db, Clock: now.Now, Asked: source.Standard(), Sources: map[scope.Domain]quote.Source{}}, Lost: func() int64 { return 3 }, Drift: func() time.Duration { return -time.Minute },
			Networks: []system.Network{{Name: "sandbox-bitcoin", Domain: scope.Test}, {Name: "bitcoin-mainnet", Domain: scope.Live,
				Nodes: func(ctx context.Context) []chain.NodeStatus {
					if _, bounded := ctx.Deadline(); !bounded {
						t.Error("nodes may take as long as they want")
					}
					return []chain.NodeStatus{{Host: "node.example:8332", Height: 900_003, InUse: true}}
				}}},
			Checks: map[string]func(context.Context) error{"database": db.Ping, "networks": func(context.Context) error { return errors.New("not followed") }}}
		empty, err := s.Look(ctx)
		if err != nil || empty.Postgres != db.Postgres() || empty.Database.Bytes < 10_000 || empty.Database.Version == "" ||
			empty.Database.Migration != empty.Database.Newest || empty.Database.Newest < 13 || empty.Queues[0].Oldest != nil || empty.Queues[0].Waiting != 0 ||
			empty.Networks[0].Read || len(empty.Prices.Sources) == 0 || empty.Prices.Wanted {
			t.Fatalf("%+v, %v", empty, err)
		}

		at := now.Now()
		for _, row := range []any{
			&models.ChainCursor{Network: "bitcoin-mainnet", Height: 900_000, SourceTip: 900_003, Problem: "All nodes are silent.", UpdatedAt: at},
			&models.Lease{Name: "follow bitcoin-mainnet", Holder: "A", Fence: 1, ExpiresAt: at.Add(time.Second)},
		} {
			if err := db.Exec(ctx).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		var deliveries []models.Delivery
		for i := range system.Most + 5 {
			deliveries = append(deliveries, models.Delivery{EventID: fmt.Sprint("evt_", i), EndpointID: "whk", DueAt: at.Add(time.Duration(i-10) * time.Minute), CreatedAt: at})
		}
		if err := db.Exec(ctx).CreateInBatches(deliveries, 200).Error; err != nil {
			t.Fatal(err)
		}
		done, before := at, at.Add(-time.Minute)
		mails := []models.Mail{{Kind: "a", About: "1", Outcome: "failed", LastError: "Refused.", DoneAt: &before, DueAt: before, CreatedAt: before}, {Kind: "a", About: "2", Outcome: "sent", DoneAt: &done, DueAt: at, CreatedAt: at},
			{Kind: "a", About: "3", DueAt: at.Add(-5 * time.Minute), CreatedAt: at}, {Kind: "a", About: "4", Outcome: "kept", DoneAt: &done, DueAt: at, CreatedAt: at}}
		if err := db.Exec(ctx).Create(&mails).Error; err != nil {
			t.Fatal(err)
		}
		r, err := s.Look(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Networks[1]; !n.Read || n.Applied != 900_000 || n.Tip != 900_003 || n.Problem != "All nodes are silent." || len(n.Nodes) != 1 || n.Simulated || !r.Networks[0].Simulated {
			t.Errorf("%+v", r.Networks)
		}
		if q := r.Queues[0]; q.Waiting != system.Most || q.Due != 11 || q.Oldest == nil || !q.Oldest.Equal(at.Add(-10*time.Minute)) {
			t.Errorf("%+v", q)
		}
		if q := r.Queues[1]; q.Waiting != 1 || q.Due != 1 || !q.Oldest.Equal(at.Add(-5*time.Minute)) {
			t.Errorf("%+v", q)
		}
		if m := r.Mail; m.All != 4 || m.Sent != 1 || m.Failed != 1 || m.Kept != 1 || m.Why != "Refused." || !m.LastSent.Equal(at) || !m.LastFailed.Equal(before) {
			t.Errorf("%+v", m)
		}
		if len(r.Checks) != 2 || r.Checks[0] != (system.Check{Name: "database"}) || r.Checks[1].Failed != "not followed" {
			t.Errorf("%+v", r.Checks)
		}
		if len(r.Leases) != 1 || r.Lost != 3 || r.Drift != -time.Minute || r.At != at {
			t.Errorf("%+v", r)
		}
	})
}
