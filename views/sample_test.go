package views_test

import (
	"maps"
	"strings"
	"time"

	"github.com/a-h/templ"

	"cointill/core/money"
	"cointill/views/checkout"
	"cointill/views/dashboard"
	"cointill/views/docs"
	"cointill/views/layout"
	"cointill/views/mail"
	"cointill/views/ui"
)

var now = time.Date(2026, 11, 21, 5, 14, 9, 0, time.UTC)

var views = []checkout.View{checkout.Confirm, checkout.Waiting, checkout.Partial, checkout.PartOnly, checkout.Seen, checkout.Processing, checkout.Successful, checkout.Under, checkout.Over, checkout.Late, checkout.WindowOver, checkout.Abandoned, checkout.Expired, checkout.Failed, checkout.TooSmall, checkout.Unavailable}

func shell(title, nav string) layout.Page {
	return layout.Page{Title: title, Nav: nav, UserName: "Amara Okafor", UserEmail: "amara@sunbird.example", BusinessName: "Sunbird Coffee", Domain: "test", CSRF: "token", NextPath: "/dashboard"}
}

func qr(text string) ui.QRProps {
	path, size, err := ui.QRPath(text)
	if err != nil {
		panic(err)
	}
	return ui.QRProps{Path: path, Size: size, Alt: text}
}

