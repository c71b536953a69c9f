package payment_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/journal/journaltest"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/observe"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send/sendtest"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// bench is a service on a fake clock, with one business and a scripted
// Bitcoin network whose blocks the test makes itself.
type bench struct {
	t        testing.TB
	db       *models.DB
	clock    *clock.Fake
	service  *payment.Service
	resolver *payment.Resolver
	observer *observe.Observer
	scope    scope.Scope
	network  chain.Network
	blocks   []chain.BlockID
	others   map[chain.Network][]chain.BlockID // blocks of networks that were left by on
	branch   int
	final    int64 // the network's own finality
	unbooked bool  // the test wrote rows itself, or closed the database
}

const network = chain.Network("sandbox-bitcoin")

// lists are the lists of the bench's payments.
func (b *bench) lists() *list.Service { return &list.Service{DB: b.db} }

// each runs a test on both databases, beside other tests.
func each(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	t.Parallel()
	eachAlone(t, test)
}

// eachAlone runs a test on both databases while no other test runs: the test replaces the log of the process.
func eachAlone(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, newBench(t, db)) })
}

func newBench(t testing.TB, db *models.DB) *bench {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	accounts := accounttest.New(db, now.Now, box)
	business, _, err := accounts.CreateBusiness(t.Context(), account.NewBusiness{
		BusinessName: "Ama's Shop", Name: "Ama Mensah", Email: "ama@shop.example", Password: "a long enough passphrase",
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}}}
	for _, c := range money.Chains() {
		registry.Domains[scope.Test][c] = chain.Sandbox(c)
	}
	service := &payment.Service{
		DB: db, Clock: now.Now, Secrets: box, Networks: registry,
		Quotes: &quote.Service{DB: db, Clock: now.Now, Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now.Now}}},
		Wallet: &wallet.Service{Receivers: wallet.SandboxReceivers()},
		Events: &webhook.Service{DB: db, Clock: now.Now, Secrets: box},
		Receipts: &mail.Service{DB: db, Clock: now.Now, Render: func(r mail.Receipt) (string, string, string) {
			return "Receipt " + r.Reference, "in " + r.Language + ", for " + r.CoinAmount, "by " + r.TxHash
		}},
		PageBase: "http://localhost/pay",
	}
	b := &bench{t: t, db: db, clock: now, service: service, network: network, others: map[chain.Network][]chain.BlockID{}, final: -1,
		resolver: payment.NewResolver(service),
		observer: observe.New(service, sendtest.New(service), &chain.WatchSet{}),
		scope:    scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "key:1", Role: scope.API}}
	b.mine()
	t.Cleanup(func() {
		if !b.unbooked {
			journaltest.Check(t, db)
		}
	})
	return b
}

func request() payment.Request {
	return payment.Request{Currency: "NGN", Amount: 50_000, FirstName: "Ngozi", LastName: "Okafor", Email: "ngozi@example.com", Method: "crypto_bitcoin"}
}

func (b *bench) initiate() payment.Started {
	b.t.Helper()
	started, err := b.service.Initiate(b.t.Context(), b.scope, request())
	if err != nil {
		b.t.Fatal(err)
	}
	return started
}

