package xrpl

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// Flags of an account that affect incoming payments.
const (
	flagRequireTag  = 0x00020000
	flagDisallowXRP = 0x00080000
	flagDepositAuth = 0x01000000
)

// Account describes an account in the last validated ledger.
type Account struct {
	// Exists says that the account is funded. Otherwise only Reserve is set, and payments smaller
	// than Reserve fail.
	Exists bool
	// RequireTag says that the network rejects payments without a destination tag.
	RequireTag bool
	// DepositAuth says that the network rejects payments from accounts that are not authorized.
	DepositAuth bool
	// DisallowXRP asks wallets not to send XRP. The network does not enforce it.
	DisallowXRP bool
	Balance     money.Amount // drops
	// Reserve is the balance in drops that the network requires of any account, existing or not;
	// 0 if the server does not report it.
	Reserve money.Amount
	Ledger  int64 // the ledger's index
	// Sequence is the number of the account's next transaction.
	Sequence uint32
}

// accountResult is the answer to the command account_info.
type accountResult struct {
	apiError
	Data struct {
		Account string         `json:"Account"`
		Balance jsontext.Value `json:"Balance"`
		Flags   uint32         `json:"Flags"`
		// Sequence is the number of the next transaction.
		Sequence uint32 `json:"Sequence"`
	} `json:"account_data"`
	LedgerIndex int64 `json:"ledger_index"`
	Validated   bool  `json:"validated"`
}

// reserveResult holds the reserve from the answer to the command server_info.
type reserveResult struct {
	apiError
	Info struct {
		Validated struct {
			Reserve jsontext.Value `json:"reserve_base_xrp"`
		} `json:"validated_ledger"`
	} `json:"info"`
}

// Account looks up the account that a merchant enters. It is no error if the account does not
// exist. Account asks only one server, because the answer credits nothing.
func (s *Source) Account(ctx context.Context, account params.Account) (found Account, err error) {
	current, _, err := s.nodes.Current(ctx)
	if err != nil {
		return Account{}, err
	}
	for _, n := range s.orderServers(current, 0) {
		if found, err = n.fetchAccount(ctx, account.String()); err == nil || ctx.Err() != nil {
			return found, err
		}
		var told chain.Problem
		if err = n.DemoteOnError(ctx, err); !errors.As(err, &told) {
			err = chain.Problem("The account can't be looked up now. Try again in a moment.")
		}
	}
	return Account{}, err
}

func (r *rpc) fetchAccount(ctx context.Context, address string) (Account, error) {
	asked := map[string]any{"account": address, "ledger_index": "validated"}
	answer, err := callCommand(ctx, r, maxSmallResponse, "account_info", asked, func() *accountResult {
		return new(accountResult)
	})
	if hasCode(err, codeNoAccount) {
		return Account{Reserve: r.fetchReserve(ctx)}, nil
	}
	if err != nil {
		return Account{}, err
	}
	balance, ok := parseDrops(answer.Data.Balance)
	if !ok || answer.Data.Account != address || !answer.Validated || answer.LedgerIndex <= 0 {
		return Account{}, invalidAnswerError(errors.New("account_info makes no sense"))
	}
	has := func(flag uint32) bool { return answer.Data.Flags&flag != 0 }
	return Account{Reserve: r.fetchReserve(ctx), Exists: true, RequireTag: has(flagRequireTag),
		DepositAuth: has(flagDepositAuth), DisallowXRP: has(flagDisallowXRP),
		Balance: money.Units(balance), Ledger: answer.LedgerIndex, Sequence: answer.Data.Sequence}, nil
}

// fetchReserve returns the reserve of an account for display, or 0 if it cannot be read.
func (r *rpc) fetchReserve(ctx context.Context) money.Amount {
	answer, err := callCommand(ctx, r, maxSmallResponse, "server_info", nil, func() *reserveResult {
		return new(reserveResult)
	})
	if err != nil {
		return money.Amount{}
	}
	text := string(answer.Info.Validated.Reserve)
	whole, part, _ := strings.Cut(text, ".")
	if len(whole) > 6 || len(part) > 6 {
		return money.Amount{}
	}
	drops, _ := strconv.ParseUint(whole+part+strings.Repeat("0", 6-len(part)), 10, 63) // 0 if it is no number
	return money.Units(int64(drops))
}