var coins = map[string][5]string{ // name, network, amount, address, URI
	"BTC":  {"Bitcoin", "Bitcoin", "0.00021437", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.00021437&label=Sunbird%20Coffee"},
	"ETH":  {"Ethereum", "Ethereum", "0.00612304", "0x52908400098527886E0F7030069857D2E4169EE7", "ethereum:0x52908400098527886E0F7030069857D2E4169EE7@1?value=6123040000000000"},
	"USDT": {"Tether USDt", "Ethereum (ERC-20)", "15.625001", "0x52908400098527886E0F7030069857D2E4169EE7", "ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=15625001"},
	"XRP":  {"XRP", "XRP Ledger", "31.250002", "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", "ripple:rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY?amount=31.250002&dt=4021881377"},
	"DOGE": {"Dogecoin", "Dogecoin", "104.16666667", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", "dogecoin:DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L?amount=104.16666667"},
}

func status(view checkout.View, coin string) checkout.StatusProps {
	c := coins[coin]
	p := checkout.StatusProps{
		Lang: "en", Token: "tok", View: view, Merchant: "Sunbird Coffee", Contact: "help@sunbird.example",
		Coin: coin, CoinName: c[0], Network: c[1], Fiat: "₦25,000.00", Item: "Bag of beans",
		Asked: c[2], Due: c[2], Received: c[2], Address: c[3], WalletURI: c[4],
		WalletQR: qr(c[4]), AddressQR: qr(c[3]),
		Now: now, Deadline: now.Add(312 * time.Second), WatchUntil: now.Add(24 * time.Hour), Window: 7 * time.Minute,
		Confirmations: 1, Needed: 3, Hash: "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d",
		ReceiptEmail: "chidi@example.com", ReturnURL: "https://shop.example/thanks", AgainURL: "https://shop.example/cart",
	}
	switch view {
	case checkout.Partial:
		p.Received, p.Due = "0.00010000", "0.00011437"
	case checkout.Under, checkout.PartOnly:
		p.Received, p.Difference, p.DifferenceFiat = "0.00010000", "0.00011437", "₦13,337.92"
	case checkout.Over:
		p.Received, p.Difference, p.DifferenceFiat = "0.00030000", "0.00008563", "₦9,986.10"
		p.Refunds = []checkout.RefundNote{{Text: "Your refund of 0.00008563 BTC is on its way.", Hash: p.Hash}}
	case checkout.Successful:
		p.Surplus, p.PaidAt = "0.00000330", now
	case checkout.Late:
		p.Surplus = "0.00000330"
	case checkout.Waiting:
		if coin == "XRP" {
			p.Tag, p.XAddress = "4021881377", "XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD28Sq49uo34VyjnmK5H"
		}
		p.Networks = networkOptions(money.Coin(coin))
	case checkout.Seen:
		p.Confirmations, p.Wait = 0, 30*time.Minute
	case checkout.WindowOver:
		p.Delayed = true
	case checkout.Processing:
		p.Wait = 20 * time.Minute
	case checkout.TooSmall:
		p.Fiat, p.OtherCoins = "₦1.00", "Ether, Tether USD, XRP"
	}
	return p
}

// networkOptions are the networks that a coin is paid on, where it has several.
func networkOptions(coin money.Coin) (options []checkout.NetworkOption) {
	for i, code := range coin.Info().Chains() {
		facts, known := money.FindNetworkFacts(code)
		if !known {
			return nil
		}
		options = append(options, checkout.NetworkOption{Code: string(code), Label: facts.CoinLabel(coin),
			Native: string(facts.Native), Fee: facts.UsualFee(coin), Time: "57 s", Chosen: i == 0})
	}
	return options
}

func receiptProps() mail.ReceiptProps {
	return mail.ReceiptProps{Merchant: "Sunbird Coffee", CustomerName: "Chidi Nwosu", Fiat: "₦25,000.00", Coin: "0.00021437 BTC", Rate: "1 BTC = 116620796.36 NGN", Network: "Bitcoin (sandbox)", Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", BusinessReference: "order-1042", Item: "Bag of beans", Hash: "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d", ExplorerURL: "https://explorer.example/tx/a1075", Paid: now, Contact: "help@sunbird.example", PayURL: "https://pay.example/pay/tok", Test: true}
}

func rows() []dashboard.PaymentRow {
	make := func(ref, business, state, who, mail, fiat, coin, symbol, why string, ago time.Duration) dashboard.PaymentRow {
		return dashboard.PaymentRow{Reference: ref, BusinessReference: business, State: state, Customer: who, Email: mail, Fiat: fiat, Coin: coin, CoinSymbol: symbol, Why: why, Created: now.Add(-ago)}
	}
	return []dashboard.PaymentRow{
		make("PAY_9hQ2mVx4Lr7TzKc1Bn3W", "order-1042", "successful", "Chidi Nwosu", "chidi@example.com", "₦25,000.00", "0.00021437 BTC", "BTC", "", 4*time.Minute),
		make("PAY_Xt83kPq0WvYbN5sR2dHj", "order-1043", "processing", "Wanjiru Kamau", "wanjiru.kamau@longcompanyname.example", "KSh 4,200.00", "32.411903 USDT", "USDT", "2 of 12", 9*time.Minute),
		make("PAY_c7LmZ1oDf9UeAq64GyTw", "cart:77ab-9031-long-reference-of-a-shop", "declined", "Kofi Mensah", "kofi@example.com", "GH₵ 310.00", "9.250000 XRP", "XRP", "underpaid", 42*time.Minute),
		make("PAY_uE5rB8nJk2Xh0MsVpQ1a", "order-1044", "initiated", "Fatima Al-Sayed", "fatima@example.com", "$18.00", "0.00512304 ETH", "ETH", "", 70*time.Minute),
		make("PAY_4WgN6tCz9yFdLbO3iKqe", "order-1045", "pending", "Ọláyínká Adébáyọ̀", "yinka@example.com", "₦1,000,000.00", "4,166.66666667 DOGE", "DOGE", "", 2*time.Hour),
		make("PAY_hR0vS7jPmXa2TnUeYc5B", "order-1046", "failed", "Ann Otieno", "ann@example.com", "KSh 900.00", "0.00000612 BTC", "BTC", "replaced", 5*time.Hour),
		make("PAY_qK3dJ1fZw8LoHb6GxNrM", "order-1047", "abandoned", "José Núñez", "jose@example.com", "$7.00", "0.00199004 ETH", "ETH", "", 26*time.Hour),
		make("PAY_Vy9sT4uCe2Pm7AiOgWkX", "order-1048", "expired", "Ade Bello", "ade@example.com", "₦4,500.00", "2.812500 USDT", "USDT", "", 30*time.Hour),
	}
}

var methods = []ui.Option{{Value: "crypto_bitcoin", Label: "Bitcoin (BTC)"}, {Value: "crypto_ethereum", Label: "Ethereum (ETH)"}, {Value: "crypto_tether", Label: "Tether (USDT)"}, {Value: "crypto_ripple", Label: "XRP"}, {Value: "crypto_dogecoin", Label: "Dogecoin (DOGE)"}}

var scenarios = []checkout.Scenario{{Code: "exact", Label: "Exact amount", Text: "The right amount, confirmed in a few seconds.", Lang: "en"}, {Code: "underpay", Label: "Underpaid", Text: "Half of it is paid, and the payment waits for the rest.", Lang: "en"}, {Code: "overpay", Label: "Overpaid", Text: "One and a half times the amount.", Lang: "en"}, {Code: "double_spend", Label: "Double-spend", Text: "Seen, then replaced by another transaction.", Lang: "en"}}

// endpointRows are five endpoints: two fail, one was off, and one receives a single event.
func endpointRows() (rows []dashboard.EndpointRow) {
	for i, name := range []string{"Shop server", "Ledger", "Warehouse", "Customer mails", "Analytics"} {
		row := dashboard.EndpointRow{Name: name, Href: "/dashboard/webhooks/1"}
		for n, event := range []string{"payment.declined", "payment.processing", "payment.initiated"} {
			sent := dashboard.DeliveryRow{Event: event, Href: "/dashboard/webhooks/1/deliveries/evt_1", Result: "Delivered (200)", Tone: ui.Good, Attempt: 1, At: now.Add(-time.Duration(n) * time.Minute)}
			if i == 1 || i == 4 {
				sent.Result, sent.Tone, sent.Attempt, sent.Next = "Response 503", ui.Warn, 3, now.Add(30*time.Minute)
			}
			switch {
			case i == 2 && n == 0:
				sent.Result, sent.Tone, sent.Attempt = "Skipped: the endpoint was off", ui.Mute, 0
			case i == 3 && n > 0:
				sent.Result, sent.Tone = "Not sent: the endpoint doesn’t receive this event", ui.Mute
				sent.Attempt, sent.Href = 0, ""
			}
			row.Deliveries = append(row.Deliveries, sent)
		}
		row.Last = row.Deliveries[0]
		rows = append(rows, row)
	}
	return rows
}

func paymentPage() dashboard.PaymentProps {
	row := rows()[2]
	return dashboard.PaymentProps{
		Page: shell("Payment", "payments"), PaymentRow: row, CanAccept: true, CanRefund: true, CanNote: true, Next: "Accept it as it is, or refund it.",
		Sentence: "Declined: the final amount is 1.25 XRP (GH₵ 41.90) less than asked.",
		Currency: "GHC", DueFiat: "GH₵ 310.00", DueCoin: "9.250000", ReceivedFiat: "GH₵ 268.10", ReceivedCoin: "8.000000", DifferenceWord: "Underpaid by", DifferenceFiat: "GH₵ 41.90", DifferenceCoin: "1.250000", HasReceived: true,
		Transfers:   []dashboard.TransferRow{{Hash: "E3FE6EA3D48F0C2B639448020EA4F03D4F4F8FFDB243A852A0F59177921B4879", Amount: "8.000000 XRP", Network: "XRP Ledger", Fiat: "GH₵ 268.10", State: "Validated", Tone: ui.Good, ExplorerURL: "https://livenet.xrpl.org/transactions/E3FE", FirstSeen: now, Block: "96,412,003", Address: "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", Tag: "4021881377"}},
		Timeline:    []ui.Step{{At: now.Add(-9 * time.Minute), Title: "Initiated by the API", Text: "Key “Shop server”", Icon: "ring-dashed"}, {At: now.Add(-8 * time.Minute), Title: "The customer opened the page", Text: "The address and tag were given", Icon: "eye", Tone: ui.Info}, {At: now.Add(-6 * time.Minute), Title: "Transfer seen: 8.000000 XRP", Icon: "half", Tone: ui.Info, Mono: "E3FE6EA3D48F0C2B639448020EA4F03D4F4F8FFDB243A852A0F59177921B4879", MonoLabel: "transaction hash"}, {At: now.Add(-6 * time.Minute), Title: "Declined", Text: "underpaid by 1.250000 XRP", Icon: "diamond", Tone: ui.Warn}},
		Endpoints:   endpointRows(),
		SurplusFiat: "GH₵ 16.76", SurplusCoin: "0.500000", RefundedFiat: "GH₵ 33.51", RefundedCoin: "1.000000",
		ListHref: "/dashboard/payments", PreviousHref: "/dashboard/payments/PAY_1", NextHref: "/dashboard/payments/PAY_2",
		Mails: []dashboard.MailRow{{ID: "7", Subject: "About your payment to Sunbird Coffee", Status: "kept", At: now}},
		Rate:  "1 XRP = GH₵ 33.5135", Evidence: evidence(),
		CustomerCode: "CUS_m2Vn8QkLx0Td", Network: "XRP Ledger (sandbox)", Address: "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", Tag: "4021881377", Confirmations: "1 confirmation, final at 12 and the network's own finality", AuthorizationCode: "AUTH_s8Kd02LmQp", PayURL: "http://127.0.0.1:8080/pay/tok", Expires: now,
		Metadata:  "{\n  \"cart\": \"77ab-9031\",\n  \"items\": 3\n}",
		Scenarios: []dashboard.Scenario{{Code: "exact", Label: "Exact amount", Text: "The right amount, confirmed in a few seconds."}, {Code: "late", Label: "Late", Text: "First seen after the window."}},
	}
}

func book() map[string]templ.Component {
	refused := ui.Form{Values: map[string]string{"business_name": "Sunbird Coffee", "name": "Amara", "email": "amara@", "password": "", "title": "Invoice 1042", "currency": "GHC", "amount_kind": "open", "url": "shop", "type": "Shop server", "amount": "0"}, Errors: map[string][]string{"email": {"An e-mail address needs a name, an @ and a domain."}, "password": {"A password has at least 12 characters."}, "url": {"An address begins with https:// or http://."}, "max_amount": {"At most must not be less than at least."}, "methods": {"Choose one coin or more."}}}
	pages := map[string]templ.Component{
		"error-404": layout.Error(layout.ErrorProps{Status: 404, Title: "This page does not exist",
			What: "The address may be mistyped, or what stood here was removed.",
			Do:   "Go back, or start from the overview.", RequestID: "req_8Kd02LmQp4", HomeHref: "/dashboard",
			HomeText: "Go to Overview"}),
		"sign-up":         dashboard.SignUp(dashboard.SignUpProps{CSRF: "t"}),
		"sign-up-token":   dashboard.SignUp(dashboard.SignUpProps{CSRF: "t", AskToken: true}),
		"sign-up-closed":  dashboard.SignUpClosed(),
		"sign-up-refused": dashboard.SignUp(dashboard.SignUpProps{CSRF: "t", Form: refused}),
		"sign-in":         dashboard.SignIn(dashboard.SignInProps{CSRF: "t", Notice: "You are signed out."}),
		"payment":         dashboard.Payment(paymentPage()),
		"methods":         dashboard.Methods(methodsPage()),
		"methods-real":    dashboard.Methods(realMethods()),
		"wallet":          dashboard.Wallet(walletPage()),
		"wallet-new": dashboard.Wallet(dashboard.WalletProps{Page: shell("Bitcoin wallet", "methods"),
			Form: ui.Form{Errors: map[string][]string{"key": {"Some character of this key is wrong or missing. Copy it again from your wallet."}}}, Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin", Sentence: "No wallet is set up yet, so customers can't pay in Bitcoin.", Editable: true, Prefixes: "xpub, ypub or zpub", Scripts: walletPage().Scripts}),
		"wallet-rehearse": dashboard.Wallet(dashboard.WalletProps{Page: shell("Bitcoin wallet", "methods"),
			Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin",
			Sentence: "In the test domain, payments use the sandbox's simulated network and need no wallet.",
			Editable: true, Rehearsal: true,
			Sample: "tpubDCakYCkYXV4Yx7TY6xtb6SwZ89j9KMuHgQJ26gkE6rsbFPdpUoCksmJaxEraNFWABQCpW61zS1ahBY8BCUPshFLNqVqWEb3utMeyXXmgcKc", Prefixes: "tpub, upub or vpub", Scripts: walletPage().Scripts}),
		"wallet-seen":      dashboard.Wallet(dashboard.WalletProps{Page: shell("Dogecoin wallet", "methods"), Code: "crypto_dogecoin", Coin: "DOGE", Name: "Dogecoin", Sentence: "No wallet is set up yet, so customers can't pay in Dogecoin.", Why: "Only an owner of the business can set or change it."}),
		"wallet-list":      dashboard.Wallet(addressListPage()),
		"wallet-ether":     dashboard.Wallet(dashboard.WalletProps{Page: shell("Ether wallet", "methods"), Code: "crypto_ethereum", Coin: "ETH", Name: "Ether", Sentence: "No wallet is set up yet, so customers can't pay in Ether.", Editable: true, Prefixes: "xpub"}),
		"wallet-address":   dashboard.Wallet(oneAddressPage()),
		"wallet-prove":     dashboard.Wallet(provePage()),
		"wallet-proved":    dashboard.Wallet(provedPage()),
		"address-review":   dashboard.AddressReview(addressReview()),
		"wallet-review":    dashboard.WalletReview(reviewPage()),
		"account":          dashboard.Wallet(accountPage()),
		"account-new":      dashboard.Wallet(newAccountPage()),
		"account-review":   dashboard.AccountReview(accountReview()),
		"account-refused":  dashboard.AccountReview(refusedAccount()),
		"wallet-refused":   dashboard.WalletReview(refusedReview()),
		"rates":            dashboard.Rates(ratesPage()),
		"rates-test":       dashboard.Rates(dashboard.RatesProps{Page: shell("Rates", "rates"), Note: "Prices of the test domain come from a fixed table.", Currencies: ratesPage().Currencies, Coins: ratesPage().Coins, Rules: ratesPage().Rules, Pairs: ratesPage().Pairs, Detail: dashboard.PairDetail{Pair: "BTC/USD", Problem: "No rate."}}),
		"rate-policy":      dashboard.RatePolicy(policyPage()),
		"rate-policy-seen": dashboard.RatePolicy(dashboard.RatePolicyProps{Page: shell("Prices in USD", "rates"), Currency: "USD", Dollar: true, Rate: "Not needed", Spread: "None", Sample: "$100.00", Problem: "There is no price."}),
		"links":            dashboard.Links(dashboard.LinksProps{Page: shell("Payment links", "links"), Manage: true, Rows: []dashboard.LinkRow{linkRow(), {ID: "2", Code: "y0ga22", Title: "Yoga class", Amount: "Open, from ₦500.00", Used: "12", Collected: []string{"₦31,400.00", "$20.00"}, State: "inactive", Created: now}, {ID: "3", Code: "r4ffle", Title: "Raffle ticket", Amount: "$2.00", Used: "50 of 50", Collected: []string{"$100.00"}, State: "used_up", Active: true, Created: now}}, Pager: ui.PagerProps{Shown: "3 links"}}),
		"links-empty":      dashboard.Links(dashboard.LinksProps{Page: shell("Payment links", "links"), Manage: true}),
		"link-new":         dashboard.LinkForm(dashboard.LinkFormProps{Page: shell("New payment link", "links"), Form: ui.Form{Values: map[string]string{"currency": "NGN"}}, Methods: methods, MethodsOn: map[string]bool{"crypto_bitcoin": true, "crypto_ripple": true}, Networks: map[string]string{"crypto_tether": "Ethereum (ERC-20), Tron (TRC-20)"}}),
		"link-edit":        dashboard.LinkForm(dashboard.LinkFormProps{Page: shell("Edit payment link", "links"), ID: "1", Form: ui.Form{Values: map[string]string{"title": "Bag of beans", "currency": "NGN", "amount": "25000"}}, Methods: methods}),
		"link-new-refused": dashboard.LinkForm(dashboard.LinkFormProps{Page: shell("New payment link", "links"), Form: refused, Methods: methods}),
		"link":             dashboard.Link(dashboard.LinkProps{Page: shell("Bag of beans", "links"), Manage: true, LinkRow: linkRow(), URL: "https://pay.example/l/b3anz7", QR: qr("https://pay.example/l/b3anz7"), Description: "One kilo, roasted this week.", Coins: []string{"BTC", "USDT · Ethereum (ERC-20), Tron (TRC-20)"}, AllCoins: true, Payments: rows()[:2]}),
		"keys":             dashboard.Keys(dashboard.KeysProps{Page: shell("API keys", "keys"), Form: ui.Form{Values: map[string]string{"permission.payments:read": "true"}, Errors: map[string][]string{"permissions": {"Choose at least one: a key without permissions can do nothing."}}}, Permissions: []dashboard.PermissionChoice{{Name: "payments:read", Field: "permission.payments:read", Text: "Read payments, payment methods and rates"}, {Name: "sends:write", Field: "permission.sends:write", Text: "Ask for and withdraw sends; people approve them"}}, NewKey: "sk_test_4fZ8Lq0WvYbN5sR2dHjXt83kPq0WvYbN5sR2dHj", NewKeyName: "Shop server", Curl: "curl http://127.0.0.1:8080/v1/payment/initiate \\\n  -H 'Authorization: Bearer sk_test_4fZ8…' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"amount\":25000,\"currency\":\"NGN\",\"first_name\":\"Chidi\",\"last_name\":\"Nwosu\",\"email\":\"chidi@example.com\",\"payment_method\":\"crypto_bitcoin\"}'", Rows: []dashboard.KeyRow{{ID: "1", Name: "Shop server", Shown: "sk_test_…2dHj", Created: now}, {ID: "2", Name: "Old server", Shown: "sk_test_…9f3a", Created: now, LastUsed: now, Until: now.Add(24 * time.Hour)}, {ID: "3", Name: "Laptop", Shown: "sk_test_…77Qe", Created: now, LastUsed: now, Revoked: now}}}),
		"keys-empty":       dashboard.Keys(dashboard.KeysProps{Page: shell("API keys", "keys")}),
		"mailbox":          dashboard.Mailbox(dashboard.MailboxProps{Page: shell("E-mails", "mailbox"), NoServer: true, Rows: []dashboard.MailRow{{ID: "1", To: "chidi@example.com", Subject: "[TEST] Receipt from Sunbird Coffee: ₦25,000.00", Status: "sent", At: now}, {ID: "2", To: "wanjiru@example.com", Subject: "[TEST] Receipt from Sunbird Coffee: KSh 4,200.00", Status: "failed", LastError: "550 mailbox unavailable", At: now}}, Pager: ui.PagerProps{Shown: "2 e-mails"}}),
		"mailbox-empty":    dashboard.Mailbox(dashboard.MailboxProps{Page: shell("E-mails", "mailbox")}),
		"mail-page":        dashboard.Mail(dashboard.MailProps{Page: shell("Mail", "mailbox"), MailRow: dashboard.MailRow{ID: "1", To: "chidi@example.com", Subject: "[TEST] Receipt from Sunbird Coffee: ₦25,000.00", Status: "failed", LastError: "550 mailbox unavailable", At: now}, From: "Sunbird Coffee <receipts@pay.example>", Text: mail.ReceiptText(receiptProps()), Attempts: 3, CanResend: true, PaymentReference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"}),
		"mail-once-more":   dashboard.Mail(dashboard.MailProps{Page: shell("Mail", "mailbox"), MailRow: dashboard.MailRow{ID: "1", To: "chidi@example.com", Subject: "[TEST] Receipt from Sunbird Coffee: ₦25,000.00", Status: "unknown", LastError: "The mail server took the message but never confirmed it. It may have arrived.", At: now}, From: "Sunbird Coffee <receipts@pay.example>", Text: mail.ReceiptText(receiptProps()), Attempts: 1, CanResend: true, OnceMore: now.Add(24 * time.Hour), PaymentReference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"}),
		"mail-receipt":     mail.Receipt(receiptProps()),
		"mail-wallet":      mail.Notice(mail.WalletChanged(notice())),
		"docs":             docs.Reference(reference()),
		"docs-chapter":     docs.Reference(referenceChapter()),
	}
	maps.Copy(pages, webhookPages(refused))
	maps.Copy(pages, peoplePages())
	maps.Copy(pages, systemPages())
	maps.Copy(pages, chainMails())
	maps.Copy(pages, statementMails())
	maps.Copy(pages, auditPages())
	maps.Copy(pages, callPages())
	maps.Copy(pages, settingsPages())
	live := shell("Transactions", "payments")
	live.Domain, live.LiveAvailable, live.Flash = "live", true, layout.Flash{Kind: "good", Text: "Your payment link is ready to be shared."}
	maps.Copy(pages, paymentPages(live))
	maps.Copy(pages, overviewPages(live))
	maps.Copy(pages, unmatchedPages())
	maps.Copy(pages, sendPages(live))
	maps.Copy(pages, customerPages())
	maps.Copy(pages, resolvePages(live))
	maps.Copy(pages, booksPages())
	maps.Copy(pages, notificationPages())
	maps.Copy(pages, tillPages())
	maps.Copy(pages, goingLivePages(live))
	for _, view := range views {
		pages["pay-"+string(view)] = checkout.Page(checkout.PageProps{StatusProps: status(view, "BTC"), Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Test: view == checkout.Waiting || view == checkout.Confirm, Scenarios: scenarios})
	}
	for coin := range coins {
		pages["pay-waiting-"+coin] = checkout.Page(checkout.PageProps{StatusProps: status(checkout.Waiting, coin), Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"})
	}
	maps.Copy(pages, languagePages())
	maps.Copy(pages, dashboardLanguagePages(pages))
	maps.Copy(pages, refundPages())
	maps.Copy(pages, posterPages())
	maps.Copy(pages, sweepPages())
	maps.Copy(pages, collectPages())
	claimed := status(checkout.WindowOver, "BTC")
	claimed.Claim = checkout.ClaimProps{Errors: []string{"A Bitcoin transaction hash has 64 characters."}}
	pages["pay-claim-refused"] = checkout.Page(checkout.PageProps{StatusProps: claimed, Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"})
	link := checkout.LinkPageProps{Lang: "en", Code: "b3anz7", State: checkout.LinkOpen, Merchant: "Sunbird Coffee", Title: "Bag of beans", Description: "One kilo, roasted this week.", Fixed: "₦25,000.00", Test: true, Methods: []checkout.Choice{{Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin", Network: "Bitcoin network"}, {Code: "crypto_tether", Coin: "USDT", Name: "Tether USDt", Network: "Ethereum (ERC-20)"}, {Code: "crypto_ripple", Coin: "XRP", Name: "XRP", Network: "XRP Ledger"}}}
	pages["link-page"] = checkout.LinkPage(link)
	link.Fixed, link.Currency, link.Min, link.Max, link.Lang = "", "NGN", "₦500", "₦20,000", "fr"
	link.Form = ui.Form{Values: map[string]string{"amount": "10", "first_name": "Zoé", "payment_method": "crypto_ripple"}, Errors: map[string][]string{"amount": {"Le montant est trop petit."}}}
	pages["link-page-open"] = checkout.LinkPage(link)
	for _, state := range []checkout.LinkState{checkout.LinkInactive, checkout.LinkExpired, checkout.LinkUsedUp} {
		link.State = state
		pages["link-page-"+strings.ReplaceAll(string(state), " ", "-")] = checkout.LinkPage(link)
	}
	return pages
}

func linkRow() dashboard.LinkRow {
	return dashboard.LinkRow{ID: "1", Code: "b3anz7", Title: "Bag of beans", Amount: "₦25,000.00", Used: "3 of 10", Collected: []string{"₦75,000.00"}, State: "open", Active: true, Created: now}
}

func methodsPage() dashboard.MethodsProps {
	return dashboard.MethodsProps{Page: shell("Payment methods", "methods"), Manage: true, Methods: []dashboard.MethodRow{
		{Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin", Network: "Bitcoin", Enabled: true, Available: true, Sentence: "Pays on the sandbox: nothing else is needed."},
		{Code: "crypto_ethereum", Coin: "ETH", Name: "Ethereum", Network: "Ethereum", Enabled: true, Available: true, Sentence: "Pays on the sandbox: nothing else is needed.", Networks: methodNetworks(money.ETH)},
		{Code: "crypto_tether", Coin: "USDT", Name: "Tether USDt", Network: "Ethereum (ERC-20)", Available: true, Sentence: "Off: customers don't see it.", Networks: methodNetworks(money.USDT)},
		{Code: "crypto_ripple", Coin: "XRP", Name: "XRP", Network: "XRP Ledger", Enabled: true, Available: true, Sentence: "Pays on the sandbox: nothing else is needed."},
		{Code: "crypto_dogecoin", Coin: "DOGE", Name: "Dogecoin", Network: "Dogecoin", Enabled: true,
			Sentence: "Needs a node: the operator sets COINTILL_LIVE_DOGECOIN_URL."},
	}}
}

// methodNetworks are the networks of a coin with their switches.
func methodNetworks(coin money.Coin) (rows []dashboard.MethodNetworkRow) {
	for i, n := range networkOptions(coin) {
		rows = append(rows, dashboard.MethodNetworkRow{Code: n.Code, Label: n.Label,
			Fee:     "A transfer of " + string(coin) + " usually costs the customer under " + n.Fee + ".",
			Needs:   "To send the money on, your wallet needs " + n.Native + " for fees. A transfer is final after 19 blocks, in about 57 s.",
			Enabled: i < 2, Preselected: i == 0})
	}
	return rows
}

// referenceChapter is the reference with the page of its first group.
func referenceChapter() docs.ReferenceProps {
	p := reference()
	p.Chapter = p.Groups[0].ID
	return p
}

func reference() docs.ReferenceProps {
	return docs.ReferenceProps{
		BaseURL: "http://127.0.0.1:8080", Version: "1.0.0", Quickstart: "curl http://127.0.0.1:8080/v1/payment/initiate \\\n  -H 'Authorization: Bearer sk_test_…'",
		Errors:      []docs.ErrorCode{{Code: "validation_failed", Status: "422", Text: "Fields need another look; errors lists them."}, {Code: "rate_unavailable", Status: "503", Text: "No fresh price. Try again after Retry-After."}},
		FieldErrors: []docs.ErrorCode{{Code: "required", Text: "It is missing or empty."}, {Code: "unknown_value", Text: "It is none of the values that there are."}},
		Events:      []docs.Event{{Type: "payment.initiated", Text: "A payment was made."}, {Type: "payment.successful", Text: "Final confirmation, right amount."}},
		Scenarios:   []docs.Scenario{{Code: "exact", Text: "The right amount, confirmed in a few seconds."}},
		Groups: []docs.Group{{ID: "payments", Title: "Payments", Text: "The heart of the service.", Operations: []docs.Operation{
			{ID: "initiate", Method: "POST", Path: "/v1/payment/initiate", Summary: "Initiate a payment", Description: "Locks a price and gives the address of the payment page.", Request: []docs.Field{{Name: "currency", Type: "string", Required: true, Text: "NGN, GHC, KES or USD."}, {Name: "amount", Type: "integer", Required: true, Text: "1 to 1,000,000, in whole major units."}, {Name: "metadata", Type: "object or array", Text: "Returned as given."}}, Responses: []docs.Response{{Status: "201", Text: "Initiated", Example: "{\n  \"status\": true\n}"}, {Status: "409", Text: "The business reference is taken"}}, Examples: []docs.Example{{Language: "curl", Text: "curl …"}, {Language: "PHP", Text: "<?php\necho 1;"}}},
			{ID: "verify", Method: "GET", Path: "/v1/payment/verify/{business_reference}", Summary: "Verify a payment", Parameters: []docs.Field{{Name: "business_reference", In: "path", Type: "string", Required: true, Text: "Either reference."}}, Responses: []docs.Response{{Status: "200", Text: "The record", Example: "{}"}}},
		}}},
	}
}
