package simulation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var plant = flag.Bool("sim.plant", false, "plant each bug of the list, and see it found")

// mutation is a bug to plant: a piece of the product's code, and what stands in its place.
type mutation struct{ name, file, old, new string }

// mutations are one for each kind of bug that the simulation is there to find.
var mutations = []mutation{
	{"one unit too little is right", "core/payment/decide.go", "10_000)).Sub(worthless)", "10_000)).Sub(worthless).Sub(money.Units(1))"},
	{"one unit too much is right", "core/payment/decide.go", "10_000)).Add(worthless)", "10_000)).Add(worthless).Add(money.Units(1))"},
	{"final one confirmation early", "core/payment/decide.go", "at := height + max(int64(on.Depth), least) - 1",
		"at := height + max(int64(on.Depth), least) - 2"},
	{"the policy for late money is ignored", "core/payment/decide.go", "		if c.DeclineLate {\n			out.State", "		if false && c.DeclineLate {\n			out.State"},
	{"all that is final must be the right amount", "core/payment/decide.go", "	chosen := c.chooseTransfers(c.listInTime(t.finals))\n", "	chosen := t.finals\n	if _, most := c.bounds(); t.final.Cmp(least) < 0 || t.final.Cmp(most) > 0 {\n		chosen = nil\n	}\n"},
	{"what is not final is waited for", "core/payment/decide.go", "if len(t.finals) == 0 {", "if len(t.finals) == 0 || len(t.open) > 0 {"},
	{"surplus is not listed", "core/payment/apply.go", "if err := s.writeSurplus(tx, v, surplus); err != nil {", "if err := s.writeSurplus(tx, v, surplus[:0]); err != nil {"},
	{"a reverted transaction pays", "core/payment/decide.go", "return s.Reverted && s.Height > 0 }", "return s.Reverted && s.Height < 0 }"},
	{"another asset pays", "core/payment/observe/transfer.go",
		"	if reason == \"\" && row.Asset == v.Payment.Coin && entered {\n		if counts, err = a.countsOnNetwork(v); err != nil {\n			return nil, err\n		}\n	}\n	switch {\n	case reason != \"\":\n		row.Unmatched = reason\n	case row.Asset != v.Payment.Coin:",
		"	if reason == \"\" && entered {\n		if counts, err = a.countsOnNetwork(v); err != nil {\n			return nil, err\n		}\n	}\n	switch {\n	case reason != \"\":\n		row.Unmatched = reason\n	case row.Asset == \"\":"},
	{"an undone block's transfers stay confirmed", "core/payment/observe/observe.go", `loose := map[string]any{"height": nil, "block_hash": "",`, `loose := map[string]any{`},
	{"an old leader writes", "core/payment/fence/fence.go", "gorm.ErrRecordNotFound), fence < cursor.Fence:", "gorm.ErrRecordNotFound):"},
	{"a crash after Apply forgets its payments", "core/payment/observe/observe.go", "	return a.markPaymentsDue()\n}\n\n// markPaymentsDue", "	return nil\n}\n\n// markPaymentsDue"},
	{"what left the mempool still waits", "core/payment/observe/mempool.go", "		if !inPool[", "		if false && !inPool["},
	{"deadlines pass before the network was read", "core/payment/read.go", "	if s.Networks.Followed(network) {\n		return time.Time{}\n	}\n	return s.Clock().Add(-unfollowedGrace)", "	return s.Clock()"},
	{"an event goes to the first webhook only", "core/webhook/event.go", "ListTakers(targets, e.Type))", "ListTakers(targets[:min(1, len(targets))], e.Type))"},
	{"a failed delivery is never tried again", "core/webhook/delivery/settle.go", "wait, left := retrySchedule.Next(row.Tries)", "wait, left := retrySchedule.Next(row.Tries + 9)"},
	{"a receipt for every end", "core/payment/apply.go", "if State(p.Status) == Successful && from != Successful &&", "if State(p.Status).Final() && from != Successful &&"},
	{"the 24 hours are 25", "core/payment/initiate.go", "AbandonsAt: now.Add(Monitoring)", "AbandonsAt: now.Add(Monitoring + 3600e9)"},
	{"a key's answer is not kept", "core/idempotency/idempotency.go", "		return claim.finish(tx, answer)", "		return nil"},
	{"a tag is not looked at", "core/payment/observe/transfer.go", "	place := places[0]", "	place := places[len(places)-1]"},
	{"what came after the end is not listed", "core/payment/observe/transfer.go",
		"		row.Unmatched = payment.AfterFinal\n	default:", "	default:"},
	{"a declined payment has no event", "core/payment/apply.go", "if err := s.EmitEvent(tx, v, kind, \"\"); err != nil {", "if kind == webhook.PaymentDeclined {\n	} else if err := s.EmitEvent(tx, v, kind, \"\"); err != nil {"},
	{"a reversed payment has no event", "core/payment/apply.go", "if err := s.EmitEvent(tx, v, kind, \"\"); err != nil {", "if kind == webhook.PaymentReversed {\n	} else if err := s.EmitEvent(tx, v, kind, \"\"); err != nil {"},
	{"a second failure cancels a delivery", "core/webhook/delivery/settle.go", "if r.status == http.StatusGone {", "if r.status == http.StatusGone || row.Tries == 1 {"},
	{"events say that all was paid", "core/payment/record.go",
		"	p, coin := v.Payment, v.Coin()\n	r := record.Record{",
		"	v.Payment.Paid = v.Payment.Due\n	p, coin := v.Payment, v.Coin()\n	r := record.Record{"},
	{"dust holds a price", "core/payment/observe/transfer.go", " && r.paid.Cmp(row.Amount) >= 0 {", " {"},
	{"a reversed payment stays reversed", "core/payment/decide.go", "case c.Reversed && sum.final.Cmp(c.Paid) >= 0:", "case c.Reversed && c.Paid.Sign() == 0:"},
	{"reversed only when nothing is left", "core/payment/decide.go", "sum.confirmed.Cmp(c.Paid) < 0", "sum.confirmed.Sign() == 0"},
	{"an undone block's payments are not looked at", "core/payment/observe/observe.go", "	for _, t := range rows {\n		a.touched.addTransfer(t)\n	}\n	loose", "	loose"},
	{"a lease is taken while it is held", "core/lease/lease.go", "AND (holder = ? OR expires_at <= ?)`", "AND (holder = ? OR expires_at >= ?)`"},
	{"who takes over has the old fence", "core/lease/lease.go", "ELSE fence + 1 END", "ELSE fence END"},
	{"money that left the chain is not booked", "core/payment/books.go", "		return journal.Reversed\n", "		return journal.Nowhere\n"},
	{"surplus counts as sales", "core/payment/books.go", "case t.Unmatched != \"\":", "case t.Unmatched != \"\" && t.Unmatched != Surplus:"},
	{"a declined payment's money is a sale", "core/payment/books.go", "		return journal.Declined\n	}", "		return journal.Sales\n	}"},
	{"what a reorganisation took stays in the books", "core/payment/observe/observe.go", "	if err := books.BookTransfers(a.tx, a.now, a.network); err != nil {\n		return err\n	}\n	if err := departure.Settle", "	if err := departure.Settle"},
	{"what owners move is not booked", "core/payment/observe/observe.go", "		err = left.Record(b.Height, a.now)", "		err = left.Record(b.Height+1000, a.now)"},
	{"what an undone block took stays moved", "core/payment/departure/settle.go", "		if err := postMoved(tx, now, row, money.Amount{}); err != nil {", "		if err := postMoved(tx, now, row, row.Booked); err != nil {"},
	{"money on a network that is off is credited", "core/payment/observe/transfer.go",
		"	case !counts:\n", "	case !counts && reason != \"\":\n"},
	{"a network that is off can be chosen", "core/payment/choice/choice.go",
		"	on := accepted[info.Method]\n", "	on := append(accepted[info.Method], info.Chains()...)\n"},
	{"one network's depth counts on another", "core/payment/further.go",
		"Chain: f.chain, Depth: f.FinalDepth,", "Chain: f.chain, Depth: v.Payment.FinalDepth,"},
	{"a further network's confirmations end no wait", "core/payment/further.go",
		"WakeElsewhere[f.Network]; height > 0 {", "WakeElsewhere[f.Network]; height < 0 {"},
	{"a webhook that is gone stays on", "core/webhook/failing.go", "row.Active && (gone || ", "row.Active && ("},
}

