package signing

import (
	"context"
	"slices"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/models"
)

// Batch is a network on which contract wallets can pay, with the sends that they can pay.
type Batch struct {
	Network string
	Wallets []models.PayoutWallet // some may be no contracts
	Sends   []send.View           // ready, the oldest first
}

// ListBatches lists the ready sends that contract wallets can pay, by network. Faults: Forbidden.
func (s *Service) ListBatches(ctx context.Context, sc scope.Scope) ([]Batch, error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return nil, err
	}
	wallets, err := s.Sends.Signing.ListWallets(ctx, sc)
	if err != nil {
		return nil, err
	}
	ready, _, err := s.Sends.List(ctx, sc, send.Filter{States: []send.State{send.Ready}, Limit: send.MaxTogether})
	if err != nil {
		return nil, err
	}
	slices.Reverse(ready)
	var list []Batch
	for _, network := range s.Sends.Signing.ListNetworks(sc) {
		if _, can := s.Sends.Signing.Signers[network].Signer.(chain.BatchSigner); !can {
			continue
		}
		b := Batch{Network: network}
		for _, w := range wallets {
			if w.Network == network {
				b.Wallets = append(b.Wallets, w)
			}
		}
		for _, v := range ready {
			if v.Send.Network == network {
				b.Sends = append(b.Sends, v)
			}
		}
		list = append(list, b)
	}
	return list, nil
}

// BuildBatch returns a file from which a contract wallet pays ready sends of its network in one
// transaction. Each is recorded as handed to that wallet.
//
// Faults: Forbidden; NotFound; Invalid for account and send; the faults of send.Signing.Prepare for each send.
func (s *Service) BuildBatch(ctx context.Context, sc scope.Scope, network, account string,
	references []string) (file chain.SigningFile, err error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return file, err
	}
	references = slices.Compact(slices.Sorted(slices.Values(references)))
	if len(references) == 0 || len(references) > send.MaxTogether {
		return file, fault.RefuseField("send", "Choose 1 to 100 sends.")
	}
	signer := s.Sends.Signing.Signers[network]
	batch, can := signer.Signer.(chain.BatchSigner)
	if !can || signer.Domain != sc.Domain {
		return file, fault.Missing("network for a contract wallet")
	}
	asked, cancel := context.WithTimeout(ctx, send.NodePatience)
	defer cancel()
	switch is, err := batch.IsContract(asked, account); {
	case err != nil:
		return file, payer.DescribeProblem(ctx, err)
	case !is:
		return file, fault.RefuseField("account", "Is no contract wallet on this network. Sign its sends one by one.")
	}
	orders, err := s.prepareOrders(ctx, sc, network, account, references)
	if err != nil {
		return file, err
	}
	return batch.BuildBatch(orders, s.Clock())
}

const (
	// askAtOnce is how many sends of a batch a node is asked about at once, and batchPatience how long a person waits for
	// all of them. Those that were prepared until then are not asked about again.
	askAtOnce     = 8
	batchPatience = 30 * time.Second
)

// prepareOrders is prepareOrder for several sends. The first fault ends it.
func (s *Service) prepareOrders(ctx context.Context, sc scope.Scope, network, account string,
	references []string) ([]chain.Order, error) {
	asked, cancel := context.WithTimeout(ctx, batchPatience)
	defer cancel()
	var workers sync.WaitGroup
	var once sync.Once
	var failed error
	fail := func(err error) { once.Do(func() { failed = err; cancel() }) }
	orders, queue := make([]chain.Order, len(references)), make(chan int, len(references))
	for i := range references {
		queue <- i
	}
	close(queue)
	for range min(askAtOnce, len(references)) {
		workers.Go(func() {
			for i := range queue {
				var err error
				if orders[i], err = s.prepareOrder(asked, sc, network, account, references[i]); err != nil {
					if asked.Err() != nil { // the time has passed
						err = payer.DescribeProblem(asked, err)
					}
					fail(payer.NameFault(references[i], err))
					return
				}
			}
		})
	}
	workers.Wait()
	return orders, failed
}

// prepareOrder records that a ready send of a network is handed to a contract wallet, and returns its order.
func (s *Service) prepareOrder(ctx context.Context, sc scope.Scope, network, account, reference string) (chain.Order,
	error) {
	v, err := s.Sends.Find(ctx, sc, reference)
	if err == nil && v.Send.Network != network {
		err = fault.Missing("send")
	}
	if err != nil {
		return chain.Order{}, err
	}
	prepared, err := s.Prepare(ctx, sc, reference, Choice{Account: account})
	if err != nil {
		return chain.Order{}, err
	}
	return send.OrderOf(prepared.View.Send, prepared.View.Send.Account), nil
}
