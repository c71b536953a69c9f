package xrpl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/params"
	"cointill/chain/xrpl/signing"
	"cointill/core/money"
)

const (
	// signingLedgers is for how many ledgers a prepared transaction is valid: some 75 minutes, so
	// that a wallet without a network connection has the time.
	signingLedgers = 1200
	// leastFee and mostFee bound the fee in drops. The network usually asks for 10.
	leastFee, mostFee = 20, 10_000
)

var _ chain.NumberSigner = (*Source)(nil)

// orderTerms are what a transaction has beside its order.
type orderTerms struct {
	Sequence   uint32       `json:"sequence"`
	Fee        money.Amount `json:"fee"`
	LastLedger uint32       `json:"last_ledger_sequence"`
}

// PrepareTerms implements chain.Signer.
func (s *Source) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return "", err
	}
	payer, err := n.fetchAccount(ctx, o.From)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	payee, err := n.fetchAccount(ctx, o.To.Address)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	terms := orderTerms{Sequence: payer.Sequence, Fee: n.fetchFee(ctx),
		LastLedger: uint32(payer.Ledger + signingLedgers)}
	if earlier != "" {
		var before orderTerms
		if err := json.Unmarshal([]byte(earlier), &before); err != nil {
			return "", err
		}
		if before.Sequence < payer.Sequence {
			return "", chain.NumberTaken
		}
		terms.Sequence = before.Sequence
	}
	if err := checkAccounts(o, terms, payer, payee); err != nil {
		return "", err
	}
	text, err := json.Marshal(terms)
	return string(text), err
}

// checkAccounts refuses an order that the ledger would not make.
func checkAccounts(o chain.Order, t orderTerms, payer, payee Account) error {
	xrp := func(drops money.Amount) string { return money.XRP.Format(drops) + " XRP" }
	switch free := payer.Balance.Sub(payer.Reserve); {
	case !payer.Exists:
		return chain.Refusal("The account " + o.From + " is not on the ledger.")
	case free.Cmp(o.Amount.Add(t.Fee)) < 0:
		return chain.Refusal(fmt.Sprintf("The account %s has %s beside its reserve of %s; this send "+
			"takes %s and a fee of %s.", o.From, xrp(free), xrp(payer.Reserve), xrp(o.Amount), xrp(t.Fee)))
	case !payee.Exists && o.Amount.Cmp(payee.Reserve) < 0:
		return chain.Refusal("The recipient's account is not on the ledger yet. The first payment to it " +
			"must be at least " +
			xrp(payee.Reserve) + ".")
	case payee.RequireTag && o.To.Tag == nil:
		return chain.Refusal("The recipient's account takes payments with a destination tag only. Ask for the tag.")
	case payee.DepositAuth:
		return chain.Refusal("The recipient's account takes payments only from accounts that it has " +
			"allowed. Ask for another address.")
	}
	return nil
}

// feeResult is the answer to the command fee.
type feeResult struct {
	apiError
	Drops struct {
		Open jsontext.Value `json:"open_ledger_fee"`
	} `json:"drops"`
}

// fetchFee returns twice the fee that the open ledger asks for, within its bounds. A server that
// doesn't answer leaves the least.
func (r *rpc) fetchFee(ctx context.Context) money.Amount {
	answer, err := callCommand(ctx, r, maxSmallResponse, "fee", nil, func() *feeResult { return new(feeResult) })
	if err != nil {
		return money.Units(leastFee)
	}
	drops, _ := parseDrops(answer.Drops.Open) // 0 if it is no amount
	return money.Units(min(max(2*drops, leastFee), mostFee))
}

// readTerms reads what PrepareTerms returned, and returns the payment that makes an order on it.
func (s *Source) readTerms(o chain.Order, text string) (p signing.Payment, t orderTerms, err error) {
	err = json.Unmarshal([]byte(text), &t)
	return signing.Payment{Account: o.From, Destination: o.To.Address, Tag: o.To.Tag, Amount: o.Amount, Fee: t.Fee,
		Sequence: t.Sequence, LastLedgerSequence: t.LastLedger, InvoiceID: o.ID, NetworkID: s.params.ID}, t, err
}

// ReadClaim implements chain.NumberSigner.
func (s *Source) ReadClaim(o chain.Order, terms string) (chain.Claim, error) {
	_, t, err := s.readTerms(o, terms)
	number := fmt.Sprint(t.Sequence)
	return chain.Claim{Keys: []string{o.From + ":" + number}, Last: int64(t.LastLedger), Number: number}, err
}

// BuildUnsigned implements chain.Signer.
func (s *Source) BuildUnsigned(o chain.Order, terms string) (chain.Unsigned, error) {
	p, t, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Unsigned{}, err
	}
	unsigned, err := signing.BuildUnsigned(p)
	return chain.Unsigned{Fee: t.Fee, FeeAsset: string(money.XRP), Files: []chain.SigningFile{
		{Name: "unsigned.json", Type: "application/json", Content: unsigned}}}, err
}

// CheckSigned implements chain.Signer.
func (s *Source) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	p, _, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Signed{}, nil, err
	}
	checked, differences, err := signing.CheckSigned(p, signed)
	for i, d := range differences {
		switch d.Field {
		case signing.FieldAmount, signing.FieldFee, signing.FieldSendMax, signing.FieldDeliverMin:
			differences[i].Unit = chain.Unit{Name: string(money.XRP), Decimals: money.XRP.Decimals()}
		}
	}
	return chain.Signed{Hash: checked.Hash, Raw: checked.Raw, Fee: checked.Fee}, differences, err
}

// submitResult is the answer to the command submit.
type submitResult struct {
	apiError
	Result  string `json:"engine_result"`
	Message string `json:"engine_result_message"`
}

// Broadcast implements chain.Signer.
func (s *Source) Broadcast(ctx context.Context, raw string) error {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return err
	}
	answer, err := callCommand(ctx, n.rpc, maxSmallResponse, "submit", map[string]any{"tx_blob": raw},
		func() *submitResult { return new(submitResult) })
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		return chain.Refusal("The server refused the transaction: " + refused.Error() + ".")
	case err != nil:
		return n.DemoteOnError(ctx, err)
	}
	return answer.describeResult()
}

// describeResult says why a server doesn't send a transaction; nil where it does, or has it already.
func (r *submitResult) describeResult() error {
	switch r.Result {
	case resultSuccess, "terQUEUED", "tefALREADY":
		return nil
	case "tefPAST_SEQ":
		return chain.NumberTaken
	case "tefMAX_LEDGER":
		return chain.Refusal("The transaction is too old for the ledger. Prepare the send again, and sign that one.")
	case "telINSUF_FEE_P", "terINSUF_FEE_B":
		return chain.Refusal("Its fee is too low now, or the account can't pay it. Prepare the send again.")
	}
	return chain.Refusal("The server refused the transaction: " + node.PrintableText(r.Result) + ".")
}

// ParseAccount implements chain.Signer.
func (s *Source) ParseAccount(address string) (account, spendPrefix string, err error) {
	a, err := params.ParseAccount(address)
	if err != nil {
		return "", "", chain.InputRefusal("Must be an account of the XRP Ledger that begins with r.")
	}
	return a.String(), a.String() + ":", nil
}

// invoiceOf returns what identifies a payment that names an invoice: its account and its InvoiceID.
func invoiceOf(tx *txBody) string {
	if id, err := hex.DecodeString(tx.InvoiceID); err != nil || len(id) != 32 {
		return ""
	}
	return tx.Account + ":" + strings.ToUpper(tx.InvoiceID)
}
