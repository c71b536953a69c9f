package wallet

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// Looked is how many addresses of each branch Find looks through.
const Looked = 1_000

// previewed is how many addresses a merchant compares with their wallet.
const previewed = 5

// Preview is what a merchant is shown of a key before it is used.
type Preview struct {
	Format  string   // xpub, zpub, dgub …, or descriptor
	Script  string   // pkh, sh(wpkh), wpkh or tr
	Scripts []string // that could be chosen instead; only Script where the key itself says it
	Key     string   // as it would be stored: a descriptor with its checksum
	// Fingerprint is what a wallet is known by, however its key is written.
	Fingerprint string
	Path        string   // of all addresses: "0/*"
	Addresses   []string // the first five
	Paths       []string // of each of them, below the account: "0/0"
	// Begins is the index of the first address that payments get, where that isn't
	// the first of a new key, as the database was restored; else 0. Those before it are
	// watched in every kind of Scripts.
	Begins int64
	// Networks are the codes of those that one address is entered for, with spaces between them; "" for keys.
	Networks string
	// Account is how an account of the XRP Ledger is set up now; nil for keys. Key
	// is then its classic address, and there is nothing to choose.
	Account *LedgerAccount
}

// Preview reads a key, or an account of the XRP Ledger, and shows its addresses.
// Nothing is stored. Errors are ParseKey's; Conflict (no_network)
// where no such key is needed; Forbidden for a role that may not set where money
// goes; Unavailable (lookup_failed) while an account can't be looked up.
func (s *Service) Preview(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) (Preview, error) {
	if l, ok := s.findLedger(sc.Domain, c); ok {
		if err := sc.CheckAction(scope.SetReceiving); err != nil {
			return Preview{}, err
		}
		return l.previewAccount(ctx, key)
	}
	k, err := s.parseKey(sc, c, key, script)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Format: k.Format(), Script: k.Script(), Scripts: []string{k.Script()}, Key: k.String(),
		Fingerprint: k.Fingerprint(), Path: strings.TrimSuffix(k.Path(0), "0") + "*"}
	if k.list == nil && k.net.KeyVersions[[4]byte(k.account.Version())] == "" && k.Format() != "descriptor" {
		p.Scripts = k.net.Scripts
	}
	for i := range int64(previewed) {
		if k.list != nil && k.countLeft(i) == 0 {
			break
		}
		address, err := k.Address(i)
		if err != nil {
			return Preview{}, err
		}
		p.Addresses, p.Paths = append(p.Addresses, address), append(p.Paths, k.Path(i))
	}
	if k.script == ScriptAddress {
		return p, s.previewAddress(ctx, sc, k, &p)
	}
	p.Begins, err = firstIndex(s.DB.Read(ctx), k)
	return p, err
}

// Find tells whether an address is among the first 1,000 of the account's
// receive or change branch, and its index there, so that merchants can check a
// key with any address they know. Errors are Preview's, and Validation for the
// field "address" where the text is none of the network's, or of another kind than the key makes.
func (s *Service) Find(ctx context.Context, sc scope.Scope, c money.Chain, key, script, address string) (index int64,
	ok bool, err error) {
	k, err := s.parseKey(sc, c, key, script)
	if err != nil {
		return 0, false, err
	}
	wanted, err := k.normalizeAddress(address)
	if err != nil {
		return 0, false, err
	}
	if k.list != nil {
		index, ok = k.findListed(wanted)
		return index, ok, nil
	}
	for i := range int64(Looked) {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		for _, b := range []branch{k.receive, k.change} {
			if found, err := k.deriveAt(b, i); err == nil && found == wanted {
				return i, true, nil
			}
		}
	}
	return 0, false, nil
}