// opened is a payment whose customer has opened the page.
func (b *bench) opened() payment.View {
	b.t.Helper()
	v, err := b.service.Open(b.t.Context(), b.initiate().AccessToken, "sw", "")
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// on goes to a coin's network, on which blocks are made from then on, and opens a
// payment in the coin.
func (b *bench) on(coin money.Coin) payment.View {
	b.t.Helper()
	info := coin.Info()
	if at := chain.Sandbox(info.Chain); at != b.network {
		b.others[b.network] = b.blocks
		if b.network, b.blocks = at, b.others[at]; b.blocks == nil {
			b.mine()
		}
	}
	r := request()
	r.Method = string(info.Method)
	started, err := b.service.Initiate(b.t.Context(), b.scope, r)
	if err != nil {
		b.t.Fatal(err)
	}
	v, err := b.service.Open(b.t.Context(), started.AccessToken, "sw", "")
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *bench) view(reference string) payment.View {
	b.t.Helper()
	v, err := b.service.Verify(b.t.Context(), b.scope, reference)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *bench) pay(v payment.View, txid string, amount money.Amount) chain.Transfer {
	to := chain.Destination{Address: v.Payment.Address}
	if v.Payment.Tag != nil {
		tag := uint32(*v.Payment.Tag)
		to.Tag = &tag
	}
	return chain.Transfer{TxID: txid, Asset: v.Payment.Coin, Destination: to, Amount: amount, Spends: []string{"coin-of-" + txid}}
}

// apply hands a batch to the observer as a follower would.
func (b *bench) apply(batch chain.Batch) {
	b.t.Helper()
	batch.Network = b.network
	if n := len(b.blocks); n > 0 {
		batch.From = b.blocks[n-1]
	}
	if batch.Ancestor != nil {
		b.blocks = b.blocks[:batch.Ancestor.Height]
	}
	for _, block := range batch.Blocks {
		b.blocks = append(b.blocks, block.BlockID)
	}
	if batch.Pending != nil {
		batch.Read = b.clock.Now()
	}
	batch.Tip = chain.Tip{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1]}, Finalized: b.final}
	if err := b.observer.Apply(b.t.Context(), batch); err != nil {
		b.t.Fatal(err)
	}
}

// block makes the block after a height on the current branch.
func (b *bench) block(after int64, transfers ...chain.Transfer) chain.Block {
	parent := ""
	if after > 0 && int(after) <= len(b.blocks) {
		parent = b.blocks[after-1].Hash
	}
	height := after + 1
	return chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height, Hash: fmt.Sprintf("block-%d-%d", b.branch, height)}, Parent: parent, Time: b.clock.Now()}, Transfers: transfers}
}

// tick lets the time that has passed take effect: the follower looks at its network
// and finds nothing new, and due payments are swept.
func (b *bench) tick() {
	b.t.Helper()
	b.look()
	b.sweep()
}

func (b *bench) look() {
	b.t.Helper()
	if err := b.observer.Looked(b.t.Context(), b.looks()); err != nil {
		b.t.Fatal(err)
	}
}

// looks is what a look at the network tells now that finds nothing new.
func (b *bench) looks() chain.Batch {
	return chain.Batch{Network: network, From: b.blocks[len(b.blocks)-1], Pending: &chain.Pending{}, Read: b.clock.Now()}
}

func (b *bench) sweep() {
	b.t.Helper()
	if _, err := b.service.Sweep(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// mine applies one block with these transfers, and an empty mempool.
func (b *bench) mine(transfers ...chain.Transfer) {
	b.t.Helper()
	b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), transfers...)}, Pending: &chain.Pending{}})
}

// pool applies a picture of the mempool.
func (b *bench) pool(spends []chain.Spend, transfers ...chain.Transfer) {
	b.t.Helper()
	b.apply(chain.Batch{Pending: &chain.Pending{Transfers: transfers, Spends: spends}})
}

// reorgTo replaces the last n blocks by n+1 others, the first of which holds the transfers.
func (b *bench) reorgTo(n int, transfers ...chain.Transfer) {
	b.t.Helper()
	b.replace(min(n, len(b.blocks)-1), transfers, &chain.Pending{})
}

// reorg replaces the last n blocks by n+1 empty ones, with a picture of the mempool after.
func (b *bench) reorg(n int, pending *chain.Pending) {
	b.t.Helper()
	b.replace(n, nil, pending)
}

func (b *bench) replace(n int, transfers []chain.Transfer, pending *chain.Pending) {
	b.t.Helper()
	b.branch++
	at := len(b.blocks) - n
	ancestor := b.blocks[at-1]
	var fresh []chain.Block
	parent := ancestor
	for range n + 1 {
		block := b.block(parent.Height)
		block.Parent = parent.Hash
		block.Transfers, transfers = transfers, nil
		fresh, parent = append(fresh, block), block.BlockID
	}
	b.apply(chain.Batch{Ancestor: &ancestor, Blocks: fresh, Pending: pending})
}

