package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ways are the ways in which payments are paid: one payment each for each coin on each network.
var ways = []struct {
	kind, status, reason string
	// first is how much of what is due is sent in the first block, in percent.
	first int64
	// fixed returns the network that the request names; nil names none.
	fixed func(takenCoin) *evmNetwork
	// chosen returns the networks that the customer chooses on the page, one after the other; nil chooses none.
	chosen func(takenCoin) []*evmNetwork
}{
	{"exact", "successful", "", 100, ownNetwork, nil},
	{"under", "declined", "underpaid", 99, ownNetwork, nil},
	{"over", "declined", "overpaid", 101, ownNetwork, nil},
	{"two parts", "successful", "", 33, ownNetwork, nil},
	{"crumb", "successful", "", 100, ownNetwork, nil},
	{"reorganised", "successful", "", 0, ownNetwork, nil},
	{"restart", "successful", "", 0, ownNetwork, nil},
	{"network changed", "successful", "", 100, func(takenCoin) *evmNetwork { return nil }, otherAndOwn},
	{"wrong network", "successful", "", 100, func(c takenCoin) *evmNetwork { return c.other }, nil},
}

func ownNetwork(c takenCoin) *evmNetwork    { return c.evmNetwork }
func otherAndOwn(c takenCoin) []*evmNetwork { return []*evmNetwork{c.other, c.evmNetwork} }

// TestSixNetworks: six networks are followed at once, as the registry's own, with one account key. On each, in each
// coin, payments are paid in every way. Each is credited with what was sent for it, on the network where it came, and
// with nothing else; what belongs to no payment is under Unmatched.
func TestSixNetworks(t *testing.T) {
	t.Parallel()
	x := newNetworksTill(t, listEVMNetworks())
	of := map[string][]*networkPayment{}
	for _, way := range ways {
		for _, c := range x.coins {
			var chosen []*evmNetwork
			if way.chosen != nil {
				chosen = way.chosen(c)
			}
			p := x.order(c, way.kind, way.fixed(c), chosen...)
			p.status, p.reason = way.status, way.reason
			of[way.kind] = append(of[way.kind], p)
		}
	}
	// These are awaited on every network now. Where nothing is, the program looks every 90 seconds only.
	final := x.payWhileOff()
	x.payOtherCoins()
	for _, way := range ways {
		for _, p := range of[way.kind] {
			if way.first > 0 {
				p.pay(p.due * way.first / 100)
			}
			if way.first == 100 {
				final = append(final, p)
			}
		}
	}
	x.mineAll(1)
	for _, n := range x.networks {
		n.paid = n.node.Height()
	}
	for _, p := range of["two parts"] {
		p.pay(p.due - p.sent)
	}
	for _, p := range of["crumb"] {
		x.losing("surplus", p, p.sendCoin(stranger, p.method, p.address, p.due/50), p.due/50)
	}
	x.mineAll(1)
	x.reorganise(of["reorganised"])

	for _, n := range x.networks { // one block less than final
		n.node.Mine(int(n.paid) + n.depth - 2 - int(n.node.Height()))
	}
	x.awaitTips()
	for _, p := range x.payments {
		if r := x.VerifyPayment(p.Reference); r.Status != "initiated" && r.Status != "processing" {
			t.Errorf("%s is %s one block before it is final, want processing", p, r.Status)
		}
	}
	x.mineAll(1)
	x.awaitPayments(final, "successful", "")
	for _, p := range of["crumb"] {
		x.losing("after_final", p, p.sendCoin(stranger, p.method, p.address, p.due/40), p.due/40)
	}
	for _, p := range of["restart"] {
		p.pay(p.due)
	}
	x.mineAll(1)
	x.awaitPayments(of["restart"], "processing", "")

	x.Stop()
	for _, n := range x.networks {
		n.node.Mine(n.depth)
	}
	x.endWindow(of["under"])
	x.Start()
	for _, p := range x.payments {
		x.awaitPayments([]*networkPayment{p}, p.status, p.reason)
	}
	x.awaitTips() // of what was sent to payments that wait, nothing is to come
	x.awaitUnmatched("what belongs to no payment")
	x.compareTotals()
}

