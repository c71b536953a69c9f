// Package receiving changes what a business receives its payments with: the one
// act that decides where its money goes. It asks for the password again, and
// stores the change, the audit row and a mail to every owner together, so that
// none is ever without the others (contract section 9).
package receiving

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// noticeKind is what the mails to owners are.
const noticeKind = "receiving_changed"

// Service changes wallets. Its fields are set once, before use.
type Service struct {
	DB      *models.DB
	Clock   clock.Clock
	Users   auth.Reauthenticator
	Wallets *wallet.Service
	Mails   mail.Notifier
	// Render writes the mail that tells an owner.
	Render func(Notice) (subject, text, html string)
	// Pages is the address below which each payment method has its page, for
	// the link in the mail: https://till.example/dashboard/methods.
	Pages string
	// Wake is called after mails were queued; it may be nil.
	Wake func()
}

// Change is what an owner asks for, with what shows that it is them.
type Change struct {
	Chain       money.Chain
	Key, Script string // as wallet.ParseKey takes them, or an account of the XRP Ledger
	Proof       auth.Proof
}

// Notice is the mail to one owner about a change.
type Notice struct {
	Owner    auth.User // whom it tells
	By       auth.User // who did it; zero for the operator of the server
	Business string
	Domain   scope.Domain
	Chain    money.Chain
	Network  string // such as "bitcoin-mainnet"
	Key      string // shortened, unless it is an account
	Script   string
	Former   string   // the key before, shortened; "" when there was none
	First    []string // the first addresses
	At       time.Time
	URL      string // of the page with the wallet
}

// ChangeWallet makes new payments on a chain use a key. changed is false when they use it
// already, which asks for no password and sends no mail. Invalid (key, script,
// password, code), Conflict (key_in_use, no_network), Limited after wrong passwords,
// Forbidden without the right.
func (s *Service) ChangeWallet(ctx context.Context, sc scope.Scope, c Change) (used models.Wallet,
	changed bool, err error) {
	preview, err := s.Wallets.Preview(ctx, sc, c.Chain, c.Key, c.Script) // the role is checked here first
	if err != nil {
		return models.Wallet{}, false, err
	}
	present, found, err := s.Wallets.Active(ctx, sc, c.Chain)
	if err != nil {
		return models.Wallet{}, false, err
	}
	if found && IsSame(present.Wallet, preview.Fingerprint, preview.Script) &&
		present.Wallet.Networks == preview.Networks {
		return present.Wallet, false, nil
	}
	by, err := s.Users.Reauthenticate(ctx, sc, c.Proof)
	if err != nil {
		return models.Wallet{}, false, s.recordRefused(ctx, sc, c, err)
	}
	return s.writeChange(ctx, sc, c, changeDetails{By: by, Preview: preview})
}

// ChangeByOperator is ChangeWallet by the operator at the command line, which asks for no password.
// Owners get the same mail.
func (s *Service) ChangeByOperator(ctx context.Context, sc scope.Scope, c Change) (models.Wallet,
	wallet.Preview, error) {
	preview, err := s.Wallets.Preview(ctx, sc, c.Chain, c.Key, c.Script)
	if err != nil {
		return models.Wallet{}, preview, err
	}
	used, _, err := s.writeChange(ctx, sc, c, changeDetails{Preview: preview})
	return used, preview, err
}

func (s *Service) writeChange(ctx context.Context, sc scope.Scope, c Change, details changeDetails) (
	used models.Wallet, changed bool, err error) {
	if err := s.Wallets.Prepare(ctx, sc, c.Chain, c.Key, c.Script); err != nil {
		return used, false, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		used, changed, err = s.storeChange(tx, sc, c, details)
		return err
	})
	if err == nil && changed && s.Wake != nil {
		s.Wake()
	}
	return used, changed, err
}

// changeDetails are what mails say beside the change itself.
type changeDetails struct {
	By      auth.User
	Preview wallet.Preview
}