func (b *bench) expect(reference string, state payment.State, reason payment.Reason) payment.View {
	b.t.Helper()
	v := b.view(reference)
	if v.State() != state || v.Payment.Reason != string(reason) {
		b.t.Fatalf("got %s %q, want %s %q", v.Payment.Status, v.Payment.Reason, state, reason)
	}
	return v
}

// events are the types of a payment's events in order; the sequence must be gap-free.
func (b *bench) events(id int64) string {
	b.t.Helper()
	var rows []models.Event
	if err := b.db.Read(b.t.Context()).Where("payment_id = ?", id).Order("sequence").Find(&rows).Error; err != nil {
		b.t.Fatal(err)
	}
	var types []string
	for i, row := range rows {
		if row.Sequence != i+1 {
			b.t.Fatalf("sequence %d at place %d", row.Sequence, i+1)
		}
		types = append(types, strings.TrimPrefix(row.Type, "payment."))
	}
	return strings.Join(types, " ")
}

// receipts counts a payment's receipts, in the language that the page was read in and
// for what was paid, which may be less or more than was due.
func (b *bench) receipts(reference string) int64 {
	b.t.Helper()
	var n int64
	v := b.view(reference)
	text := "in " + v.Payment.Language + ", for " + v.Coin().Format(v.Payment.Paid)
	if err := b.db.Read(b.t.Context()).Model(&models.Mail{}).Where("about = ? AND text = ?", reference, text).Count(&n).Error; err != nil {
		b.t.Fatal(err)
	}
	return n
}

func TestExactPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		ref := v.Payment.Reference
		if v.Payment.Address == "" || v.State() != payment.Initiated {
			t.Fatalf("opened: %+v", v.Payment)
		}
		tx := b.pay(v, "aa", v.Payment.Due)
		b.pool(nil, tx)
		if got := b.expect(ref, payment.Initiated, "").Record(); got.Transaction.AmountPaid != "50000.00" || got.Transaction.CryptoConfirmations != 0 || got.Transaction.CryptoTransactionHash != "aa" {
			t.Errorf("seen: %+v", got.Transaction)
		}
		b.mine(tx)
		if got := b.expect(ref, payment.Processing, "").Record(); got.Transaction.CryptoConfirmations != 1 {
			t.Errorf("confirmations %d", got.Transaction.CryptoConfirmations)
		}
		b.mine()
		b.expect(ref, payment.Successful, "")
		if got := b.events(v.Payment.ID); got != "initiated detected processing successful" {
			t.Errorf("events: %s", got)
		}
		if n := b.receipts(ref); n != 1 {
			t.Errorf("%d receipts", n)
		}
		b.mine(b.pay(v, "bb", money.Units(5)))
		if got := b.events(v.Payment.ID); got != "initiated detected processing successful unexpected_transfer" {
			t.Errorf("events: %s", got)
		}
		if got := b.view(ref); got.Payment.Paid.Cmp(got.Payment.Due) != 0 {
			t.Error("money after the end changed what was paid")
		}
	})
}

// TestWrongAmounts (AP-24): too little and too much are declined, each with its reason.
func TestWrongAmounts(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		over, under := b.opened(), b.opened()
		b.mine(b.pay(over, "over", over.Payment.Due.Add(money.Units(1))), b.pay(under, "under", under.Payment.Due.Sub(money.Units(1))))
		b.mine()
		got := b.expect(over.Payment.Reference, payment.Declined, payment.Overpaid)
		if !strings.Contains(got.Payment.Remark, "Overpaid by 0.00000001 BTC") {
			t.Errorf("remark %q", got.Payment.Remark)
		}
		b.expect(under.Payment.Reference, payment.Processing, "") // the rest may still come
		b.clock.Advance(payment.Window + time.Second)
		b.tick()
		b.expect(under.Payment.Reference, payment.Declined, payment.Underpaid)
		owner := b.scope
		owner.Role, owner.Actor = scope.Owner, "user:1"
		if err := b.resolver.Resolve(t.Context(), owner, under.Payment.Reference); err != nil {
			t.Fatal(err)
		}
		b.expect(under.Payment.Reference, payment.Successful, payment.AcceptedByUser)
		if n := b.receipts(under.Payment.Reference); n != 1 {
			t.Errorf("%d receipts", n)
		}
	})
}

