package alarm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/alarm"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/settings"
	"cointill/models"
	"cointill/models/modelstest"
)

type bench struct {
	*alarm.Service
	*testing.T
	clock    *clock.Fake
	problems map[string]string
	accounts *account.Service
	sent     []alarm.Notice
}

func setup(t *testing.T, db *models.DB) *bench {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, clock: now, problems: map[string]string{}, accounts: accounttest.New(db, now.Now, box)}
	b.Service = &alarm.Service{DB: db, Clock: now.Now, Find: func(network string) networks.Trouble {
		if b.problems[network] == "" {
			return networks.Trouble{}
		}
		return networks.Trouble{Code: networks.NodesFail, Sentence: fault.Verbatim(b.problems[network])}
	}, Operators: b.accounts,
		Mails: &mail.Service{DB: db, Clock: now.Now}, Base: "https://till.example",
		Networks: []alarm.Network{{Name: "bitcoin-mainnet", Domain: scope.Live, Chain: money.Bitcoin}, {Name: "ethereum-mainnet", Domain: scope.Live, Chain: money.Ethereum},
			{Name: "dogecoin-testnet", Domain: scope.Test, Chain: money.Dogecoin}}}
	b.Render = func(n alarm.Notice) (subject, text, html string) {
		b.sent = append(b.sent, n)
		return n.Network, n.Problem, ""
	}
	for _, name := range []string{"ama", "bayo", "root"} {
		business, _, err := b.accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: name + "'s shop", Name: name, Email: name + "@shop.example", Password: "a long enough passphrase"})
		if err != nil {
			t.Fatal(err)
		}
		if name == "root" {
			continue
		}
		b.enable(business.ID, map[string][]string{"ama": {"crypto_bitcoin", "crypto_tether"}, "bayo": {"crypto_ethereum", "crypto_tether"}}[name]...)
	}
	return b
}

func (b *bench) enable(business int64, codes ...string) {
	b.Helper()
	err := b.DB.Exec(b.Context()).Model(&models.Method{}).Where("business_id = ? AND domain = 'live' AND code IN ?", business, codes).Update("enabled", true).Error
	if err != nil {
		b.Fatal(err)
	}
}

// after looks once more when a time has passed, and gives who was told what.
func (b *bench) after(wait time.Duration) (told []string) {
	b.Helper()
	b.clock.Advance(wait)
	b.sent = nil
	if err := b.Look(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, n := range b.sent {
		what := " in trouble "
		if n.Over {
			what = " well "
		}
		told = append(told, n.Network+what+n.To.Name)
	}
	return told
}

func (b *bench) expect(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("told %q, want %q", got, want)
	}
}

func TestTroubleIsToldOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		b.expect(b.after(0))
		b.problems["bitcoin-mainnet"] = "All nodes are silent."
		b.expect(b.after(0))
		b.expect(b.after(9 * time.Minute))
		b.problems["bitcoin-mainnet"] = "Two nodes disagree."
		b.expect(b.after(time.Minute), "bitcoin-mainnet in trouble ama")
		n := b.sent[0]
		if n.Problem != "Two nodes disagree." || n.Business != "ama's shop" || n.Since.Format("15:04 MST") != "13:00 WAT" || n.At.Sub(n.Since) != 10*time.Minute || n.URL != "https://till.example/dashboard/methods" {
			t.Errorf("%+v", n)
		}
		var noted models.Notification
		if err := db.Read(t.Context()).Take(&noted).Error; err != nil {
			t.Fatal(err)
		}
		d := notification.Describe(noted)
		if d.Reason != string(networks.NodesFail) || d.Text != n.Problem || n.Code != networks.NodesFail {
			t.Errorf("the notification says %+v, and the mail %s; want what is wrong as a code, and its sentence",
				d.Detail, n.Code)
		}
		b.expect(b.after(time.Minute))
		b.expect(b.after(24 * time.Hour))
		b.problems["bitcoin-mainnet"] = ""
		b.expect(b.after(time.Minute), "bitcoin-mainnet well ama")
		if n := b.sent[0]; n.Code != networks.NodesFail || n.Problem != "Two nodes disagree." {
			t.Errorf("the mail that it is over says %q, %q; want the problem that it was", n.Code, n.Problem)
		}
		b.expect(b.after(time.Hour))
		b.problems["bitcoin-mainnet"] = "All nodes are silent."
		b.expect(b.after(0))
		b.expect(b.after(time.Hour), "bitcoin-mainnet in trouble ama")
		var mails []models.Mail
		if err := db.Read(t.Context()).Order("id").Find(&mails).Error; err != nil || len(mails) != 3 || mails[0].Kind != "chain_unhealthy" || mails[1].Kind != "chain_healthy" || mails[0].To != "ama@shop.example" {
			t.Errorf(`db.Read(t.Context()).Order("id").Find(&mails).Error: mails = %v, err = %v`, mails, err)
		}
	})
}