// decisionMutations are those that worlds with many payments are there to find, in which people decide often.
var decisionMutations = []mutation{
	{"attached money that isn't needed is in no list", "core/payment/surplus.go", "\"unmatched\": Surplus, \"resolution\": \"\",", "\"unmatched\": Surplus,"},
	{"money that was sent back and then lost stays in the wallet", "core/payment/books.go", "	case returned && (confirmed || !believed):\n", "	case returned:\n"},
}

// sendMutations are those that worlds with sends are there to find.
var sendMutations = []mutation{
	{"an approval doesn't cover the tag", "core/send/seal/seal.go", "row.Coin, row.Network, amount, row.Address, tag, paid, transfer)", "row.Coin, row.Network, amount, row.Address, 0*tag, paid, transfer)"},
	{"the amount alone pays a send", "core/send/match/match.go", "if err != nil || own {",
		"if err != nil || own || true {"},
	{"more is refunded than is left", "core/send/amount.go", "case row.Kind == Refund && row.Amount.Cmp(left) > 0:", "case row.Kind == Refund && row.Amount.Cmp(left) > 0 && left.Sign() < 0:"},
	{"a transaction counts as dropped after six minutes", "core/send/send.go", "unseenFor       = 6 * time.Hour", "unseenFor       = 6 * time.Minute"},
	{"a send whose block is undone is not looked at", "core/payment/observe/observe.go", "	if t.SendID != nil {\n		r.sends[*t.SendID] = true", "	if t.SendID != nil && (t.Height == nil || a.batch.Ancestor == nil) {\n		r.sends[*t.SendID] = true"},
	{"a failed send stays on its way in the books", "core/send/book.go", "	case out.State == Processing:", "	case out.State == Processing || out.State == Failed:"},
	{"a send that is seen again has no event", "core/send/apply.go", "	if began && before.Status != row.Status {", "	if began && before.Status != row.Status && before.Status != string(Failed) {"},
	{"a crash after Apply forgets its sends", "core/payment/observe/observe.go", "	if err := send.MarkDue(a.tx, a.touched.listSends(), a.now); err != nil {", "	if err := send.MarkDue(a.tx, nil, a.now); err != nil {"},
	{"a send that is not signed never expires", "core/send/decide.go", "		if !now.Before(out.Wake) {\n			out.State, out.Reason, out.Wake = Expired", "		if c.State != Ready && !now.Before(out.Wake) {\n			out.State, out.Reason, out.Wake = Expired"},
	{"a send counts as moved by the owner", "core/payment/departure/settle.go", "				moved = moved.Sub(t.Amount)\n			}\n		case", "				moved = moved.Add(money.Units(0))\n			}\n		case"},
	{"what an undone block took is booked with its send again", "core/payment/departure/settle.go", " AND settled AND height <> ?\", send.Network, noBlock)", " AND settled\", send.Network)"},
	{"the person who asked approves", "core/send/approve.go", "	if len(approvers) > max(1, row.Approvals) {", "	if len(approvers) > max(9, row.Approvals) {"},
}