// TestDeadlines (T-3): what nobody opened expires, what nobody paid is abandoned, and
// money after that is shown and declined.
func TestDeadlines(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		never, opened := b.initiate(), b.opened()
		b.clock.Advance(payment.Window + time.Microsecond)
		b.tick()
		b.expect(never.Reference, payment.Expired, "")
		late, err := b.service.Open(t.Context(), never.AccessToken, "en", "")
		if err != nil || late.Payment.Address != "" {
			t.Errorf("opened after the window: %q, %v", late.Payment.Address, err)
		}
		b.clock.Advance(payment.Monitoring)
		b.tick()
		b.expect(opened.Payment.Reference, payment.Abandoned, "")
		b.mine(b.pay(opened, "late", opened.Payment.Due))
		b.expect(opened.Payment.Reference, payment.Processing, payment.AfterAbandoned)
		b.mine()
		b.expect(opened.Payment.Reference, payment.Declined, payment.AfterAbandoned)
		if got := b.events(opened.Payment.ID); got != "initiated abandoned detected processing declined" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestLinkUseComesBack: a payment that ends without money gives its link's use back.
func TestLinkUseComesBack(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		link := models.Link{BusinessID: b.scope.BusinessID, Domain: "test", Code: "abc", Title: "Once", Currency: "NGN", Used: 1, Active: true, CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
		if err := b.db.Exec(t.Context()).Create(&link).Error; err != nil {
			t.Fatal(err)
		}
		r := request()
		r.LinkID = &link.ID
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		if err != nil {
			t.Fatal(err)
		}
		used := func() int64 {
			var l models.Link
			if err := b.db.Read(t.Context()).Where("id = ?", link.ID).Take(&l).Error; err != nil {
				t.Fatal(err)
			}
			return l.Used
		}
		v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
		if err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(payment.Monitoring + time.Second)
		b.tick()
		b.expect(started.Reference, payment.Abandoned, "")
		if n := used(); n != 0 {
			t.Errorf("%d uses after it was abandoned", n)
		}
		b.mine(b.pay(v, "late", v.Payment.Due))
		if n := used(); n != 1 {
			t.Errorf("%d uses after money came all the same", n)
		}
	})
}

func TestOneDestinationForEver(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		started := b.initiate()
		addresses := make([]string, 20)
		var group sync.WaitGroup
		for i := range addresses {
			group.Go(func() {
				if v, err := b.service.Open(t.Context(), started.AccessToken, "en", ""); err == nil {
					addresses[i] = v.Payment.Address
				} else {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, a := range addresses {
			if a != addresses[0] || a == "" {
				t.Fatalf("addresses %q", addresses)
			}
		}
		if got := b.events(b.view(started.Reference).Payment.ID); got != "initiated" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestBusinessReferenceOnce (AP-17): of two hundred at once one is stored, and the
// others are told of the conflict.
func TestBusinessReferenceOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const twins = 200
		var group sync.WaitGroup
		errs := make([]error, twins)
		r := request()
		r.BusinessReference = "order-77"
		for i := range twins {
			group.Go(func() { _, errs[i] = b.service.Initiate(t.Context(), b.scope, r) })
		}
		group.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case fault.KindOf(err) != fault.Conflict:
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d were stored", won, twins)
		}
		if got := b.view("order-77"); got.Payment.BusinessReference != "order-77" {
			t.Errorf("found %+v", got.Payment)
		}
	})
}

func TestRefusedRequestsStoreNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		r := payment.Request{Currency: "GHS", Amount: 1_000_001, FirstName: "<b>", Email: "a@b", Method: "crypto_doge", BusinessReference: "PAY_1", Metadata: []byte("7")}
		_, err := b.service.Initiate(t.Context(), b.scope, r)
		var f *fault.Fault
		if !asFault(err, &f) || f.Kind != fault.Invalid {
			t.Fatal(err)
		}
		for _, field := range []string{"currency", "amount", "first_name", "last_name", "email", "payment_method", "business_reference", "metadata"} {
			if len(f.Fields[field]) != 1 {
				t.Errorf("%s: %q", field, f.Fields[field])
			}
		}
		for _, table := range []any{&models.Payment{}, &models.Customer{}, &models.Step{}, &models.Idempotency{}} {
			var n int64
			if err := b.db.Read(t.Context()).Model(table).Count(&n).Error; err != nil || n != 0 {
				t.Errorf("%T: %d rows, %v", table, n, err)
			}
		}
	})
}

