package wallet

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/golive"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// isSandbox reports a coin whose payments stay inside of Cointill.
func (f walletFacts) isSandbox() bool { return networks.IsSandbox(f.Network) }

// isReal reports a coin that needs a wallet of the merchant's own.
func (f walletFacts) isReal() bool { return f.Network != "" && !f.isSandbox() }

// isEditable reports that the member may set the wallet, or in the sandbox rehearse that.
func (f walletFacts) isEditable() bool {
	return (f.isReal() || f.isSandbox()) && f.Scope.Allows(scope.SetReceiving)
}

// hasManyAddresses reports whether a key or a list gives out addresses for the coin, or did before.
func (f walletFacts) hasManyAddresses() bool {
	return slices.ContainsFunc(f.History, func(w models.Wallet) bool { return w.Script != wallet.ScriptAddress })
}

// keyNetwork returns the network that keys of the coin belong to.
func (f walletFacts) keyNetwork() string {
	if f.isSandbox() {
		return golive.RehearsalNetwork(f.Coin.Chain)
	}
	return f.Network
}

// walletProps is the page of a coin's wallet.
func walletProps(ctx context.Context, shell layout.Page, typed ui.Form, f walletFacts) dashboard.WalletProps {
	p := dashboard.WalletProps{
		Page: shell, Form: typed, Code: walletCode(f.Coin), Coin: string(f.Coin.Coin), Name: f.Coin.Name,
		Editable: f.isEditable(), Prefixes: listPrefixes(ctx, f),
		Scripts: append([]ui.Option{{Label: words.T(ctx, "wallet.automatic")}}, listKinds(ctx, f.Coin.Chain)...),
	}
	if len(listKinds(ctx, f.Coin.Chain)) < 2 {
		p.Scripts = nil
	}
	p.Account = onLedger(f.Coin)
	if f.isSandbox() && p.Editable {
		p.Rehearsal, p.Sample = true, golive.RehearsalKey(f.Coin.Chain)
	}
	switch {
	case f.Found:
		card := walletCard(ctx, f)
		p.Wallet = &card
		if card.OneAddress != nil {
			card.OneAddress.Capacity = f.Capacity
		}
	case f.isSandbox():
		p.Sentence = words.T(ctx, "wallet.sandboxed")
	case f.Network == "":
		p.Sentence = words.T(ctx, "wallet.no_node", "Why", words.Translate(ctx, f.Trouble))
	case p.Account:
		p.Sentence = words.T(ctx, "wallet.no_account", "Coin", f.Coin.Name)
	default:
		p.Sentence = words.T(ctx, "wallet.none", "Coin", f.Coin.Name)
	}
	p.Sheet = f.isReal() && f.Coin.Chain == money.Ethereum && f.hasManyAddresses() && f.Scope.Allows(scope.SeePayments)
	if f.isReal() {
		p.Trouble, p.Notes = words.Translate(ctx, f.Trouble), f.Notes
	}
	if f.isReal() && !p.Editable {
		p.Why = words.T(ctx, "wallet.owner_only")
	}
	for _, w := range f.History {
		if !f.Found || w.ID != f.State.Wallet.ID {
			p.Former = append(p.Former, formerWallet(ctx, w, f.Zone))
		}
	}
	return p
}

// barredText explains addresses that the token's issuer has frozen.
func barredText(ctx context.Context, count int64, first string) string {
	if count == 1 {
		return words.T(ctx, "wallet.barred_one", "Address", receiving.ShortKey(first))
	}
	return words.T(ctx, "wallet.barred_some", "N", strconv.FormatInt(count, 10), "Address", receiving.ShortKey(first))
}

// walletCard is a wallet that is in use.
func walletCard(ctx context.Context, f walletFacts) dashboard.WalletCard {
	s := f.State
	if s.Script == wallet.ScriptAccount {
		return dashboard.WalletCard{Account: true, Key: s.Wallet.Key,
			Network: receiving.NetworkName(s.Wallet.Network),
			Issued:  describeIssued(ctx, s.Wallet)}
	}
	if s.Script == wallet.ScriptAddress {
		one := oneAddress(s.Wallet.Key, s.Wallet.Network, s.Wallet.Networks)
		if s.Wallet.ProvedAt != nil {
			one.ProvedAt = s.Wallet.ProvedAt.In(f.Zone)
		}
		return dashboard.WalletCard{OneAddress: one, Issued: describeIssued(ctx, s.Wallet),
			Advice: words.Translate(ctx, s.Advice)}
	}
	return dashboard.WalletCard{
		Key: receiving.ShortKey(s.Wallet.Key), Kind: words.Translate(ctx, receiving.DescribeKind(s.Script, s.Wallet.Network)),
		Network: receiving.NetworkName(s.Wallet.Network), Path: s.Path,
		List: s.Script == wallet.ScriptList, Left: strconv.FormatInt(s.Left, 10),
		Issued: describeIssued(ctx, s.Wallet), Used: usedText(ctx, s), Gap: int(s.Gap), Limit: int(s.Limit),
		GapText: gapText(ctx, s), Advice: words.Translate(ctx, s.Advice),
	}
}

