package views_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/account/auth"
	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/views/checkout"
	"cointill/views/dashboard"
	"cointill/views/mail"
	"cointill/views/ui"
)

const zpub = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"

func card() *dashboard.WalletCard {
	return &dashboard.WalletCard{Key: receiving.ShortKey(zpub), Kind: "native SegWit (bc1q…)", Network: "Bitcoin", Path: "0/41", Issued: "41 addresses",
		Gap: 3, Limit: 20, GapText: "3 of 20 in a row"}
}

func scripts() []ui.Option {
	return []ui.Option{{Value: "wpkh", Label: "native SegWit (P2WPKH)"}, {Value: "sh(wpkh)", Label: "nested SegWit (P2SH-P2WPKH)"}, {Value: "tr", Label: "Taproot (P2TR)"}, {Value: "pkh", Label: "legacy (P2PKH)"}}
}

func realMethods() dashboard.MethodsProps {
	p := methodsPage()
	p.Methods[0].Wallet, p.Methods[0].WalletText = card(), "Change wallet"
	p.Methods[0].Sentence = "Customers can choose it, and payments go directly to your own wallet."
	p.Methods[0].Trouble = "The bitcoin network is not being followed safely now: the node is 12 blocks behind."
	p.Methods[4].Available, p.Methods[4].Sentence, p.Methods[4].WalletText = false, "Set up your own wallet first, by its public key or an address: payments go directly to it.", "Set up your wallet"
	return p
}

func walletPage() dashboard.WalletProps {
	late := card()
	late.Gap, late.GapText = 27, "27 in a row, more than the 20 that wallets check"
	late.Advice = "27 addresses in a row were given out and not paid to. Wallets look 20 ahead, so yours may not show what was paid after them, though it is yours. Set the gap limit in your wallet to 100 or more and let it scan again."
	return dashboard.WalletProps{Page: shell("Bitcoin wallet", "methods"), Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin", Wallet: late,
		Editable: true, Prefixes: "xpub, ypub or zpub", Scripts: append([]ui.Option{{Label: "Automatic: as the key says"}}, scripts()...),
		Former: []dashboard.FormerWallet{
			{Key: "wpkh([d34db33f/84h/0h/0h]xpub6ERA…Fz6aGZ/<0;1>/*)#qzr0mt8h", Kind: "native SegWit (bc1q…)", Network: "Bitcoin", Issued: "1,204 addresses", Replaced: now},
			{Key: "ypub6WoG…r575Fk", Kind: "nested SegWit (3…)", Network: "Bitcoin", Issued: "1 address", Replaced: now.AddDate(0, -2, 0)}}}
}

// addressListPage is the wallet of ether and USDT, which is a list that runs out.
func addressListPage() dashboard.WalletProps {
	return dashboard.WalletProps{Page: shell("Tether USD wallet", "methods"), Code: "crypto_tether", Coin: "USDT", Name: "Tether USD", Editable: true, Sheet: true, Prefixes: "xpub",
		Wallet: &dashboard.WalletCard{List: true, Left: "12", Key: "1000 addresses, the first 0x5aAeb6…BeAed", Kind: "a list of addresses", Network: "Ethereum", Issued: "988 addresses", Used: "Address 985, counted from 0",
			Advice: "12 addresses of the list are left. Enter the next list before they run out: payments that find none can't be paid."}}
}

// oneAddressPage is the wallet of ether and USDT, which is one address whose amounts run short.
func oneAddressPage() dashboard.WalletProps {
	p := addressListPage()
	p.Sheet = false
	p.Wallet = &dashboard.WalletCard{OneAddress: oneAddress(), Issued: "1,204 payments",
		Advice: "Amounts run short: on 20 November at 15:04 UTC a payment found less than a quarter of the amounts " +
			"near its own free."}
	return p
}

