package tron

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/tron/params"
	"cointill/chain/tron/signing"
	"cointill/core/money"
)

const (
	// signingTime is for how long a prepared transaction is valid, so that a wallet without a network connection has
	// the time. The network takes up to 24 hours.
	signingTime = 75 * time.Minute
	// expirationMargin is how far the solidified blocks must be past the expiration of a transaction before another one
	// is made. Several servers may answer for one node, and one that lags doesn't know the last blocks.
	expirationMargin = 10 * time.Minute
	// blockTime is the least time between two blocks.
	blockTime = 3 * time.Second
	// mostUnsolidified is how many blocks another branch may replace: blocks are solid once 19 of the 27
	// representatives built on them.
	mostUnsolidified = 27
	// energyReserve is the factor, in percent, by which the energy may be more than what a node tried: the contract
	// becomes dearer while it is used much.
	energyReserve = 130
	// mostEnergy bounds the energy of a transfer of USDT. A usual one takes 65,000, or 131,000 to an address without
	// USDT, and up to 4.4 times as much at the dearest.
	mostEnergy = 600_000
	// transferBytes is how many bytes of bandwidth a signed transfer takes: 345, and some more for long numbers.
	transferBytes = 360
	// mostEnergyPrice bounds what a node may say that a unit of energy costs, in sun. It was 100 to 420 since 2021.
	mostEnergyPrice = 2_000
	// mostBandwidthPrice bounds what a node may say that a byte costs, in sun. It is 1,000 since 2021.
	mostBandwidthPrice = 10_000
)

var _ chain.NumberSigner = (*Source)(nil)

// orderTerms are what a transaction has beside its order. Tron's accounts don't number their transactions: two of them
// could both confirm. So a transaction is not replaced by another one before it has expired.
type orderTerms struct {
	RefBytes   string       `json:"ref_block_bytes"`
	RefHash    string       `json:"ref_block_hash"`
	Expiration int64        `json:"expiration"` // milliseconds
	Timestamp  int64        `json:"timestamp"`  // milliseconds
	FeeLimit   int64        `json:"fee_limit"`  // sun
	Fee        money.Amount `json:"fee"`        // the most that the network takes, in sun
	LastBlock  int64        `json:"last_block"` // above which no block of any branch can hold the transaction
}

// spendPrefix returns the text by which a transfer names the account that paid it.
func spendPrefix(a params.Address) string { return a.String() + ":" }

// readTerms reads what PrepareTerms returned, and returns the payment that makes an order on it.
func (s *Source) readTerms(o chain.Order, text string) (p signing.Payment, t orderTerms, err error) {
	if o.Asset != string(money.USDT) {
		return p, t, fmt.Errorf("%s is not sent on %s", o.Asset, s.params.Network())
	}
	err = json.Unmarshal([]byte(text), &t)
	p = signing.Payment{From: o.From, To: o.To.Address, Token: s.params.Token.String(), Amount: o.Amount,
		Expiration: t.Expiration, Timestamp: t.Timestamp, FeeLimit: t.FeeLimit}
	var err2, err3 error
	p.RefBytes, err2 = hex.DecodeString(t.RefBytes)
	p.RefHash, err3 = hex.DecodeString(t.RefHash)
	return p, t, errors.Join(err, err2, err3)
}

const (
	errAlreadySent chain.Refusal = "The transaction that was prepared before is in a block. The send changes in a moment."
	errTokenItself chain.Refusal = "The address is the token's own contract. Money that is sent there is lost."
	errToItself    chain.Refusal = "The address is the wallet's own."
)

