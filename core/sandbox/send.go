package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
)

// SendScenario is one way in which the sandbox wallet signs a send, and what the network does.
type SendScenario struct {
	Code        string
	Label       string
	Explanation string
	coins       []money.Coin // that it makes sense for; nil: all
	moves       func(*sendAct)
}

// The codes of the scenarios of sends (contract section 8) beside Exact, Reorg and Replaced.
const (
	WrongAmount = "wrong_amount"
	Replaced    = "replaced"
	Dropped     = "dropped"
	Reverted    = "reverted"
	PaidTwice   = "paid_twice"
)

// SendScenarios lists all of them, in the order pages show them.
func SendScenarios() []SendScenario {
	mined := []money.Coin{money.BTC, money.ETH, money.USDT, money.DOGE}
	return []SendScenario{
		{Code: Exact, Label: "Exactly as approved", moves: (*sendAct).signExact,
			Explanation: "The wallet signs and sends the transaction: the send becomes Successful at its " +
				"final confirmation."},
		{Code: WrongAmount, Label: "Another amount", moves: (*sendAct).signWrong,
			Explanation: "The wallet sends 1 % less than was approved: that pays no send, and this one stays Ready."},
		{Code: Replaced, Label: "Replaced", coins: mined, moves: (*sendAct).signReplaced,
			Explanation: "The transaction is seen, then another one of the wallet spends the same money " +
				"elsewhere: the send becomes Failed."},
		{Code: Reorg, Label: "Reorganised", coins: mined, moves: (*sendAct).signReorganised,
			Explanation: "The transaction confirms, a reorganisation takes the confirmation back, and a later block " +
				"confirms it for good: Successful in the end."},
		{Code: Dropped, Label: "Dropped", coins: mined, moves: (*sendAct).signDropped,
			Explanation: "The mempool forgets the transaction before a block takes it. The clock of the " +
				"send moves six hours ahead, after which it is Failed."},
		{Code: Reverted, Label: "Reverted", coins: []money.Coin{money.ETH, money.USDT, money.XRP},
			moves: (*sendAct).signReverted,
			Explanation: "The network records the transaction as failed, so it moved nothing: the send " +
				"becomes Failed."},
		{Code: PaidTwice, Label: "Paid twice", moves: (*sendAct).signTwice,
			Explanation: "The wallet signs two transactions that both pay the send: it is Successful and " +
				"marked as paid twice."},
	}
}

// SendScenariosFor lists the scenarios that make sense for a coin.
func SendScenariosFor(coin money.Coin) []SendScenario {
	return slices.DeleteFunc(SendScenarios(), func(s SendScenario) bool {
		return s.coins != nil && !slices.Contains(s.coins, coin)
	})
}

// SignedSend describes what the sandbox wallet did with a send.
type SignedSend struct {
	Scenario     SendScenario
	Send         send.View
	Transactions []Transaction
	Advanced     time.Duration // by which the send's clock was moved ahead
}

// sendAct is a scenario being prepared for one send.
type sendAct struct {
	view  send.View
	chain Chain
	moves []chain.Move
	// signed counts the transactions: a scenario that is played again signs the same ones.
	signed int
	done   SignedSend
}

// SimulateSend has the sandbox wallet sign a ready send in one of the ways.
//
// Faults: NotFound, also in the live domain; Invalid for a scenario that is unknown or makes no
// sense here; Conflict for a send that is not ready.
func (s *Service) SimulateSend(ctx context.Context, sc scope.Scope, reference, code string) (SignedSend, error) {
	if err := onlyTest(sc, "send"); err != nil {
		return SignedSend{}, err
	}
	found, err := s.Sends.Find(ctx, sc, reference)
	if err != nil {
		return SignedSend{}, err
	}
	scenario, err := findSendScenario(code, found.Coin())
	if err != nil {
		return SignedSend{}, err
	}
	return idempotency.Around(ctx, func(ctx context.Context) (SignedSend, error) {
		return s.signSend(ctx, sc, found, scenario)
	})
}

func (s *Service) signSend(ctx context.Context, sc scope.Scope, found send.View, scenario SendScenario) (SignedSend,
	error) {
	network := s.findChain(found.Send.Network)
	if network == nil {
		return SignedSend{}, fault.New(fault.Conflict, "not_on_sandbox", "This send runs on the network %s, "+
			"not on the sandbox: sign it with a wallet of that network.", found.Send.Network)
	}
	reference := found.Send.Reference
	view, err := s.Approvals.StartSigning(ctx, sc, reference)
	if err != nil {
		return SignedSend{}, err
	}
	a := &sendAct{view: view, chain: network, done: SignedSend{Scenario: scenario}}
	scenario.moves(a)
	if a.done.Advanced > 0 {
		if err := s.Sends.AdvanceClock(ctx, sc, reference, a.done.Advanced); err != nil {
			return SignedSend{}, err
		}
	}
	if _, err := network.ApplyMoves(ctx, a.moves...); err != nil {
		return SignedSend{}, fmt.Errorf("sign a send as %s: %w", scenario.Code, err)
	}
	a.done.Send, err = s.Sends.Find(ctx, sc, reference)
	return a.done, err
}

