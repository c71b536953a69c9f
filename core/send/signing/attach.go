package signing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/models"
)

// maxHash bounds the text of a hash.
const maxHash = 100

// Attach asks the network's nodes for a transaction, and attaches it to a send if it pays it by the rules
// by which the follower recognises transactions.
//
// Faults: Forbidden; NotFound; Invalid for hash; Conflict for a send that was never ready, and for a
// transaction that is unknown, unconfirmed or doesn't pay it; Unavailable while no node can be asked.
func (s *Service) Attach(ctx context.Context, sc scope.Scope, reference, hash string) (send.View, error) {
	return idempotency.Around(ctx, func(ctx context.Context) (send.View, error) {
		if err := sc.CheckAction(scope.SignSends); err != nil {
			return send.View{}, err
		}
		v, err := s.Sends.Find(ctx, sc, reference)
		if err != nil {
			return send.View{}, err
		}
		hash := strings.TrimSpace(hash)
		if slices.ContainsFunc(v.Transfers, func(t models.Transfer) bool { return strings.EqualFold(t.TxID, hash) }) {
			return v, nil // it is attached
		}
		block, err := s.findTransaction(ctx, v, hash)
		pending := errors.Is(err, chain.ErrPending)
		if err != nil && !pending {
			return send.View{}, err
		}
		if err := s.checkPays(ctx, v, block); err != nil {
			return send.View{}, err
		}
		if pending {
			return send.View{}, errPending
		}
		if err := s.applyTransaction(ctx, sc, v, block); err != nil {
			return send.View{}, err
		}
		return s.Sends.Find(ctx, sc, reference)
	})
}

// findTransaction asks the network's nodes for what a transaction moves to a send's address. With
// chain.ErrPending that is what the mempool shows.
func (s *Service) findTransaction(ctx context.Context, v send.View, hash string) (block chain.Block, err error) {
	if v.Send.ReadyAt == nil || v.State().Released() && v.Send.SigningAt == nil {
		return block, fault.New(fault.Conflict, "send_not_ready", "This send was not approved, so no transaction "+
			"can pay it.")
	}
	finder, can := s.Sends.Signing.Signers[v.Send.Network].Signer.(chain.TransactionFinder)
	if !can {
		return block, fault.New(fault.Conflict, "send_unavailable", "Transactions on %s are not looked up by their "+
			"hash. One that pays the send is recognised by itself.", v.Send.Network)
	}
	if hash == "" || len(hash) > maxHash {
		return block, errHash
	}
	watch := new(chain.WatchSet)
	watch.AddAddresses(v.Send.Address)
	asked, cancel := context.WithTimeout(ctx, send.NodePatience)
	defer cancel()
	block, err = finder.FindTransaction(asked, hash, watch)
	switch {
	case errors.Is(err, chain.ErrPending):
		return block, err
	case errors.Is(err, chain.ErrTransactionID):
		return block, errHash
	case errors.Is(err, chain.ErrNoTransaction) && chain.Network(v.Send.Network).HasOutputs():
		return block, errNotFound
	case errors.Is(err, chain.ErrNoTransaction):
		return block, fault.New(fault.Conflict, "transaction_unknown", "The network's node doesn't know this "+
			"transaction. If the wallet has just sent it, try again in a minute.")
	case errors.Is(err, chain.ErrUnconfirmed), errors.Is(err, chain.ErrNoBlock):
		return block, errUnconfirmed
	case err != nil:
		return block, payer.DescribeProblem(ctx, err)
	}
	return block, nil
}

var (
	errHash        = fault.RefuseField("hash", "Must be the hash of a transaction, as the wallet shows it.")
	errUnconfirmed = fault.New(fault.Conflict, "transaction_unconfirmed", "No block that was read here holds this "+
		"transaction yet. Try again in a minute.")
	errPending = fault.New(fault.Conflict, "transaction_unconfirmed", "This transaction pays the send, but no block "+
		"holds it yet. The send changes by itself, usually within a minute.")
	// errNotFound is about nodes that may have no index of transactions.
	errNotFound = fault.New(fault.Conflict, "transaction_unknown", "The network's nodes don't find this transaction. If "+
		"the wallet has just sent it, try again in a minute. Nodes without an index of transactions (txindex) don't find "+
		"one of a block whose outputs are spent. A transaction that pays the send is recognised without its hash, too.")
)