// PrepareTerms implements chain.Signer. A transaction that was prepared before and may still confirm is the only one:
// its terms are returned again.
func (s *Source) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	from, err := params.ParseAddress(o.From)
	to, err2 := params.ParseAddress(o.To.Address)
	switch {
	case err != nil || err2 != nil:
		return "", errors.Join(err, err2)
	case to == s.params.Token:
		return "", errTokenItself
	case to == from:
		return "", errToItself
	}
	n, tip, err := s.nodes.Current(ctx)
	if err != nil {
		return "", err
	}
	solid, err := n.fetchLatest(ctx, solidityPaths)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	if earlier != "" {
		valid, err := s.isStillValid(ctx, n, o, earlier, solid)
		switch {
		case err != nil:
			return "", err
		case valid:
			return earlier, nil
		}
	}
	facts, err := n.fetchOrderFacts(ctx, o, from, to)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	terms, err := facts.computeTerms(o)
	if err != nil {
		return "", err
	}
	if err := terms.setTimes(o, tip, solid); err != nil {
		return "", err
	}
	text, err := json.Marshal(terms)
	return string(text), err
}

// isStillValid reports that a transaction which was prepared before may still confirm. One that is in a solidified
// block is refused, unless it failed there: it can't be in another one.
func (s *Source) isStillValid(ctx context.Context, n *server, o chain.Order, earlier string, solid chain.Header) (bool,
	error) {
	p, t, err := s.readTerms(o, earlier)
	if err != nil {
		return false, err
	}
	unsigned, err := signing.BuildUnsigned(p)
	if err != nil {
		return false, err
	}
	var found info
	err = n.postInto(ctx, maxInfoResponse, solidityPaths+"gettransactioninfobyid",
		map[string]any{"value": unsigned.ID}, &found)
	switch {
	case err != nil:
		return false, n.DemoteOnError(ctx, err)
	case found.ID.String() != unsigned.ID: // an empty object, if no solidified block holds it
		return solid.Time.Add(-expirationMargin).UnixMilli() < t.Expiration, nil
	case found.Result == infoFailed:
		return false, nil
	}
	return false, errAlreadySent
}

// setTimes sets the block that a transaction refers to, and until when it is valid. The last numbers of both times are
// the send's, so that two sends of the same amount to the same address have different transactions.
func (t *orderTerms) setTimes(o chain.Order, tip, solid chain.Header) error {
	id, err := readHash(solid.Hash)
	if err != nil {
		return err
	}
	now := tip.Time.UnixMilli()
	t.RefBytes, t.RefHash = hex.EncodeToString(id[6:8]), hex.EncodeToString(id[8:16])
	t.Timestamp = now + int64(binary.BigEndian.Uint16(o.ID[:2]))
	t.Expiration = now + signingTime.Milliseconds() + int64(binary.BigEndian.Uint16(o.ID[2:4]))
	// a block can hold the transaction if the one before it is older than the expiration
	t.LastBlock = tip.Height + (t.Expiration-now)/blockTime.Milliseconds() + 1 + mostUnsolidified
	return nil
}

// orderFacts are a node's answers about an order. Amounts but held are in sun.
type orderFacts struct {
	held           money.Amount // USDT of the account that pays
	trx            int64
	energy         int64 // that the transfer takes; 0 for one that the token's contract refuses
	ownEnergy      int64 // that the account has without paying
	ownBandwidth   int64 // bytes, the same
	energyPrice    int64
	bandwidthPrice int64
}

// accountAnswer is an account's state. An account that isn't there has none.
type accountAnswer struct {
	Balance int64 `json:"balance"` // sun
}

// resourceAnswer is the energy and bandwidth that an account has without paying. Missing numbers are 0.
type resourceAnswer struct {
	FreeLimit   int64 `json:"freeNetLimit"`
	FreeUsed    int64 `json:"freeNetUsed"`
	NetLimit    int64 `json:"NetLimit"`
	NetUsed     int64 `json:"NetUsed"`
	EnergyLimit int64 `json:"EnergyLimit"`
	EnergyUsed  int64 `json:"EnergyUsed"`
}

// parametersAnswer is what the network's representatives decided.
type parametersAnswer struct {
	Parameters []struct {
		Key   string `json:"key"`
		Value int64  `json:"value"`
	} `json:"chainParameter"`
}