// payWhileOff pays each coin on a network that is off for it: it is listed under Unmatched, with the network and the
// amount, and the payment stays as it was. Then that network is switched on, and payments that were opened meanwhile
// are paid there: it returns these.
func (x *networksTill) payWhileOff() (later []*networkPayment) {
	x.t.Helper()
	var firsts, others []takenCoin
	for _, c := range x.coins {
		if c.code == x.networks[0].code {
			firsts = append(firsts, c)
		} else {
			others = append(others, c)
		}
	}
	for _, off := range [][]takenCoin{others, firsts} {
		for _, c := range off {
			x.switchNetwork(c, false)
		}
		for _, c := range off {
			p := x.order(c, "off", c.other)
			p.status, p.network = "initiated", c.other.name()
			x.losing("network_off", p, c.sendCoin(0, c.method, p.address, p.due), p.due)
			later = append(later, x.order(c, "switched on", nil))
		}
		x.mineAll(1)
		x.awaitUnmatched("what came on networks that are off")
		for _, c := range off {
			x.switchNetwork(c, true)
		}
	}
	for _, p := range later {
		p.pay(p.due)
	}
	return later
}

// payOtherCoins sends the coins of networks whose own coin isn't ether to addresses where ether is awaited: they pay
// nothing, and are under Unmatched by their own names.
func (x *networksTill) payOtherCoins() {
	x.t.Helper()
	first := x.coins[slices.IndexFunc(x.coins, func(c takenCoin) bool { return c.method == inEther })]
	for _, n := range x.networks {
		if n.ether {
			continue
		}
		p := x.order(first, n.coin, first.evmNetwork)
		p.status = "initiated"
		hash := n.sendCoin(0, inEther, p.address, p.due)
		x.lost = append(x.lost, fmt.Sprintf("wrong_asset %s %s %s of %s", describeTransfer(hash, n.name(), "0"),
			formatSteps(inEther, p.due), n.coin, p.Reference))
	}
}

// reorganise pays, and has the blocks of the payments replaced when they are seen: the payments wait again. Then the
// same transactions are mined again.
func (x *networksTill) reorganise(list []*networkPayment) {
	x.t.Helper()
	const depth = 3
	for _, p := range list {
		p.pay(p.due)
	}
	x.mineAll(depth)
	x.awaitPayments(list, "processing", "")
	for _, n := range x.networks {
		n.node.Reorg(depth)
	}
	x.awaitPayments(list, "initiated", "reorged")
	for _, p := range list {
		x.sendAgain(p)
	}
	x.mineAll(1)
}

// sendAgain sends the transaction of a payment again, which its node forgot with the block.
func (x *networksTill) sendAgain(p *networkPayment) {
	x.t.Helper()
	if p.node.IsKnown(p.hash) {
		x.t.Fatalf("%s: the node still knows the transaction %s, want it forgotten with its block", p, p.hash)
	}
	if again := p.sendCoin(0, p.method, p.address, p.due); again != p.hash {
		x.t.Fatalf("%s: the transaction %s is sent again as %s, want the same", p, p.hash, again)
	}
}

// endWindow moves all times of payments back, so that their windows of 7 minutes are over: the clocks of live payments
// can't be moved. The program doesn't run meanwhile.
func (x *networksTill) endWindow(list []*networkPayment) {
	x.t.Helper()
	db, err := sql.Open("pgx", x.ReadSetting("DATABASE_URL"))
	if err != nil {
		x.t.Fatal(err)
	}
	defer db.Close()
	var references []string
	for _, p := range list {
		references = append(references, p.Reference)
	}
	move := func(columns ...string) (set string) {
		for _, c := range columns {
			set += ", " + c + " = " + c + " - interval '8 minutes'"
		}
		return set[2:]
	}
	of := "('" + strings.Join(references, "', '") + "')"
	for _, statement := range []string{
		"UPDATE transfers SET " + move("first_seen_at", "created_at") +
			" WHERE payment_id IN (SELECT id FROM payments WHERE reference IN " + of + ")",
		"UPDATE payments SET " + move("created_at", "opened_at", "first_seen_at", "expires_at", "abandons_at", "due_at",
			"due_read") + " WHERE reference IN " + of,
	} {
		if _, err := db.Exec(statement); err != nil {
			x.t.Fatal(err)
		}
	}
}