// normalizeAddress brings an address to the spelling that Address has.
func (k Key) normalizeAddress(address string) (string, error) {
	address = strings.TrimSpace(address)
	var output []byte
	if len(address) <= 128 {
		output = k.net.Script(address)
	}
	kind := ""
	switch {
	case output == nil:
		return "", fault.RefuseField("address", "This is no address of %s.", networkName(k.net))
	case len(output) == 20:
		kind = k.script // there is one kind only
	case len(output) == 25:
		kind = ScriptPKH
	case len(output) == 23:
		kind = ScriptShWPKH
	case len(output) == 22:
		kind = ScriptWPKH
	case output[0] != 0:
		kind = ScriptTaproot
	}
	switch kind {
	case k.script:
		return k.net.Address(output), nil
	case "":
		return "", fault.RefuseField("address", "This address belongs to %s, whose keys can't be used here.", several)
	}
	return "", fault.RefuseField("address", "This is a %s address, and the key is read as %s. If it comes from the "+
		"same account, choose that kind or enter the key that your wallet shows for it.", ScriptName(kind),
		ScriptName(k.script))
}

// Use makes a key what new payments of the scope are received with, in the
// caller's transaction, after Prepare. A branch that the business had in use
// before comes back with its next index, in the format and script that it has
// now; another branch of its account begins at 0, or where Prepare left it.
// Addresses already given out stay watched whatever is used. Errors are
// Preview's; Conflict (key_in_use) when another business, or the other domain,
// has the branch or its account.
func (s *Service) Use(tx *models.Tx, sc scope.Scope, c money.Chain, key, script, actor string) (models.Wallet, error) {
	if l, ok := s.findLedger(sc.Domain, c); ok {
		if err := sc.CheckAction(scope.SetReceiving); err != nil {
			return models.Wallet{}, err
		}
		return s.useAccount(tx, sc, l, key, actor)
	}
	k, err := s.parseKey(sc, c, key, script)
	if err != nil {
		return models.Wallet{}, err
	}
	if err := checkFree(tx, k, sc); err != nil {
		return models.Wallet{}, err
	}
	first, err := firstIndex(tx, k)
	if err == nil && first > 0 {
		// Prepare didn't know it yet
		err = errKey("This server was restored from a backup just now. Enter the key once more.")
	}
	if err != nil {
		return models.Wallet{}, err
	}
	row := s.newWallet(k, sc, actor)
	row.Active = true
	if k.script == ScriptAddress {
		return s.useAddress(tx, row, k, sc)
	}
	return replaceActive(tx, row, k, sc)
}

// replaceActive makes a wallet the active one of its network.
func replaceActive(tx *models.Tx, row models.Wallet, k Key, sc scope.Scope) (models.Wallet, error) {
	off := sc.Rows(tx.Model(&models.Wallet{})).Where("network = ? AND active AND fingerprint <> ?", row.Network,
		row.Fingerprint).
		Updates(map[string]any{"active": false, "updated_at": row.UpdatedAt})
	if off.Error != nil {
		return models.Wallet{}, off.Error
	}
	made := tx.Clauses(oneBranch).Create(&row)
	if made.Error != nil || made.RowsAffected == 1 {
		return row, made.Error
	}
	return restoreWallet(tx, row, k, sc)
}

// newWallet returns a wallet that begins with its first address, inactive.
func (s *Service) newWallet(k Key, sc scope.Scope, actor string) models.Wallet {
	now := s.Clock()
	return models.Wallet{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: string(k.net.Network()),
		Key: k.String(), Script: k.Script(),
		Fingerprint: k.Fingerprint(), Account: k.Account(), Change: k.Change(), CreatedBy: actor, CreatedAt: now,
		UpdatedAt: now}
}

// oneBranch leaves a branch with the wallet that has it.
var oneBranch = clause.OnConflict{Columns: []clause.Column{{Name: "network"}, {Name: "fingerprint"}}, DoNothing: true}

// checkFree makes sure that the scope may have a key, until the transaction ends.
func checkFree(tx *models.Tx, k Key, sc scope.Scope) error {
	if err := lockNetwork(tx, string(k.net.Network())); err != nil {
		return err
	}
	if err := refuseForeign(tx, k, sc); err != nil {
		return err
	}
	return claimKey(tx, k, sc)
}

