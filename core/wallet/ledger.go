package wallet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// ScriptAccount is what wallets of the XRP Ledger have in place of a script:
// every payment goes to the account itself, with a destination tag of its own.
const ScriptAccount = "account"

// Ledger is a network of the XRP Ledger, and how its accounts are looked up.
type Ledger struct {
	Params params.Params
	// Look finds out how an account is set up now. That it doesn't exist is no
	// error; one that is or wraps a chain.Problem is shown to people.
	Look func(ctx context.Context, account params.Account) (LedgerAccount, error)
}

// LedgerAccount is how an account is set up on its network.
type LedgerAccount struct {
	Exists      bool // the rest means nothing otherwise, but for Reserve
	RequireTag  bool // the network refuses payments without a tag
	DepositAuth bool // the network refuses payments by strangers
	DisallowXRP bool // wallets are asked not to send XRP
	Balance     money.Amount
	Reserve     money.Amount // the least that an account must hold; 0 where it is unknown
}

// Problem is why payments to the account would fail; "" when they wouldn't.
// The network is named as people know it.
func (a LedgerAccount) Problem(network fault.Message) fault.Message {
	switch {
	case !a.Exists && a.Reserve.Sign() > 0:
		return fault.NewMessage("This account does not exist on %s yet, so small payments to it would fail. An "+
			"account comes into being when it is sent the network's reserve, now %s XRP, or more at once. Send that "+
			"to it, or check the address, and try again.", network, formatPlain(money.XRP, a.Reserve))
	case !a.Exists:
		return fault.NewMessage("This account does not exist on %s yet, so small payments to it would fail. An "+
			"account comes into being when it is sent the network's reserve at once. Send that to it, or check the "+
			"address, and try again.", network)
	case a.DepositAuth:
		return fault.NewMessage("This account has Deposit Authorization switched on, so %s refuses payments by "+
			"everybody whom it has not let in, your customers among them. Switch it off in your wallet (an "+
			"AccountSet transaction with ClearFlag 9, asfDepositAuth), and try again.", network)
	}
	return fault.Message{}
}

// findLedger returns the network of the XRP Ledger that serves a chain in a domain.
func (s *Service) findLedger(domain scope.Domain, c money.Chain) (Ledger, bool) {
	if c != money.XRPL {
		return Ledger{}, false
	}
	l, ok := s.Ledgers[domain]
	return l, ok
}

// isLedger reports whether a network with a name such as xrp-mainnet is real.
func isLedger(network string) bool {
	name, ok := strings.CutPrefix(network, string(money.XRPL)+"-")
	_, known := params.Lookup(name)
	return ok && known
}

// readAccount reads what a merchant enters as their account. Errors never repeat
// it: it may be a secret.
func readAccount(text string, p params.Params) (params.Account, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return params.Account{}, errKey("Enter the address of your account. It begins with r.")
	case isLedgerPublic(text):
		return params.Account{},
			errKey("This is the public key of an account. It is no secret, and nothing is wrong, but what is " +
				"needed here is the account's address, which begins with r.")
	case holdsPrivate(text) || holdsLedgerSecret(text):
		return params.Account{},
			refuseSecret("key", fault.NewMessage("This looks like a secret of a wallet: a seed, a private key, or "+
				"secret words or numbers."), fault.NewMessage("What is needed here is the account's address, which "+
				"begins with r."))
	case len(text) > MaxKey:
		return params.Account{}, errKey("That is longer than any address.")
	}
	account, tag, err := params.Read(text, p)
	switch {
	case errors.Is(err, params.ErrTestAddress):
		return account, errKey("This address begins with T, as only addresses on test networks do. Payments here "+
			"come on %s: enter the address of your account there. It begins with r, or with %s.", ledgerName(p),
			xLetter(p))
	case errors.Is(err, params.ErrMainAddress):
		return account, errKey("This address begins with X, as only addresses on the main network do. Payments here "+
			"come on %s: enter the address of your account there. It begins with r, or with %s.", ledgerName(p),
			xLetter(p))
	case err != nil:
		return account, errKey("This is no address of the XRP Ledger: a character may be missing or mistyped. It "+
			"begins with r, or with %s when it is an X-address.", xLetter(p))
	case tag != nil:
		return account, errKey("This X-address has the destination tag %d in it, and every payment needs a tag of "+
			"its own. An address with a fixed tag is mostly that of a deposit at an exchange, which can't be used "+
			"here: the exchange would not know your customers' tags. Enter the address of an account whose keys "+
			"only you have.", *tag)
	}
	return account, nil
}

// xLetter is what X-addresses of a network begin with.
func xLetter(p params.Params) string {
	if p.Test {
		return "T"
	}
	return "X"
}

// ledgerName is what sentences call a network of the XRP Ledger.
func ledgerName(p params.Params) fault.Message {
	if p.Test {
		return fault.NewMessage("the XRP Ledger's test network %s", p.Name)
	}
	return fault.NewMessage("the XRP Ledger")
}