// usedText is the highest address that money came to.
func usedText(ctx context.Context, s wallet.State) string {
	if s.HighestUsed < 0 {
		return words.T(ctx, "wallet.used_none")
	}
	return words.T(ctx, "wallet.used", "Index", strconv.FormatInt(s.HighestUsed, 10))
}

// gapText says how close the wallet is to its gap limit, beyond which it misses payments.
func gapText(ctx context.Context, s wallet.State) string {
	gap, limit := strconv.FormatInt(s.Gap, 10), strconv.FormatInt(s.Limit, 10)
	switch {
	case s.Gap <= 0:
		return words.T(ctx, "wallet.gap_none")
	case s.Gap > s.Limit:
		return words.T(ctx, "wallet.gap_over", "Gap", gap, "Limit", limit)
	}
	return words.T(ctx, "wallet.gap_of", "Gap", gap, "Limit", limit)
}

func formerWallet(ctx context.Context, w models.Wallet, zone *time.Location) dashboard.FormerWallet {
	return dashboard.FormerWallet{Key: receiving.DescribeKey(w.Key, w.Script),
		Kind:    words.Translate(ctx, receiving.DescribeKind(w.Script, w.Network)),
		Network: receiving.NetworkName(w.Network),
		Issued:  describeIssued(ctx, w), Replaced: w.UpdatedAt.In(zone)}
}

// onLedger reports a coin that is received with an account and destination tags.
func onLedger(coin money.CoinInfo) bool { return coin.Chain == money.XRPL }

// heldOn returns what a coin is received with, as sentences call it.
func heldOn(ctx context.Context, coin money.CoinInfo) string {
	if onLedger(coin) {
		return words.T(ctx, "wallet.held_account")
	}
	return words.T(ctx, "wallet.held_wallet")
}

// describeIssued describes how many destinations a wallet has given out.
func describeIssued(ctx context.Context, w models.Wallet) string {
	if w.Script == wallet.ScriptAccount {
		return words.N(ctx, "wallet.issued_tags", int(w.NextIndex))
	}
	if w.Script == wallet.ScriptAddress {
		return words.N(ctx, "wallet.issued_payments", int(w.NextIndex))
	}
	return words.N(ctx, "wallet.issued", int(w.NextIndex))
}

// accountReviewProps is the second step for an account of the XRP Ledger.
func accountReviewProps(shell layout.Page, f walletFacts, r review) dashboard.AccountReviewProps {
	a := r.Preview.Account
	p := dashboard.AccountReviewProps{
		Page: shell, Form: r.Form, Code: string(r.Coin.Method), Name: r.Coin.Name, Address: r.Preview.Key,
		Network: receiving.NetworkName(f.keyNetwork()), Rehearsal: f.isSandbox(),
		Balance: r.Coin.Coin.Format(a.Balance) + " " + string(r.Coin.Coin), TagOptional: !a.RequireTag,
		Discouraged: a.DisallowXRP,
	}
	switch {
	case !f.Found:
	case receiving.IsSame(f.State.Wallet, r.Preview.Fingerprint, r.Preview.Script):
		p.InUse = true
	default:
		p.Former = f.State.Wallet.Key
	}
	return p
}

// reviewProps is the second step.
func reviewProps(ctx context.Context, shell layout.Page, f walletFacts, r review) dashboard.WalletReviewProps {
	p := dashboard.WalletReviewProps{
		Page: shell, Form: r.Form, Code: walletCode(r.Coin), Name: r.Coin.Name, Key: r.Preview.Key,
		Script: r.Preview.Script,
		Format: words.T(ctx, "wallet.format_key", "Format", r.Preview.Format),
		Kind:   words.Translate(ctx, receiving.DescribeKind(r.Preview.Script, f.keyNetwork())), Rehearsal: f.isSandbox(),
		Network: receiving.NetworkName(f.keyNetwork()), Path: r.Preview.Path, List: r.Preview.Script == wallet.ScriptList,
		Shown: r.Preview.Key,
	}
	if p.List {
		p.Format, p.Shown = words.T(ctx, "wallet.format_list"), receiving.ShortKey(r.Preview.Key)
	}
	if r.Preview.Format == "descriptor" {
		p.Format = words.T(ctx, "wallet.format_descriptor")
	}
	for i, address := range r.Preview.Addresses {
		p.Addresses = append(p.Addresses, dashboard.WalletAddress{Path: r.Preview.Paths[i], Address: address})
	}
	for _, script := range r.Preview.Scripts {
		p.Scripts = append(p.Scripts, ui.Option{Value: script, Label: words.Translate(ctx, wallet.ScriptName(script))})
	}
	if r.Preview.Script == wallet.ScriptAddress {
		p.OneAddress = oneAddress(r.Preview.Key, f.keyNetwork(), r.Preview.Networks)
		p.OneAddress.Capacity = f.Capacity
	}
	switch {
	case !f.Found:
	case receiving.IsSame(f.State.Wallet, r.Preview.Fingerprint, r.Preview.Script):
		p.InUse = f.State.Path
	default:
		p.Former = receiving.ShortKey(f.State.Wallet.Key)
	}
	if begins := r.Preview.Begins; begins > 0 {
		p.Begins = words.T(ctx, "wallet.begins_later", "Left", strconv.FormatInt(begins, 10), "Limit",
			strconv.FormatInt(begins+wallet.Limit, 10))
	}
	switch {
	case r.Looked.Found:
		p.Found = words.T(ctx, "wallet.found_at", "Index", strconv.FormatInt(r.Looked.Index, 10))
	case r.Looked.Asked:
		p.Missing, p.Found = true, words.T(ctx, "wallet.not_found_about")
	}
	return p
}