// TestShortTroubleIsNotTold: what is over before it lasted is told to nobody,
// and the next trouble counts from its own beginning.
func TestShortTroubleIsNotTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		for range 3 {
			b.problems["bitcoin-mainnet"] = "All nodes are silent."
			b.expect(b.after(time.Minute))
			b.expect(b.after(9 * time.Minute))
			b.problems["bitcoin-mainnet"] = ""
			b.expect(b.after(time.Minute))
		}
	})
}

// TestWhoIsTold: owners of businesses with a coin of the network in live who
// didn't switch it off, and operators once; test networks' troubles are theirs alone.
func TestWhoIsTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		b.problems["ethereum-mainnet"], b.problems["dogecoin-testnet"] = "All nodes are silent.", "All nodes are silent."
		b.expect(b.after(0))
		b.expect(b.after(10*time.Minute), "ethereum-mainnet in trouble ama", "ethereum-mainnet in trouble bayo")
		b.problems = map[string]string{}
		b.after(time.Minute)
		b.accounts.Operators = []string{"root@shop.example", "bayo@shop.example", "nobody@shop.example"}
		var ama models.Business
		if err := db.Read(t.Context()).Where("name = ?", "ama's shop").Take(&ama).Error; err != nil {
			t.Fatal(err)
		}
		owner := scope.Scope{BusinessID: ama.ID, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}
		set := &settings.Service{DB: db, Clock: b.clock.Now}
		if err := set.SetMails(t.Context(), owner, settings.Mails{Receipts: true, Muted: []string{settings.ChainUnhealthy}}); err != nil {
			t.Fatal(err)
		}
		b.problems["ethereum-mainnet"], b.problems["dogecoin-testnet"] = "All nodes are silent.", "All nodes are silent."
		b.expect(b.after(0))
		b.expect(b.after(10*time.Minute), "ethereum-mainnet in trouble bayo", "ethereum-mainnet in trouble root", "dogecoin-testnet in trouble bayo", "dogecoin-testnet in trouble root")
		if n := b.sent[1]; n.Business != "" || !strings.HasSuffix(n.URL, "/dashboard/system") {
			t.Errorf("%+v", n)
		}
		b.problems = map[string]string{}
		b.expect(b.after(0), "ethereum-mainnet well bayo", "ethereum-mainnet well root", "dogecoin-testnet well bayo", "dogecoin-testnet well root")
	})
}

// TestTwoProcessesTellOnce: who finds a trouble told already by another tells it no more.
func TestTwoProcessesTellOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		b.problems["bitcoin-mainnet"] = "All nodes are silent."
		b.expect(b.after(0))
		b.clock.Advance(alarm.Lasts)
		failed := make(chan error, 8)
		var twins []*alarm.Service
		for range cap(failed) {
			twin := *b.Service
			twin.Render = func(n alarm.Notice) (subject, text, html string) { return n.Network, n.Problem, "" }
			twins = append(twins, &twin)
		}
		for _, twin := range twins {
			go func() { failed <- twin.Look(t.Context()) }()
		}
		for range twins {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		var mails int64
		if err := db.Read(t.Context()).Model(&models.Mail{}).Count(&mails).Error; err != nil || mails != 1 {
			t.Errorf("db.Read(t.Context()).Model(&models.Mail{}).Count(&mails).Error: mails = %v, err = %v", mails, err)
		}
	})
}