// previewAccount looks an account up and refuses one that can't be paid to.
func (l Ledger) previewAccount(ctx context.Context, text string) (Preview, error) {
	account, err := readAccount(text, l.Params)
	if err != nil {
		return Preview{}, err
	}
	found, err := l.Look(ctx, account)
	if err != nil {
		said := fault.NewMessage("No server of the network answered.")
		var known chain.Problem
		if errors.As(err, &known) {
			said = fault.Verbatim(string(known))
		}
		return Preview{}, fault.New(fault.Unavailable, "lookup_failed",
			"The account can't be looked up on %s now, and is not used unseen. Try again in a moment. %s",
			ledgerName(l.Params), said).Because(err)
	}
	if problem := found.Problem(ledgerName(l.Params)); !problem.IsZero() {
		return Preview{}, fault.Validation(fault.Fields{"key": {problem}})
	}
	address := account.String()
	return Preview{Format: ScriptAccount, Script: ScriptAccount, Scripts: []string{ScriptAccount}, Key: address,
		Fingerprint: address,
		Addresses:   []string{address}, Account: &found}, nil
}

// useAccount is Use for an account. The account stays watched from now on, and money
// that it receives for no payment is listed with the business that entered it first.
func (s *Service) useAccount(tx *models.Tx, sc scope.Scope, l Ledger, text, actor string) (models.Wallet, error) {
	account, err := readAccount(text, l.Params)
	if err != nil {
		return models.Wallet{}, err
	}
	network, address, now := string(l.Params.Network()), account.String(), s.Clock()
	if err := lockNetwork(tx, network); err != nil {
		return models.Wallet{}, err
	}
	var entered []models.Wallet
	if err := tx.Where("network = ? AND account = ?", network, address).Order("id").Find(&entered).Error; err != nil {
		return models.Wallet{}, err
	}
	row := models.Wallet{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: network, Key: address,
		Script:      ScriptAccount,
		Fingerprint: address, Account: address, Active: true, CreatedBy: actor, CreatedAt: now, UpdatedAt: now}
	own := slices.IndexFunc(entered, func(w models.Wallet) bool {
		return w.BusinessID == sc.BusinessID &&
			w.Domain == string(sc.Domain)
	})
	switch {
	case own >= 0 && entered[own].Active:
		return entered[own], nil
	case own >= 0:
		row = entered[own]
	case len(entered) > 0 && !s.SharedAccounts:
		return models.Wallet{}, fault.New(fault.Conflict, "key_in_use",
			"This account already receives for another business. Use an account of its own for each business, "+
				"or ask the operator of this server to allow shared accounts.")
	case len(entered) > 0: // the bare address is the first business's
		row.Fingerprint = fmt.Sprintf("%s for business %d in %s", address, sc.BusinessID, sc.Domain)
	}
	off := sc.Rows(tx.Model(&models.Wallet{})).Where("network = ? AND active", network).
		Updates(map[string]any{"active": false, "updated_at": now})
	if off.Error != nil {
		return models.Wallet{}, off.Error
	}
	if err := shareDestination(tx, models.Destination{Network: network, Address: address, BusinessID: sc.BusinessID,
		Domain: string(sc.Domain), CreatedAt: now}); err != nil {
		return models.Wallet{}, err
	}
	if row.ID == 0 {
		return row, tx.Create(&row).Error
	}
	row.Active, row.UpdatedAt = true, now
	return row, tx.Model(&models.Wallet{}).Where("id = ?", row.ID).
		Updates(map[string]any{"active": true, "updated_at": now}).Error
}

// assignTag gives the payment an address with a tag that no payment of any business had
// before. Tags are random, so that they can't be guessed.
func assignTag(tx *models.Tx, p *models.Payment, address string, now time.Time, fresh func() uint32) (Place, error) {
	row := models.Destination{Network: p.Network, Address: address, BusinessID: p.BusinessID, Domain: p.Domain,
		CreatedAt: now}
	if err := shareDestination(tx, row); err != nil {
		return Place{}, err
	}
	for range 8 {
		tag := fresh()
		if tag == 0 {
			continue // many wallets send it for "no tag"
		}
		row.ID, row.Tag, row.PaymentID = 0, int64(tag), &p.ID
		made := tx.Clauses(onePlace).Create(&row)
		if made.Error != nil {
			return Place{}, made.Error
		}
		if made.RowsAffected == 1 {
			return Place{Address: address, Tag: &tag}, nil
		}
	}
	return Place{}, errors.New("wallet: every destination tag tried was taken")
}

// shareDestination notes the account that tags hang on, so that money without a known tag is
// still seen and known to be the business's. It stays whose it was first.
func shareDestination(tx *models.Tx, row models.Destination) error {
	row.Tag = NoTag
	return tx.Clauses(onePlace).Create(&row).Error
}