// lockNetwork lets one transaction at a time change the wallets of a network, until
// it ends: no index can say that two businesses have no account in common.
// SQLite has a single writer anyway.
func lockNetwork(tx *models.Tx, network string) error {
	if !models.IsPostgres(tx) {
		return nil
	}
	return tx.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "wallets "+network).Error
}

// refuseForeign refuses a key when another business, or the other domain, has
// its account, its branch, or any key between the two, or keeps its change there:
// that would pass for payments. Keys above the account, which were never
// entered, can't be known.
func refuseForeign(tx *models.Tx, k Key, sc scope.Scope) error {
	var others int64
	line := k.listFingerprints()
	if change := k.Change(); change != "" {
		line = append(line, change)
	}
	err := tx.Model(&models.Wallet{}).Where("network = ? AND (account IN ? OR fingerprint IN ? OR change IN ?)",
		string(k.net.Network()), line, line, line).
		Where("NOT (business_id = ? AND domain = ?)", sc.BusinessID, string(sc.Domain)).Count(&others).Error
	if err != nil || others == 0 {
		return err
	}
	return inUse()
}

// restoreWallet brings back the wallet that has the row's branch already.
func restoreWallet(tx *models.Tx, row models.Wallet, k Key, sc scope.Scope) (models.Wallet, error) {
	var old models.Wallet
	if err := tx.Where("network = ? AND fingerprint = ?", row.Network, row.Fingerprint).Take(&old).Error; err != nil {
		return models.Wallet{}, err
	}
	if old.BusinessID != sc.BusinessID || old.Domain != string(sc.Domain) {
		return models.Wallet{}, inUse()
	}
	if !slices.Contains(k.listFingerprints(), old.Account) {
		row.Account = old.Account // it was entered from further up before: that account stays the business's
	}
	if row.Change == "" {
		row.Change = old.Change
	}
	if old.Active && old.Key == row.Key && old.Script == row.Script && old.Networks == row.Networks {
		return old, nil
	}
	if old.CreatedBy == "" { // Prepare stored it, and it has not been used yet
		old.CreatedBy, old.CreatedAt = row.CreatedBy, row.CreatedAt
	}
	// next_index is left alone: a payment may be moving it right now.
	changed := tx.Model(&models.Wallet{}).Where("id = ?", old.ID).
		Updates(map[string]any{"key": row.Key, "script": row.Script, "account": row.Account,
			"change": row.Change, "networks": row.Networks, "active": true, "created_by": old.CreatedBy,
			"created_at": old.CreatedAt, "updated_at": row.UpdatedAt})
	old.Key, old.Script, old.Account, old.Active, old.UpdatedAt = row.Key, row.Script, row.Account, true, row.UpdatedAt
	old.Networks = row.Networks
	return old, changed.Error
}

func inUse() error {
	return fault.New(fault.Conflict, "key_in_use",
		"This account already receives for another business, or for your other domain. "+
			"Payments could not be told apart: make a new account in your wallet, and enter that one.")
}

// parseKey reads a key for the network that serves the chain in the scope's domain.
func (s *Service) parseKey(sc scope.Scope, c money.Chain, key, script string) (Key, error) {
	if err := sc.CheckAction(scope.SetReceiving); err != nil {
		return Key{}, err
	}
	p, ok := s.findNet(sc.Domain, c)
	if !ok {
		return Key{}, fault.New(fault.Conflict, "no_network",
			"No node is configured that needs a key for this coin in the %s domain.", sc.Domain.Word())
	}
	return ParseKey(key, p, script)
}

func (s *Service) findNet(domain scope.Domain, c money.Chain) (Net, bool) {
	if s.Networks == nil {
		return Net{}, false
	}
	return s.Networks(domain, c)
}
