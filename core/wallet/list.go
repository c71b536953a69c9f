package wallet

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// ScriptList is what a list of addresses has in place of a script: each payment
// gets the next of them, for wallets that have no key which could be given away.
const ScriptList = "list"

// MaxList is how many addresses a list may have; an address of a list takes 43 bytes.
const MaxList = 1_000

// fewLeft is the number of remaining addresses below which merchants are warned that a list runs out.
const fewLeft = 50

// listStarts is what the first address of a list begins with, on the chains whose wallets may be lists.
var listStarts = map[money.Chain]string{money.Ethereum: "0x", money.Tron: "T"}

// startsAddress reports whether a text begins as an address of such a chain. One of Tron may be in hexadecimal.
func startsAddress(text string, p Net) bool {
	return strings.HasPrefix(text, listStarts[p.Chain]) || p.Chain == money.Tron && strings.HasPrefix(text, "41")
}

// splitAddresses splits a text that is meant as a list of addresses; nil when it isn't.
func splitAddresses(text string, p Net) []string {
	if listStarts[p.Chain] == "" {
		return nil
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) })
	if len(parts) < 2 || !startsAddress(parts[0], p) {
		return nil
	}
	return parts
}

// parseList reads a list of addresses. A single mistyped one refuses it whole:
// money sent there would be lost.
func parseList(parts []string, p Net, script string) (Key, error) {
	if len(parts) > MaxList {
		return Key{}, errKey("A list has %d addresses at most. Enter these first; when they run out, enter the next "+
			"ones.", MaxList)
	}
	if script != "" && script != ScriptList {
		return Key{}, errKey("That kind of address does not exist on %s.", networkName(p))
	}
	k := Key{net: p, format: ScriptList, script: ScriptList}
	seen := map[string]int{}
	for i, part := range parts {
		form := p.Script(part)
		if form == nil {
			return Key{}, errKey(
				"Entry %d of the list is no address of %s: a character may be missing or mistyped.", i+1,
				networkName(p))
		}
		address := p.Address(form)
		if first := seen[address]; first > 0 {
			return Key{}, errKey(
				"Entry %d of the list is the same address as entry %d. Each payment needs one of its own.", i+1, first)
		}
		if why := findBar(form, p); !why.IsZero() {
			return Key{}, errKey("Entry %d of the list %s, so what is paid there is lost.", i+1, why)
		}
		seen[address] = i + 1
		k.list = append(k.list, address)
	}
	k.text = strings.Join(k.list, " ")
	return k, nil
}

// claimKey makes the addresses of a list the scope's, in the caller's transaction.
// Conflict (key_in_use) when one of them stands in the list of another business, or of
// the other domain, or was given to a payment there.
func claimKey(tx *models.Tx, k Key, sc scope.Scope) error {
	if k.list == nil {
		return nil
	}
	network := string(k.net.Network())
	for _, table := range []any{&models.ListedAddress{}, &models.Destination{}} {
		var others int64
		err := tx.Model(table).Where("network = ? AND address IN ? AND NOT (business_id = ? AND domain = ?)", network,
			k.list, sc.BusinessID, string(sc.Domain)).Count(&others).Error
		if err != nil {
			return err
		}
		if others > 0 {
			return fault.New(fault.Conflict, "key_in_use",
				"An address of the list receives for another business already, or for your other domain. "+
					"Payments could not be told apart: enter addresses that are new.")
		}
	}
	rows := make([]models.ListedAddress, len(k.list))
	for i, address := range k.list {
		rows[i] = models.ListedAddress{Network: network, Address: address, BusinessID: sc.BusinessID,
			Domain: string(sc.Domain)}
	}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error
}

// listPrint is what Fingerprint is of a list: equal for the same addresses in the same order.
func listPrint(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, " ")))
	return hex.EncodeToString(sum[:])
}

// countLeft returns how many addresses of a list were not given out yet.
func (k Key) countLeft(next int64) int64 { return max(int64(len(k.list))-next, 0) }

// CodeNoWallet is the code of the refusals below and of a business without a wallet: there is no address to give out.
const CodeNoWallet = "no_wallet"

// usedUp is the fault for a payment that finds no address left.
func usedUp() error {
	return fault.New(fault.Unavailable, "no_wallet",
		"The merchant's wallet for this coin has no address left, so it can't be paid with now. Choose another way "+
			"to pay, or contact the merchant.")
}

// findListed reports whether an address is in the list, and its place.
func (k Key) findListed(address string) (int64, bool) {
	i := slices.Index(k.list, address)
	return int64(i), i >= 0
}