// root is the repository.
const root = "../.."

var failing = regexp.MustCompile(`--- FAIL: TestSimulation/seed=(\d+) `)

// TestMutationsFit: the code that each planted bug replaces stands once in its file, so
// that a change of the code doesn't leave a bug that can't be planted.
func TestMutationsFit(t *testing.T) {
	t.Parallel()
	for _, m := range slices.Concat(mutations, decisionMutations, sendMutations) {
		text, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("%s: %s has the replaced code %d times, want 1:\n%s", m.name, m.file, n, m.old)
		}
	}
}

// TestMutations plants each bug in a copy of its file, builds the simulation on
// that, and fails for a bug that no seed finds. It does so only with -sim.plant:
// make sim-mutations. Bugs of payments are looked for in worlds without sends, which are
// made faster.
func TestMutations(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) { m.plant(t, size{*payments, 0}) })
	}
	for _, m := range decisionMutations {
		t.Run(m.name, func(t *testing.T) { m.plant(t, size{60, 0}) })
	}
	for _, m := range sendMutations {
		t.Run(m.name, func(t *testing.T) { m.plant(t, size{*payments, *sends}) })
	}
}

// plant plants the bug, and looks for it in worlds of a size.
func (m mutation) plant(t *testing.T, of size) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%q stands %d times in %s", m.old, n, m.file)
	}
	if *plant {
		m.find(t, strings.Replace(string(source), m.old, m.new, 1), of)
	}
}

// find runs the simulation with the planted source until a seed fails.
func (m mutation) find(t *testing.T, planted string, of size) {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "planted.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: copied}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{copied: []byte(planted), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-failfast", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"),
		"-run", "TestSimulation", ".", "-sim.seeds", fmt.Sprint(*seeds), "-sim.sends", fmt.Sprint(of.sends),
		"-sim.payments", fmt.Sprint(of.payments), "-sim.first")
	out, err := run.CombinedOutput()
	found := failing.FindStringSubmatch(string(out))
	switch {
	case found != nil:
		_, why, _ := strings.Cut(string(out), found[0])
		_, why, _ = strings.Cut(why, ".go:")
		why, _, _ = strings.Cut(why, "\n")
		fmt.Printf("| %s | %s | %.110s |\n", m.name, found[1], why)
	case err != nil:
		t.Errorf("%s: no seed ran: %.2000s", m.name, out)
	default:
		t.Errorf("%s: not found in %d seeds", m.name, *seeds)
	}
}