// listKinds lists the scripts that wallets of a chain use, the usual one first.
func listKinds(ctx context.Context, c money.Chain) (options []ui.Option) {
	scripts := []string{wallet.ScriptPKH}
	switch c {
	case money.Ethereum:
		scripts = []string{wallet.ScriptEthereum}
	case money.Tron:
		scripts = []string{wallet.ScriptTron}
	case money.Bitcoin:
		scripts = []string{wallet.ScriptWPKH, wallet.ScriptShWPKH, wallet.ScriptTaproot, wallet.ScriptPKH}
	}
	for _, script := range scripts {
		options = append(options, ui.Option{Value: script, Label: words.Translate(ctx, wallet.ScriptName(script))})
	}
	return options
}

// listPrefixes lists what keys begin with in the coin's networks.
func listPrefixes(ctx context.Context, f walletFacts) string {
	main := strings.HasSuffix(f.Network, "-mainnet")
	switch {
	case (f.Coin.Chain == money.Ethereum || f.Coin.Chain == money.Tron) && main:
		return "xpub"
	case f.Coin.Chain == money.Ethereum || f.Coin.Chain == money.Tron:
		return words.T(ctx, "wallet.or_two", "First", "xpub", "Second", "tpub")
	case f.Coin.Chain == money.Dogecoin && main:
		return words.T(ctx, "wallet.or_two", "First", "dgub", "Second", "xpub")
	case f.Coin.Chain == money.Dogecoin:
		return "tpub"
	case strings.HasSuffix(f.Network, "-simnet"):
		return "spub"
	case main:
		return words.T(ctx, "wallet.or_three", "First", "xpub", "Second", "ypub", "Third", "zpub")
	}
	return words.T(ctx, "wallet.or_three", "First", "tpub", "Second", "upub", "Third", "vpub")
}

var (
	// plainKey is a public key as people enter it: by itself, with its origin, or
	// in a descriptor, also half of one.
	plainKey = regexp.MustCompile(`^(?:sh\(|w?pkh\(|tr\(){0,2}(?:\[[0-9A-Fa-f]{0,8}(?:/[0-9]{1,10}['hH]?){0,10}\])?` +
		`(?:[xyztuvsYZUV]pub|dgub|[LM]tub)[1-9A-HJ-NP-Za-km-z]{0,120}(?:/[0-9*<>;'hH]{1,24}){0,10}\){0,2}(?:#[0-9a-z]{0,8})?$`)
	// plainList is a list of addresses of Ethereum or Tron, also of mistyped ones: none is as
	// long as a private key.
	plainList = regexp.MustCompile(`^(?:(?:0x|T)[0-9A-Za-z]{30,45}[\s,;]*)+$`)
	// plainAddress is what no private key looks like: bech32, or shorter than one
	// and no seed (s…) of the XRP Ledger, or what its addresses begin with.
	plainAddress = regexp.MustCompile(
		`^(?:[a-z]{2,4}1[0-9a-z]{6,87}|[A-Z]{2,4}1[0-9A-Z]{6,87}|[1-9A-HJ-NP-Za-km-rt-z][1-9A-HJ-NP-Za-km-z]{30,35}|[rXT][1-9A-HJ-NP-Za-km-z]{20,50})$`)
)

// publicKey is the text when it is plainly a public key, else "": what might be
// a private one is not even written into the page that refuses it.
func publicKey(text string) string {
	if len(text) <= wallet.MaxKey && plainKey.MatchString(text) || plainList.MatchString(text) {
		return text
	}
	return publicAddress(text) // the refusal says why it isn't enough
}

// publicAddress is the text when it is plainly an address, else "".
func publicAddress(text string) string {
	if plainAddress.MatchString(text) {
		return text
	}
	return ""
}
