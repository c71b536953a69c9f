package xrpl

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
)

// testID is the network_id of the tests' ledgers.
const testID = 21337

func testParams() params.Params {
	p, _ := params.Lookup("network-21337")
	return p
}

// openURLs makes a source of servers that uses the ledger's time.
func openURLs(t testing.TB, l *ledgertest.Ledger, urls ...string) *Source {
	t.Helper()
	s, err := New(testParams(), urls, node.Access{Clock: l.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes.Timing.UnhealthyAge, s.RetryDelay = 0, time.Millisecond
	return s
}

// fakeNet drives a ledger for the suite.
type fakeNet struct {
	testing.TB
	*ledgertest.Ledger
	urls   []string
	source *Source
	serial int
}

func newFakeNet(t testing.TB, schemes []string, servers ...*ledgertest.Server) *fakeNet {
	n := &fakeNet{TB: t, Ledger: servers[0].Ledger}
	for i, s := range servers {
		n.urls = append(n.urls, schemes[i]+"://"+s.Serve(t))
	}
	n.Restart()
	return n
}

func (n *fakeNet) Features() chaintest.Features {
	return chaintest.Features{Asset: "XRP", Amount: ledgertest.Reserve, Payers: true}
}

func (n *fakeNet) Source() chain.Source { return n.source }
func (n *fakeNet) Restart()             { n.source = openURLs(n.TB, n.Ledger, n.urls...) }
func (n *fakeNet) Mine(times int)       { n.Ledger.CloseLedgers(times) }

// Destination alternates between no tag, the tag 0, and another tag.
func (n *fakeNet) Destination() chain.Destination {
	n.serial++
	to := chain.Destination{Address: ledgertest.Address(fmt.Sprint("destination ", n.serial))}
	if tag := uint32(n.serial) * 1_000_003; n.serial%3 > 0 {
		if n.serial%3 == 2 {
			tag = 0
		}
		to.Tag = &tag
	}
	return to
}

func (n *fakeNet) Pay(outputs ...chain.Output) string {
	p := ledgertest.Payment{To: outputs[0].Address, Amount: outputs[0].Amount.Big().Int64()}
	if outputs[0].Tag != nil {
		p.Tag = *outputs[0].Tag
	}
	return n.Ledger.AddPayment(p)
}

// PayFrom sends XRP from an account that it funds.
func (n *fakeNet) PayFrom(from string, o chain.Output) string {
	n.Ledger.AddPayment(ledgertest.Payment{To: from, Amount: 2 * o.Amount.Big().Int64()})
	n.Ledger.CloseLedgers(1)
	return n.Ledger.AddPayment(ledgertest.Payment{From: from, To: o.Address, Amount: o.Amount.Big().Int64()})
}

func (n *fakeNet) Where(id string) chaintest.Place {
	index, hash := n.Ledger.FindTransaction(id)
	return chaintest.Place{Pending: index == 0, Height: index, Hash: hash}
}

func (n *fakeNet) Reorg(int, bool)            { n.Fatal("ledgers are final") }
func (n *fakeNet) Replace(string) string      { n.Fatal("there is no mempool"); return "" }
func (n *fakeNet) Revert(chain.Output) string { n.Fatal("what fails moves nothing"); return "" }

// TestConformance runs the suite over both transports and both versions of the API, with pages,
// and with two servers that show the same ledger.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "ws"} {
		for _, newest := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s version %d", scheme, newest), func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net {
					return newFakeNet(t, []string{scheme}, ledgertest.NewServer(ledgertest.New(testID, nil), newest))
				})
			})
		}
	}
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		chaintest.Run(t, func(t *testing.T) chaintest.Net {
			s := ledgertest.NewServer(ledgertest.New(testID, nil), 2)
			s.SetBehaviour(func(b *ledgertest.Behaviour) { b.Page = 1 })
			return newFakeNet(t, []string{"http"}, s)
		})
	})
	t.Run("two servers", func(t *testing.T) {
		t.Parallel()
		chaintest.Run(t, func(t *testing.T) chaintest.Net {
			l := ledgertest.New(testID, nil)
			clio := ledgertest.NewServer(l, 1)
			clio.SetBehaviour(func(b *ledgertest.Behaviour) { b.Clio = true })
			return newFakeNet(t, []string{"http", "ws"}, ledgertest.NewServer(l, 2), clio)
		})
	})
}