// fetchOrderFacts asks a node for the state of the account that pays, and has it try the transfer.
func (n *server) fetchOrderFacts(ctx context.Context, o chain.Order, from, to params.Address) (f orderFacts, err error) {
	var account accountAnswer
	var own resourceAnswer
	var network parametersAnswer
	who := map[string]any{"address": from.Hex()}
	for _, ask := range []struct {
		path    string
		request map[string]any
		into    any
	}{{"getaccount", who, &account}, {"getaccountresource", who, &own}, {"getchainparameters", nil, &network}} {
		if err := n.postInto(ctx, maxSmallResponse, "/wallet/"+ask.path, ask.request, ask.into); err != nil {
			return f, err
		}
	}
	for _, p := range network.Parameters {
		switch p.Key {
		case "getEnergyFee":
			f.energyPrice = p.Value
		case "getTransactionFee":
			f.bandwidthPrice = p.Value
		}
	}
	if f.energyPrice <= 0 || f.energyPrice > mostEnergyPrice || f.bandwidthPrice < 0 ||
		f.bandwidthPrice > mostBandwidthPrice {
		return f, invalidAnswerError(fmt.Errorf("energy for %d sun and bandwidth for %d", f.energyPrice,
			f.bandwidthPrice))
	}
	f.trx = max(account.Balance, 0)
	f.ownEnergy = max(own.EnergyLimit-own.EnergyUsed, 0)
	f.ownBandwidth = max(own.NetLimit-own.NetUsed, own.FreeLimit-own.FreeUsed, 0)
	held, err := n.callToken(ctx, "balanceOf(address)", fmt.Sprintf("%064x", from[:]))
	if err != nil {
		return f, err
	}
	if len(held) != len(word{}) {
		return f, invalidAnswerError(fmt.Errorf("%d bytes for a balance", len(held)))
	}
	f.held = word(held).toAmount()
	tried, err := n.tryToken(ctx, from, "transfer(address,uint256)", signing.TransferParameter(to, o.Amount))
	if err != nil {
		return f, err
	}
	if !tried.Outcome.OK || tried.Outcome.Message != "" {
		return f, nil
	}
	if tried.Energy <= 0 { // a fee limit without it would fail, and take the fee
		return f, invalidAnswerError(fmt.Errorf("%d energy for a transfer", tried.Energy))
	}
	f.energy = min(tried.Energy, mostEnergy)
	return f, nil
}

// computeTerms returns the fee limit and the fee, or a Refusal that names what lacks.
func (f orderFacts) computeTerms(o chain.Order) (t orderTerms, err error) {
	energy := f.energy * energyReserve / 100
	t.FeeLimit = energy * f.energyPrice
	fee := max(energy-f.ownEnergy, 0) * f.energyPrice
	if f.ownBandwidth < transferBytes {
		fee += transferBytes * f.bandwidthPrice
	}
	t.Fee = money.Units(fee)
	trx := func(sun int64) string { return money.TRX.Format(money.Units(sun)) + " TRX" }
	switch {
	case f.held.Cmp(o.Amount) < 0:
		return t, chain.Refusal(fmt.Sprintf("The wallet %s has %s USDT; this send takes %s USDT.", o.From,
			money.USDT.Format(f.held), money.USDT.Format(o.Amount)))
	case f.energy == 0:
		return t, chain.Refusal("The token's contract refuses this transfer. The token's issuer may have blocked one " +
			"of the two addresses.")
	case f.trx < fee:
		return t, chain.Refusal(fmt.Sprintf("The wallet %s has %s; the network's fee takes up to %s. Add TRX to it, or "+
			"rent energy for it.", o.From, trx(f.trx), trx(fee)))
	}
	return t, nil
}

// ReadClaim implements chain.NumberSigner. The key of a transaction is its id: no other one uses it up.
func (s *Source) ReadClaim(o chain.Order, terms string) (chain.Claim, error) {
	p, t, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Claim{}, err
	}
	unsigned, err := signing.BuildUnsigned(p)
	return chain.Claim{Keys: []string{o.From + ":" + unsigned.ID}, Last: t.LastBlock}, err
}

