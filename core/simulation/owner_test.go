package simulation_test

import (
	"fmt"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/models"
)

// purse is a coin of a business.
type purse struct {
	shop int64
	coin string
}

// collect is a merchant who moves money from the address of a payment elsewhere, by no send.
func (w *world) collect() {
	if len(w.customers) == 0 {
		return
	}
	c := w.customers[w.rng.IntN(len(w.customers))]
	n := w.nets[c.network]
	amount, left := c.take(n)
	if amount.Sign() == 0 {
		return
	}
	tx := chain.Tx{Spends: []string{n.coin()}}
	there := chain.Destination{Address: "the merchant's other wallet"}
	tx.Outputs = []chain.Output{{Asset: string(c.coin.Coin), Destination: there, Amount: amount}}
	t := n.broadcast(tx, false)
	t.left, n.collected = left, append(n.collected, t)
	w.count("a merchant collects money")
	w.say("a merchant collects %s %s of customer %d", amount, c.coin.Coin, c.number)
}

// take returns what a transaction of a network can take of what some transaction of the customer paid there: an amount
// of 0 if there is nothing. The networks here have no outputs to spend: see chain.Network.HasOutputs.
func (c *customer) take(n *network) (amount money.Amount, left []chain.Departure) {
	place := c.places[n.home]
	for _, t := range c.sent {
		for i, o := range t.Outputs {
			key := fmt.Sprint(t.id, ":", i)
			if n.taken[key] || t.Reverted || t.shown.IsZero() || n.where(t) == nil || o.Destination != place ||
				o.Asset != string(c.coin.Coin) {
				continue
			}
			n.taken[key] = true
			amount = o.Amount.MulDiv(int64(1+n.rng.IntN(100)), 100)
			return amount, []chain.Departure{{Address: place.Address, Asset: o.Asset, Amount: amount}}
		}
	}
	return amount, nil
}

// fund returns what a transaction that pays sends of a shop takes of what a customer paid.
func (o *order) fund() (left []chain.Departure) {
	for _, c := range o.customers {
		if c.shop == o.shop && c.coin.Coin == o.coin.Coin {
			if amount, left := c.take(o.nets[o.coin.Chain]); amount.Sign() > 0 {
				o.count("a send is paid with a customer's money")
				return left
			}
		}
	}
	return nil
}

// matchLeft lists what the transaction took from watched addresses.
func (t *coinTx) matchLeft(watch chain.Watch) (list []chain.Departure) {
	for _, d := range t.left {
		if watch.Address(d.Address) && !t.Reverted {
			d.TxID = t.id
			list = append(list, d)
		}
	}
	return list
}

// sumLeft adds what a transaction took of each business.
func (n *network) sumLeft(t *coinTx) map[purse]money.Amount {
	sums := map[purse]money.Amount{}
	for _, d := range t.left {
		for _, c := range n.customers {
			if c.places[n.home].Address == d.Address && !t.Reverted {
				key := purse{c.shop.id, d.Asset}
				sums[key] = sums[key].Add(d.Amount)
				break
			}
		}
	}
	return sums
}

// booksOfOwner holds what the books say that owners moved against what the chains show: of each transaction what it
// took of a business, less the sends of that business that it pays (35).
func (w *world) booksOfOwner(db *models.DB) {
	want, got := map[purse]money.Amount{}, map[purse]money.Amount{}
	for _, n := range w.chains {
		for _, b := range n.now.blocks {
			for _, t := range b.txs {
				for key, amount := range n.sumLeft(t) {
					if amount = amount.Sub(w.paidSends(db, n, t, key)); amount.Sign() > 0 {
						want[key] = want[key].Add(amount)
					}
				}
			}
		}
	}
	var entries []models.JournalEntry
	w.must(db.Read(w.t.Context()).Where("departure_id IS NOT NULL").Find(&entries).Error)
	for _, e := range entries {
		key, amount := purse{e.BusinessID, e.Coin}, e.Amount
		if e.Credit == string(journal.Owner) {
			amount = money.Amount{}.Sub(amount)
		}
		got[key] = got[key].Add(amount)
	}
	for _, s := range w.shops {
		for _, coin := range money.Coins() {
			key := purse{s.id, string(coin.Coin)}
			if got[key].Cmp(want[key]) != 0 {
				w.find("invariant 35: the owner of business %d moved %s %s by the books, %s on the chain", key.shop, got[key], key.coin,
					want[key])
			}
			w.counts["departures booked"] += min(1, want[key].Sign())
		}
	}
}

// paidSends sums what a transaction pays of sends of a business.
func (w *world) paidSends(db *models.DB, n *network, t *coinTx, key purse) (sum money.Amount) {
	var rows []models.Transfer
	query := db.Read(w.t.Context()).Where("network = ? AND tx_id = ? AND asset = ?", string(n.name), t.id, key.coin)
	w.must(query.Where("send_id IS NOT NULL AND NOT reverted").Find(&rows).Error)
	for _, row := range rows {
		var of models.Send
		w.must(db.Read(w.t.Context()).Take(&of, *row.SendID).Error)
		if of.BusinessID == key.shop && (of.Status == string(send.Successful) || of.BookedTwice.Sign() > 0) {
			sum = sum.Add(row.Amount)
		}
	}
	return sum
}