// provePage is the page of one address whose key isn't proved: another key signed the message.
func provePage() dashboard.WalletProps {
	p := oneAddressPage()
	p.Wallet.Advice = ""
	const signature = "0x8d1c0f2e6a9b4c7d5e3f1a2b4c6d8e0f1a3b5c7d9e1f2a4b6c8d0e2f4a6b8c0d" +
		"2e4f6a8b0c2d4e6f8a0b2c4d6e8f0a2b4c6d8e0f2a4b6c8d0e2f4a6b8c0d2e4f1b"
	p.Proof = &dashboard.KeyProof{Address: oneAddress().Address, SecondFactor: true, Expires: "1795240200",
		Until: now.Add(30 * time.Minute),
		Message: "I hold the key of " + oneAddress().Address + ", with which business BUS_4Z7K2M9QWX3R receives payments in " +
			"the live domain of https://till.example. Signing this moves no money. Number " +
			"3f9a1c7be2d84f60a5b7c9d1e3f50718, valid until 2026-11-21 05:44:00 UTC."}
	p.Form = ui.Form{Values: map[string]string{"signature": signature}, Errors: map[string][]string{"signature": {
		"This signature belongs to 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf, not to " + oneAddress().Address + ". Choose " +
			"the account of your address in your wallet, and sign the message as it is shown, without any change."}}}
	return p
}