// BuildUnsigned implements chain.Signer.
func (s *Source) BuildUnsigned(o chain.Order, terms string) (chain.Unsigned, error) {
	p, t, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Unsigned{}, err
	}
	unsigned, err := signing.BuildUnsigned(p)
	return chain.Unsigned{Request: string(unsigned.JSON), Fee: t.Fee, FeeAsset: string(money.TRX), Token: p.Token,
		Files: []chain.SigningFile{{Name: "unsigned.json", Type: "application/json", Content: unsigned.JSON}}}, err
}

const errUnsigned chain.InputRefusal = "The transaction isn't signed, or by several keys. Copy what the wallet " +
	"returned after signing."

// CheckSigned implements chain.Signer.
func (s *Source) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	p, t, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Signed{}, nil, err
	}
	checked, differences, err := signing.CheckSigned(p, signed)
	for i, d := range differences {
		switch d.Field {
		case signing.FieldAmount:
			differences[i].Unit = chain.Unit{Name: string(money.USDT), Decimals: money.USDT.Decimals()}
		case signing.FieldValue, signing.FieldFeeLimit:
			differences[i].Unit = chain.Unit{Name: string(money.TRX), Decimals: money.TRX.Decimals()}
		}
	}
	if errors.Is(err, signing.ErrSignature) {
		err = errUnsigned
	}
	return chain.Signed{Hash: checked.ID, Raw: checked.Raw, Fee: t.Fee}, differences, err
}

// broadcastAnswer is the answer to a transaction that is handed to a node.
type broadcastAnswer struct {
	OK      bool   `json:"result"`
	Code    string `json:"code"`
	Message string `json:"message"` // in hexadecimal
}

// Broadcast implements chain.Signer.
func (s *Source) Broadcast(ctx context.Context, raw string) error {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return err
	}
	var answer broadcastAnswer
	err = n.postInto(ctx, maxSmallResponse, "/wallet/broadcasthex", map[string]any{"transaction": raw}, &answer)
	if err != nil {
		return n.DemoteOnError(ctx, err)
	}
	return answer.describeRefusal()
}

// describeRefusal says why a node doesn't send a transaction, by the codes of java-tron's Return.response_code; nil
// where it does, or has it already.
func (a broadcastAnswer) describeRefusal() error {
	switch a.Code {
	case "", "SUCCESS", "DUP_TRANSACTION_ERROR":
		if a.OK || a.Code != "" {
			return nil
		}
	case "TRANSACTION_EXPIRATION_ERROR":
		return chain.Refusal("The transaction is too old for the network. Prepare the send again, and sign that one.")
	case "TAPOS_ERROR":
		return chain.Refusal("The transaction refers to a block that the node doesn't have. Try again in a minute.")
	case "BANDWITH_ERROR": // so spelled
		return chain.Refusal("The wallet has too little TRX for the transaction's bandwidth. Add TRX to it.")
	case "SERVER_BUSY", "NO_CONNECTION", "NOT_ENOUGH_EFFECTIVE_CONNECTION", "BLOCK_UNSOLIDIFIED":
		return chain.Refusal("The node can't take transactions now. Try again in a minute.")
	}
	message, err := hex.DecodeString(a.Message)
	if err != nil {
		message = []byte(a.Message)
	}
	return chain.Refusal("The node refused the transaction: " +
		node.PrintableText(fmt.Sprintf("%s %s", a.Code, message)) + ".")
}

// TokenContract implements chain.TokenSigner.
func (s *Source) TokenContract() string { return s.params.Token.String() }

// ParseAccount implements chain.Signer.
func (s *Source) ParseAccount(address string) (account, prefix string, err error) {
	a, err := params.ParseAddress(address)
	if err != nil || a == (params.Address{}) {
		return "", "", chain.InputRefusal("Must be an account of Tron: T and 33 more letters and digits.")
	}
	return a.String(), spendPrefix(a), nil
}