// storeChange writes the change with its audit row and mails. Of two that come
// together the later one sees what the earlier one did.
func (s *Service) storeChange(tx *models.Tx, sc scope.Scope, c Change, details changeDetails) (
	used models.Wallet, changed bool, err error) {
	var business models.Business
	if err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id = ?", sc.BusinessID).
		Take(&business).Error; err != nil {
		return used, false, err
	}
	var before []models.Wallet
	if err := sc.Rows(tx).Where("active").Find(&before).Error; err != nil {
		return used, false, err
	}
	if used, err = s.Wallets.Use(tx, sc, c.Chain, c.Key, c.Script, sc.Actor); err != nil {
		return used, false, err
	}
	former := ""
	for _, w := range before {
		if w.Network != used.Network {
			continue
		}
		if w.ID == used.ID && IsSame(w, used.Fingerprint, used.Script) && w.Networks == used.Networks {
			return used, false, nil
		}
		former = DescribeKey(w.Key, w.Script)
	}
	now := s.Clock()
	detail := map[string]string{"before": former, "after": DescribeKey(used.Key, used.Script), "script": used.Script,
		"fingerprint": used.Fingerprint}
	if used.Networks != "" {
		detail["networks"] = used.Networks
	}
	if err := audit.Record(tx, sc, now, "wallet.changed", used.Network, detail); err != nil {
		return used, false, err
	}
	n := Notice{By: details.By, Business: business.Name, Domain: sc.Domain, Chain: c.Chain, Network: used.Network,
		Key: DescribeKey(used.Key, used.Script), Script: used.Script,
		Former: former, First: details.Preview.Addresses, At: now.In(clock.LoadZone(business.TimeZone)),
		URL: s.walletPage(c.Chain)}
	return used, true, s.mailOwners(tx, sc, used, n)
}

// mailOwners queues a mail to each owner.
func (s *Service) mailOwners(tx *models.Tx, sc scope.Scope, used models.Wallet, n Notice) error {
	owners, err := account.Owners(tx, sc.BusinessID)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		n.Owner = owner
		subject, text, html := s.Render(n)
		err := s.Mails.Notify(tx, mail.Notice{BusinessID: sc.BusinessID, Domain: sc.Domain, Kind: noticeKind,
			About: mailSubject(used, n),
			To:    n.Owner.Email, ToName: n.Owner.Name, Subject: subject, Text: text, HTML: html})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordRefused records a wrong password, so that the use of a stolen session shows.
func (s *Service) recordRefused(ctx context.Context, sc scope.Scope, c Change, why error) error {
	if fault.KindOf(why) != fault.Invalid {
		return why
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		return audit.AppendAct(tx, sc, s.Clock(), audit.Act{Action: "wallet.change_refused", Subject: string(c.Chain),
			Detail: map[string]string{"why": "password"}, Refused: true})
	})
	if err != nil {
		return err
	}
	return why
}

// ListHistory lists the wallets that the scope's payments on a chain were ever
// received with, the present one among them, the latest change first, at most
// 100. All of them stay watched. A prepared wallet that was not used yet is left
// out: it was never announced.
func (s *Service) ListHistory(ctx context.Context, sc scope.Scope, c money.Chain) ([]models.Wallet, error) {
	if err := sc.CheckAction(scope.SeeMethods); err != nil {
		return nil, err
	}
	var rows []models.Wallet
	err := sc.Rows(s.DB.Read(ctx)).Where("network LIKE ? AND created_by <> ''", string(c)+"-%").
		Order("active DESC, updated_at DESC, id DESC").Limit(100).Find(&rows).Error
	return rows, err
}

// IsSame reports whether a wallet is the requested one: it has the same addresses,
// however the key is written, or the same account, even if others share it.
func IsSame(w models.Wallet, fingerprint, script string) bool {
	return w.Script == script && (w.Fingerprint == fingerprint || script == wallet.ScriptAccount &&
		w.Account == fingerprint)
}

// walletPage returns the page of a chain's wallet, by its first coin. Tron's is known by the network.
func (s *Service) walletPage(c money.Chain) string {
	if c == money.Tron {
		return s.Pages + "/" + string(c) + "/wallet"
	}
	for _, coin := range money.Coins() {
		if coin.Chain == c {
			return s.Pages + "/" + string(coin.Method) + "/wallet"
		}
	}
	return s.Pages
}

// mailSubject makes a mail unique: one for each change and owner.
func mailSubject(used models.Wallet, n Notice) string {
	return fmt.Sprintf("wallet %d at %d for user %d", used.ID, n.At.UnixMicro(), n.Owner.ID)
}