// ApproveSend plays the approvers of a send. Faults: as send.Service.ApproveInSandbox.
func (s *Service) ApproveSend(ctx context.Context, sc scope.Scope, reference string) (send.View, error) {
	if err := onlyTest(sc, "send"); err != nil {
		return send.View{}, err
	}
	return s.Approvals.ApproveInSandbox(ctx, sc, reference)
}

// findSendScenario finds a scenario by its code, for a coin. Anything else is a fault of the field
// "scenario".
func findSendScenario(code string, coin money.Coin) (SendScenario, error) {
	var codes []string
	for _, one := range SendScenariosFor(coin) {
		if one.Code == code {
			return one, nil
		}
		codes = append(codes, one.Code)
	}
	return SendScenario{}, errScenario("Must be one of %s.", strings.Join(codes, ", "))
}

// newTx returns a transaction of the sandbox wallet. keys that are given are spent again.
func (a *sendAct) newTx(amount money.Amount, address string, keys ...string) chain.Tx {
	to := chain.Destination{Address: address}
	if tag := a.view.Send.Tag; tag != nil && address == a.view.Send.Address {
		number := uint32(*tag)
		to.Tag = &number
	}
	if len(keys) == 0 {
		a.signed++
		keys = []string{fmt.Sprintf("%s%d %s %d", payer.SandboxKey(a.view.Send), a.view.Send.ReadyAt.UnixMicro(),
			a.done.Scenario.Code, a.signed)}
	}
	return chain.Tx{Outputs: []chain.Output{{Asset: a.view.Send.Coin, Destination: to, Amount: amount}}, Spends: keys}
}

// broadcast sends a transaction some blocks from now.
func (a *sendAct) broadcast(tx chain.Tx, after int64, held bool, note string) (txid string) {
	txid = tx.ID(a.chain.Network())
	a.moves = append(a.moves, chain.Move{After: after, Kind: chain.MoveBroadcast, Tx: &tx, Held: held})
	a.done.Transactions = append(a.done.Transactions, Transaction{Hash: txid,
		Amount: a.view.Coin().Format(tx.Outputs[0].Amount), Asset: a.view.Send.Coin, Note: note})
	return txid
}

// exactTx returns the transaction that was approved.
func (a *sendAct) exactTx() chain.Tx { return a.newTx(a.view.Send.Amount, a.view.Send.Address) }

// glanceBlocks returns how many blocks a state stays visible.
func (a *sendAct) glanceBlocks() int64 {
	return max(1, int64((glance+a.chain.Interval()-1)/a.chain.Interval()))
}

func (a *sendAct) signExact() {
	a.broadcast(a.exactTx(), 0, false, "Sent now; the next block takes it.")
}

func (a *sendAct) signWrong() {
	amount := a.view.Send.Amount.MulDiv(99, 100)
	if amount.Sign() == 0 {
		amount = a.view.Send.Amount.Add(money.Units(1))
	}
	a.broadcast(a.newTx(amount, a.view.Send.Address), 0, false, "Sent now with another amount; the next "+
		"block takes it.")
}

func (a *sendAct) signReplaced() {
	tx := a.exactTx()
	txid := a.broadcast(tx, 0, true, "Sent now; no block takes it.")
	after := a.glanceBlocks() + 1
	a.moves = append(a.moves, chain.Move{After: after, Kind: chain.MoveDrop, TxIDs: []string{txid}})
	a.broadcast(a.newTx(a.view.Send.Amount, elsewhere, tx.Spends...), after, false,
		fmt.Sprintf("Spends the same money elsewhere, %d blocks from now.", after))
}

func (a *sendAct) signReorganised() {
	room := max(1, int64(a.view.Send.FinalDepth)-1)
	tx := a.exactTx()
	txid := a.broadcast(tx, 0, false, "Sent now; it confirms, leaves the chain with a reorganisation, "+
		"and confirms again.")
	undone := 1 + min(a.glanceBlocks(), room)
	a.moves = append(a.moves,
		chain.Move{After: undone, Kind: chain.MoveReorg, Depth: int(undone), TxIDs: []string{txid}},
		chain.Move{After: undone, Kind: chain.MoveBroadcast, Tx: &tx, Held: true},
		chain.Move{After: undone + a.glanceBlocks(), Kind: chain.MoveRelease, TxIDs: []string{txid}})
}

func (a *sendAct) signDropped() {
	txid := a.broadcast(a.exactTx(), 0, true, "Sent now; no block ever takes it, and the mempool forgets it.")
	a.moves = append(a.moves, chain.Move{After: a.glanceBlocks() + 1, Kind: chain.MoveDrop, TxIDs: []string{txid}})
	a.done.Advanced = 6*time.Hour + past
}

func (a *sendAct) signReverted() {
	tx := a.exactTx()
	tx.Reverted = true
	a.broadcast(tx, 0, false, "Sent now; the next block records it as failed.")
}

func (a *sendAct) signTwice() {
	a.broadcast(a.exactTx(), 0, false, "Sent now; the next block takes it.")
	a.broadcast(a.exactTx(), 1, false, "Sent again in the next block.")
}