// provedPage is the page of one address on Tron whose key is proved.
func provedPage() dashboard.WalletProps {
	p := oneAddressPage()
	p.Code = "tron"
	p.Wallet = &dashboard.WalletCard{Issued: "1,204 payments", OneAddress: &dashboard.OneAddress{
		Address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", Networks: []string{"Tron (TRC-20)"}, Alone: true, ProvedAt: now}}
	return p
}

func oneAddress() *dashboard.OneAddress {
	return &dashboard.OneAddress{Address: "0x8ba1f109551bD432803012645Ac136ddd64DBA72",
		Networks: []string{"BNB Smart Chain", "Ethereum"}, Capacity: []string{"990 in Tether USD", "33 in Ether"}}
}

func addressReview() dashboard.WalletReviewProps {
	return dashboard.WalletReviewProps{Page: shell("Tether USD wallet", "methods"), Code: "crypto_tether",
		Name: "Tether USD", Key: oneAddress().Address, Shown: oneAddress().Address, Script: "address",
		OneAddress: oneAddress(), Former: "xpub6BosfCn…nMdj"}
}

func reviewPage() dashboard.WalletReviewProps {
	p := dashboard.WalletReviewProps{Page: shell("Bitcoin wallet", "methods"), Code: "crypto_bitcoin", Name: "Bitcoin", Key: zpub, Shown: zpub, Script: "wpkh",
		Format: "An extended public key (zpub)", Kind: "native SegWit (bc1q…)", Network: "Bitcoin", Path: "0/*", Scripts: scripts(), Former: "ypub6WoG…r575Fk"}
	for i, address := range []string{"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z",
		"bc1qgl5vlg0zdl7yvprgxj9fevsc6q6x5dmcyk3cn3", "bc1qm97vqzgj934vnaq9s53ynkyf9dgr05rargr04n"} {
		p.Addresses = append(p.Addresses, dashboard.WalletAddress{Path: "0/" + string(rune('0'+i)), Address: address})
	}
	return p
}

func refusedReview() dashboard.WalletReviewProps {
	p := reviewPage()
	p.Form = ui.Form{Values: map[string]string{"address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}, Errors: map[string][]string{"password": {"This isn't your password."}}}
	p.SecondFactor = true
	p.Begins = "This server was restored from a backup, which doesn't know this wallet. So the first 500 of each kind are given to nobody and only watched, and payments get the ones after them."
	p.Missing, p.Found, p.Former, p.Scripts = true, "It is not among the first 1,000 addresses of this account.", "", nil
	p.Key, p.Format = "wpkh([73c5da0a/84h/0h/0h]"+zpub+"/<0;1>/*)#qzr0mt8h", "A descriptor"
	return p
}

func notice() receiving.Notice {
	return receiving.Notice{Owner: auth.User{Name: "Amara Okafor", Email: "amara@sunbird.example"}, By: auth.User{Name: "Bayo Ade", Email: "bayo@sunbird.example"},
		Business: "Sunbird Coffee", Domain: scope.Live, Chain: money.Bitcoin, Network: "bitcoin-mainnet", Key: receiving.ShortKey(zpub), Script: "wpkh",
		Former: "ypub6WoG…r575Fk", First: []string{reviewPage().Addresses[0].Address}, At: now.In(time.FixedZone("WAT", 3600)), URL: "https://till.example/dashboard/methods/crypto_bitcoin/wallet"}
}

// TestNoticeText: both forms of the notice say the same, and neither the whole key.
func TestNoticeText(t *testing.T) {
	n := notice()
	n.Business = `Ama's <script>alert(1)</script>`
	subject, text, html := mail.RenderWalletChanged(n)
	for _, want := range []string{"Bitcoin payments go to another wallet", "zpub6rFR…GutZYs", "native SegWit (bc1q…)", n.First[0], "ypub6WoG…r575Fk", "21 November 2026, 06:14 WAT", n.URL, "Bayo Ade (bayo@sunbird.example)"} {
		if !strings.Contains(subject+text, want) || !strings.Contains(html, strings.ReplaceAll(want, "'", "&#39;")) {
			t.Errorf("a form lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(html, "<script>") || strings.Contains(text+html, zpub) || strings.Contains(text, "TEST") {
		t.Errorf("text = %v", text)
	}
	n.Former, n.Domain = "", scope.Test
	subject, text, _ = mail.RenderWalletChanged(n)
	if !strings.HasPrefix(subject, "[TEST] ") || !strings.Contains(subject, "payments now go to a wallet of your own") || strings.Contains(text, "previous") || !strings.HasPrefix(text, "TEST DATA") {
		t.Errorf("subject = %v, text = %v", subject, text)
	}
}

const classic = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"

func accountPage() dashboard.WalletProps {
	return dashboard.WalletProps{Page: shell("XRP account", "methods"), Code: "crypto_ripple", Coin: "XRP", Name: "XRP", Account: true, Editable: true,
		Wallet: &dashboard.WalletCard{Account: true, Key: classic, Network: "XRP Ledger", Issued: "1,204 destination tags"},
		Former: []dashboard.FormerWallet{{Key: "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", Kind: "one account, with a destination tag for each payment", Network: "XRP Ledger", Issued: "1 destination tag", Replaced: now}}}
}

func newAccountPage() dashboard.WalletProps {
	p := accountPage()
	p.Wallet, p.Former, p.Sentence = nil, nil, "No account is set up yet, so customers can't pay in XRP."
	p.Form = ui.Form{Values: map[string]string{"key": classic}, Errors: map[string][]string{"key": {"This account has Deposit Authorization switched on."}}}
	return p
}

func accountReview() dashboard.AccountReviewProps {
	return dashboard.AccountReviewProps{Page: shell("XRP account", "methods"), Code: "crypto_ripple", Name: "XRP", Address: classic, Network: "XRP Ledger", Balance: "25.000000 XRP"}
}

func refusedAccount() dashboard.AccountReviewProps {
	p := accountReview()
	p.TagOptional, p.Discouraged, p.Former = true, true, "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	p.Form = ui.Form{Errors: map[string][]string{"password": {"This isn't your password."}}}
	return p
}

// TestNoticeAccount: a notice of an account of the XRP Ledger shows it whole.
func TestNoticeAccount(t *testing.T) {
	n := notice()
	n.Chain, n.Network, n.Script, n.Key, n.Former, n.First = money.XRPL, "xrp-mainnet", "account", classic, "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", []string{classic}
	subject, text, _ := mail.RenderWalletChanged(n)
	for _, want := range []string{"XRP Ledger payments go to another account", "\nAccount: " + classic, "Previous account: " + n.Former, "every character of the account", "previous account is still watched"} {
		if !strings.Contains(subject+text, want) {
			t.Errorf("the notice lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "First address") || strings.Contains(text, "Public key") {
		t.Errorf("text = %v", text)
	}
}

// TestTagIsLoud: a page for XRP says first that the tag is required. Address and tag are copied
// one by one before any code can be scanned, and the X-address comes last.
func TestTagIsLoud(t *testing.T) {
	html := render(t, checkout.Page(checkout.PageProps{StatusProps: status(checkout.Waiting, "XRP"), Reference: "PAY_1"}))
	at := 0
	for _, next := range []string{"The destination tag is required", `data-copy="` + classic + `"`, `data-copy="4021881377"`, "dt=4021881377", "call it memo", `class="qr"`, `data-copy="XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD28Sq49uo34VyjnmK5H"`} {
		i := strings.Index(html[at:], next)
		if i < 0 {
			t.Fatalf("%q doesn't come after what should be before it", next)
		}
		at += i + len(next)
	}
	if n := strings.Count(html, `data-copy="`+classic+`"`); n != 1 {
		t.Errorf("the address can be copied in %d places", n)
	}
}