func asFault(err error, f **fault.Fault) bool { return errors.As(err, f) }

// TestReread: money that was missed when its block was read is found by reading
// the block again, once, and decides the payment as if it had been seen in time.
func TestReread(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "ee", v.Payment.Due)
		b.mine() // holds the transfer, but it was not looked for
		missed := chain.Block{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1], Time: b.clock.Now()}, Transfers: []chain.Transfer{tx}}
		b.mine()
		for i, want := range []int{1, 0} {
			fresh, err := b.observer.Reread(t.Context(), network, missed)
			if err != nil || fresh != want {
				t.Errorf("reading %d: %d fresh, %v", i, fresh, err)
			}
		}
		b.expect(v.Payment.Reference, payment.Successful, "")
		orphan := missed
		orphan.Hash, orphan.Transfers = "of another branch", []chain.Transfer{b.pay(v, "dd", v.Payment.Due)}
		if fresh, err := b.observer.Reread(t.Context(), network, orphan); !errors.Is(err, chain.ErrStale) || fresh != 0 {
			t.Errorf("a block that was never applied: %d, %v", fresh, err)
		}
		ahead := missed
		ahead.Height += 10
		ahead.Transfers = []chain.Transfer{b.pay(v, "ff", v.Payment.Due)}
		if fresh, err := b.observer.Reread(t.Context(), network, ahead); err != nil || fresh != 0 {
			t.Errorf("a block above the cursor: %d, %v", fresh, err)
		}
		if got := b.events(v.Payment.ID); got != "initiated detected processing successful" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestCatchingUp: a network whose following lacks a day of blocks takes no new payments until it has them.
func TestCatchingUp(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		registry := b.service.Networks.(*networks.Registry)
		for ahead, behind := range map[int64]bool{0: false, 144: false, 145: true} {
			height := b.blocks[len(b.blocks)-1].Height
			if err := b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("source_tip", height+ahead).Error; err != nil {
				t.Fatal(err)
			}
			if err := registry.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := b.service.Initiate(t.Context(), b.scope, request())
			if (err != nil) != behind || err != nil && !strings.Contains(err.Error(), "catching up") {
				t.Errorf("%d blocks ahead: %v", ahead, err)
			}
		}
	})
}

// TestHealthIsFenced: who has lost the lease says nothing about the network any more.
func TestHealthIsFenced(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		registry := b.service.Networks.(*networks.Registry)
		for _, told := range []struct {
			fence    int64
			sentence string
			want     bool
		}{{7, "The node hangs.", true}, {6, "", true}, {7, "", false}, {6, "The node hangs.", false}} {
			if err := b.observer.Health(t.Context(), network, told.fence, told.sentence); err != nil {
				t.Fatal(err)
			}
			if err := registry.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := registry.Problem(string(network)).String(); (got != "") != told.want {
				t.Errorf("after %d said %q: %q", told.fence, told.sentence, got)
			}
		}
	})
}

// TestHiddenOverTheEnd (T-2): money that was in a block in time counts, although a node
// that lags without knowing it hid it until the payment had been taken for abandoned.
func TestHiddenOverTheEnd(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx, paid := b.pay(v, "ee", v.Payment.Due), b.clock.Now().Add(5*time.Minute)
		b.clock.Advance(payment.Monitoring + time.Minute)
		b.tick()
		b.expect(v.Payment.Reference, payment.Abandoned, "")
		block := b.block(int64(len(b.blocks)), tx)
		block.Time = paid
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		b.expect(v.Payment.Reference, payment.Processing, "")
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
	})
}