// checkPays refuses a transaction without a transfer that pays the send.
func (s *Service) checkPays(ctx context.Context, v send.View, block chain.Block) error {
	tx := s.DB.Read(ctx)
	matcher, err := match.New(tx, v.Send.Network, block.Transfers)
	if err != nil {
		return err
	}
	nearest := -1 // of the obstacles
	for _, t := range block.Transfers {
		obstacle, err := matcher.FindObstacle(v.Send, t, block.Height)
		if err != nil || obstacle == "" {
			return err
		}
		nearest = max(nearest, slices.IndexFunc(obstacles, func(o obstacleText) bool { return o.code == obstacle }))
	}
	why := fault.NewMessage("It pays nothing to the send's address.")
	switch {
	case nearest >= 0 && obstacles[nearest].code == match.OtherWallet && chain.Network(v.Send.Network).HasOutputs():
		why = fault.NewMessage("It spends no output that you have received here.")
	case nearest >= 0:
		why = obstacles[nearest].text
	}
	return fault.New(fault.Conflict, "transaction_differs", "This transaction doesn't pay the send. %s", why)
}

// obstacleText says in words why a transaction doesn't pay a send.
type obstacleText struct {
	code string
	text fault.Message
}

// obstacles are in the order in which they are reported: the last one is the nearest to paying.
var obstacles = []obstacleText{
	{match.OtherCoin, fault.NewMessage("It moves another asset to the send's address.")},
	{match.OtherAmount, fault.NewMessage("It moves another amount to the send's address.")},
	{match.OtherTag, fault.NewMessage("Its destination tag is another one.")},
	{match.NoPayment, fault.NewMessage("The amount arrived in another way than by a payment.")},
	{match.TooEarly, fault.NewMessage("Its block is older than the approval of the send.")},
	{match.OtherWallet, fault.NewMessage("It comes from none of your payout wallets, or doesn't name the send's " +
		"InvoiceID.")},
}

// applyTransaction records a transaction that pays a send as if the follower had read it now.
func (s *Service) applyTransaction(ctx context.Context, sc scope.Scope, v send.View, block chain.Block) error {
	var cursors []models.ChainCursor
	if err := s.DB.Read(ctx).Where("network = ?", v.Send.Network).Find(&cursors).Error; err != nil {
		return err
	}
	if len(cursors) == 0 || cursors[0].Height < block.Height {
		return errUnconfirmed // the follower reads it in a moment
	}
	observer := observe.New(s.Payments, s.Sends, new(chain.WatchSet))
	if _, err := observer.Reread(ctx, chain.Network(v.Send.Network), block); errors.Is(err, chain.ErrStale) {
		return errUnconfirmed // the network follows another branch
	} else if err != nil {
		return err
	}
	var rows []models.Transfer
	if err := s.DB.Read(ctx).Where("network = ? AND tx_id = ? AND send_id IS NOT NULL", v.Send.Network,
		block.Transfers[0].TxID).Find(&rows).Error; err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(t models.Transfer) bool { return *t.SendID == v.Send.ID }) {
		return s.DB.Write(ctx, func(tx *models.Tx) error {
			return audit.Record(tx, sc, s.Clock(), "send.transaction_named", v.Send.Reference,
				map[string]string{"hash": block.Transfers[0].TxID})
		})
	}
	return s.refuseTaken(ctx, sc, rows)
}

// refuseTaken says what a transaction pays in place of a send.
func (s *Service) refuseTaken(ctx context.Context, sc scope.Scope, rows []models.Transfer) error {
	what := fault.NewMessage("It was read before, as money of a payment.")
	if len(rows) > 0 {
		what = fault.NewMessage("It pays another send.")
		var others []string
		if err := sc.Rows(s.DB.Read(ctx).Model(&models.Send{})).Where("id = ?", *rows[0].SendID).
			Pluck("reference", &others).Error; err != nil {
			return err
		}
		if len(others) > 0 {
			what = fault.NewMessage("It pays %s, which is of the same amount to the same address.", others[0])
		}
	}
	return fault.New(fault.Conflict, "transaction_differs", "This transaction doesn't pay the send. %s", what)
}
