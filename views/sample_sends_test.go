package views_test

import (
	"strings"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// sendPages are the list of sends, one in each state, and the forms.
func sendPages(live layout.Page) map[string]templ.Component {
	const hash = "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"
	page := shell("Sends", "sends")
	row := dashboard.SendRow{Reference: "SND_01H8XKQ2", Href: "/dashboard/sends/SND_01H8XKQ2", Kind: "refund", State: "awaiting_approval", Amount: "0.00021437 BTC", CoinSymbol: "BTC",
		Value: "₦25,000.00", Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Who: "Amara Okafor", Created: now}
	var list []dashboard.SendRow
	for i, state := range []string{"awaiting_destination", "awaiting_approval", "ready", "processing", "successful", "failed", "rejected", "cancelled", "expired"} {
		one := row
		one.State, one.PaidTwice, one.Reversed = state, i == 4, i == 4
		if i == 0 {
			one.Address = ""
		}
		if i%2 == 1 {
			one.Kind, one.Amount, one.Address, one.Tag, one.Payment, one.Who = "payout", "31.250002 XRP", "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", "4021881377", "", "API key "+strings.Repeat("Server", 8)
		}
		list = append(list, one)
	}
	tabs := []dashboard.Tab{{Text: "All", Href: "/dashboard/sends", On: true}, {Text: "To approve (1)", Href: "/dashboard/sends?show=approve"}, {Text: "To sign (1)", Href: "/dashboard/sends?show=sign"}, {Text: "On the way", Href: "/dashboard/sends?show=way"}}
	sums := []dashboard.Figure{{Was: "To approve", Value: "$1,204.00", Note: "3 sends"}, {Was: "To sign", Value: "$0.00", Note: "0 sends"}, {Was: "On the way", Value: "$12.00", Note: "1 send"}, {Was: "Completed in 30 days", Value: "$8,310.50", Note: "41 sends"}}
	sends := dashboard.SendsProps{Page: page, Ask: true, Sign: true, Tabs: tabs, Sums: sums, Rows: list, Pager: ui.PagerProps{Shown: "9 sends", Next: "/dashboard/sends?before=9"}}
	one := dashboard.SendProps{Page: page, SendRow: row, Sentence: "It waits for 1 more approval.", Next: "Compare the amount and the address with what was agreed, then approve or reject it.",
		CoinName: "Bitcoin", Network: "Bitcoin · sandbox-bitcoin", Rate: "1 BTC = 116620796.00 NGN", RateWhy: ", the payment’s locked rate", ByCustomer: true, BusinessReference: "order-1042", Note: "As agreed",
		Metadata: "{\n  \"order\": 1042\n}", Needed: 2, Given: "1", Approvals: []dashboard.ApprovalRow{{Who: "Bayo Ade", At: now}}, Version: "3", CanApprove: true, CanReject: true, CanCancel: true, CanPlay: true, SecondFactor: true,
		Timeline: []ui.Step{{At: now, Title: "Refund asked for", Text: "by Amara Okafor", Tone: ui.Mute, Icon: "ring"}, {At: now, Title: "Transaction seen", Mono: hash, MonoLabel: "transaction hash", Tone: ui.Info, Icon: "ring"}}}
	safeRow := dashboard.SafeSend{SendRow: list[2], Chosen: true}
	handed := dashboard.SafeSend{SendRow: list[3], Account: "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199"}
	safes := dashboard.SafeProps{Page: page, Form: ui.Form{Values: map[string]string{"network": "ethereum-mainnet"}, Errors: map[string][]string{"account": {"Is no contract wallet on this network. Sign its sends one by one."}, "send": {"Choose 1 to 100 sends."}}},
		Batches: []dashboard.SafeBatch{{Network: "ethereum-mainnet", Wallets: []ui.Option{{Value: handed.Account, Label: handed.Account}}, Sends: []dashboard.SafeSend{safeRow, handed}}, {Network: "ethereum-sepolia"},
			{Network: "chain-10", Wallets: []ui.Option{{Value: handed.Account, Label: handed.Account}}}}}
	refused := one
	refused.Form = ui.Form{Errors: map[string][]string{"password": {"This isn't your password."}, "note": {"May not hold invisible or control characters."}}, Values: map[string]string{"note": "x"}}
	ready := one
	ready.State, ready.CanApprove, ready.CanReject, ready.CanPlay, ready.HandedOut, ready.Working, ready.ValidUntil = "ready", false, false, false, true, true, now
	ready.CanAttach, ready.Form = true, ui.Form{Values: map[string]string{"hash": "0x1"}, Errors: map[string][]string{"hash": {"Must be the hash of a transaction, as the wallet shows it."}}}
	ready.Scenarios = []dashboard.Scenario{{Code: "exact", Label: "Exactly as approved", Text: "The wallet signs and sends the transaction."}}
	waiting := one
	waiting.SendRow, waiting.ClaimURL, waiting.CanApprove, waiting.CanPlay, waiting.Working = list[0], "http://localhost:8080/refund/"+strings.Repeat("k", 40), false, false, true
	failed := one
	failed.SendRow, failed.CanApprove, failed.CanReject, failed.CanPlay, failed.CanRetry, failed.MayConfirm = list[5], false, false, false, true, true
	failed.Transactions = []dashboard.SendTransaction{{Hash: hash, State: "No longer on the network: dropped", Tone: ui.Warn, FirstSeen: now}}
	done := one
	done.Page, done.SendRow, done.Next, done.CanApprove, done.CanReject, done.CanCancel, done.CanPlay, done.BySandbox, done.Sentence = live, list[4], "", false, false, false, false, true, "The recipient has the money: the transaction is final."
	done.Fee = "0.00000705 BTC"
	done.Transactions = []dashboard.SendTransaction{{Hash: hash, State: "3 confirmations", Tone: ui.Good, FirstSeen: now}}
	marked := ready
	marked.Form, marked.Scenarios, marked.CanCancel, marked.CanAttach = ui.Form{}, nil, false, false
	marked.Marked, marked.CanMark, marked.HandedOut = true, true, true
	marked.Sentence = "Amara Okafor says that it was sent in another way. Another owner or admin must agree."
	markForm := dashboard.SendAnotherWayProps{SendProps: marked, First: "Amara Okafor",
		FirstNote: "Paid in cash at the till"}
	markForm.Form = ui.Form{Errors: map[string][]string{"note": {"Must say how it was sent."}}}
	another := done
	another.AnotherWay, another.State, another.PaidTwice, another.Reversed = true, "successful", false, false
	another.Transactions, another.Fee, another.BySandbox = nil, "", false
	another.Sentence = "Amara Okafor says that it was sent in another way. No transaction of it is known, and nothing of it is " +
		"booked."
	failed.CanMark = true
	refund := dashboard.SendFormProps{Page: page, Form: ui.Form{Values: map[string]string{"amount": "9", "address": "nowhere"}, Errors: map[string][]string{"amount": {"Is more than is left to refund: 0.00021437 BTC."}, "address": {"Is not an address of Bitcoin."}}},
		Payment: row.Payment, Customer: "Chidi Nwosu", Coin: "BTC", Currency: "NGN", Left: row.Amount, AcceptFirst: true, Surplus: "0.00001948", LeftFiat: row.Value, Ask: true, Email: "chidi@example.com"}
	stray := refund
	stray.Form, stray.Payment, stray.Transfer, stray.Currency, stray.Ask, stray.HasTag, stray.Coin = ui.Form{}, "", "7", "", false, true, "XRP"
	none := refund
	none.Left, none.Problem = "", "All of this money was refunded, or other sends of it are open."
	payout := dashboard.SendFormProps{Page: page, Methods: []ui.Option{{Value: "crypto_bitcoin", Label: "Bitcoin (BTC)"}}, Currencies: []ui.Option{{Value: "NGN", Label: "NGN"}}}
	rules := dashboard.SendRulesProps{Page: page, Now: dashboard.SendRuleTexts{One: "Every send", Two: "Never", Limit: "No limit"}, Planned: dashboard.SendRuleTexts{One: "$100.00 and more", Two: "$1,000.00 and more", Limit: "$5,000.00"}, From: now, Change: true, SecondFactor: true,
		Form: ui.Form{Values: map[string]string{"one_from": "0"}, Errors: map[string][]string{"two_from": {"Must be an amount of USD with at most two decimals, such as 250.00."}}}}
	paying := []ui.Option{{Value: "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199", Label: "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199"}}
	unprepared := dashboard.SendSignProps{Page: page, SendRow: row, Network: "Ethereum · ethereum-mainnet"}
	unprepared.SignHref, unprepared.FileHelp = row.Href+"/sign", "The signed transaction in hexadecimal. It begins with 0x."
	unprepared.SendRow.Amount, unprepared.SendRow.CoinSymbol, unprepared.SendRow.Address = "120.5 USDT", "USDT", "0x52908400098527886E0F7030069857D2E4169EE7"
	choose := unprepared
	choose.Wallets = paying
	path, size, err := ui.QRPath("ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=120500000")
	if err != nil {
		panic(err)
	}
	prepared := choose
	prepared.Account, prepared.Fee, prepared.Request, prepared.ChainID = paying[0].Value, "0.0004 ETH", `{"from":"0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199"}`, "1"
	prepared.URI, prepared.QR = "ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=120500000", ui.QRProps{Path: path, Size: size, Alt: "Link"}
	prepared.Files = []dashboard.SendFile{{Name: "unsigned.json", Href: row.Href + "/sign?file=unsigned.json"}, {Name: "unsigned.txt", Href: row.Href + "/sign?file=unsigned.txt"}}
	onTron := prepared
	onTron.Network, onTron.Account, onTron.Fee, onTron.Returns = "Tron (TRC-20) · tron-mainnet", "TY7x9JDshHvdmkA4StpXFLHWqRGc7Y2MxM", "8.450000 TRX", true
	onTron.SendRow.Address, onTron.URI, onTron.Files = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf", "", prepared.Files[:1]
	onTron.Wallets = []ui.Option{{Value: onTron.Account, Label: onTron.Account}}
	differs := prepared
	differs.Differences = []dashboard.SendField{{Field: "To", Approved: "0x52908400098527886E0F7030069857D2E4169EE7", Signed: "0x8617E340B3D01FA5F11F306F4090FD50E238070D"}, {Field: "Amount", Approved: "120.5 USDT", Signed: "120.500001 USDT"}}
	differs.Conflicts = []dashboard.SendConflict{{Reference: "SND_01H8XKQ9", Href: row.Href, Number: "41"}}
	choose.Conflicts = differs.Conflicts
	checked := prepared
	checked.Sent, checked.Given = "0x"+hash, now
	checked.Checked = []dashboard.SendField{{Field: "To", Approved: row.Address, Signed: row.Address}, {Field: "Highest fee", Approved: "0.0004 ETH", Signed: "0.0003 ETH"}}
	declined := checked
	declined.Refused = "The wallet has too little ETH for the amount and the network's fee."
	outputs := prepared
	outputs.SendRow.Amount, outputs.SendRow.Address, outputs.Network = "0.00021437 BTC", row.Address, "Bitcoin · bitcoin-mainnet"
	outputs.Wallets = []ui.Option{{Value: "zpub1", Label: "zpub6rFR7y4Q2Aij…8hV6vYMB1jqx (native SegWit (P2WPKH))"}}
	outputs.Account, outputs.Fee, outputs.Request, outputs.URI, outputs.QR = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs", "0.00000705 BTC (5 sat/vB)", "", "", ui.QRProps{}
	outputs.Speeds = []ui.Option{{Value: "usual", Label: "Usual: within some hours"}}
	outputs.Files = []dashboard.SendFile{{Name: "unsigned.psbt", Href: row.Href + "/sign?file=unsigned.psbt"}}
	outputs.Scans, outputs.NetworkCode = true, "bitcoin-mainnet"
	outputs.Parts = []ui.QRProps{{Path: path, Size: size, Alt: "Part 1 of 2"}, {Path: path, Size: size, Alt: "Part 2 of 2"}}
	outputs.Differences = []dashboard.SendField{{Field: "Signature", Approved: "", Signed: "missing, " + hash + ":0"}}
	contract := prepared
	contract.Contract, contract.Fee, contract.Request, contract.URI, contract.QR = true, "", "", "", ui.QRProps{}
	contract.Files = []dashboard.SendFile{{Name: "safe.json", Href: row.Href + "/sign?file=safe.json"}}
	together := outputs
	together.SendRow, together.SignHref, together.Sum, together.Differences, together.Sent = dashboard.SendRow{}, "/dashboard/sends/together/7", "0.00142874 BTC", nil, hash
	for i := range 3 {
		one := dashboard.BatchRow{SendRow: row, Signed: "As approved"}
		one.State, one.Reference, one.Href, one.Amount = "ready", "SND_01H8XKQ"+strings.Repeat("9", i), row.Href, "0.00071437 BTC"
		together.Batch = append(together.Batch, one)
	}
	together.Batch[2].State, together.Batch[2].Signed = "cancelled", ""
	chosen := together
	chosen.Account, chosen.Fee, chosen.Sent, chosen.SignHref, chosen.Files, chosen.Parts, chosen.Chosen = "", "", "", "/dashboard/sends/together", nil, nil, []string{"SND_01H8XKQ9", "SND_01H8XKQ99"}
	chosen.Batch = []dashboard.BatchRow{{SendRow: together.Batch[0].SendRow}, {SendRow: together.Batch[1].SendRow}}
	batchDiffers := together
	batchDiffers.Batch = []dashboard.BatchRow{together.Batch[0], {SendRow: together.Batch[1].SendRow, Signed: "0.00071436 BTC, " + row.Address, Differs: true}}
	batchDiffers.Differences = []dashboard.SendField{{Field: "Paid", Approved: "0.00071437 BTC, " + row.Address, Signed: "0.00071436 BTC, " + row.Address}}
	outdated, nothing := together, together
	outdated.Outdated, outdated.Sent, nothing.Nothing, nothing.Batch = true, "", true, together.Batch[2:]
	toSign := sends
	toSign.Shown, toSign.Rows = "sign", []dashboard.SendRow{list[2], list[2]}
	for i := range toSign.Rows {
		toSign.Rows[i].Joins, toSign.Rows[i].Reference = true, "SND_01H8XKQ"+strings.Repeat("9", i)
	}
	toApprove := sends
	toApprove.TickHref, toApprove.Shown, toApprove.Rows = "/dashboard/sends?show=approve&tick=all", "approve", []dashboard.SendRow{list[1], list[1]}
	for i := range toApprove.Rows {
		toApprove.Rows[i].Joins, toApprove.Rows[i].Ticked, toApprove.Rows[i].Reference = true, i == 1, "SND_01H8XKQ"+strings.Repeat("9", i)
	}
	approve := dashboard.SendApproveProps{Page: page, SecondFactor: true, Sum: "$1,204.00", Rows: []dashboard.ApprovalSend{
		{SendRow: row, Network: "Bitcoin · sandbox-bitcoin", Version: "1-0123456789abcdef", Note: "As agreed", BusinessReference: "order-1042", Given: 1, Needed: 2},
		{SendRow: list[1], Network: "XRP Ledger · xrpl-mainnet", Version: "1-0123456789abcdef", Needed: 1}}}
	notApproved := approve
	notApproved.LeftOut, notApproved.Form = 2, ui.Form{Errors: map[string][]string{"password": {"This isn't your password."}}}
	notApproved.Refusals = []dashboard.ApprovalRefusal{{Reference: row.Reference, Href: row.Href, Text: "With this send more would be approved in 24 hours than your limit of 500.00 USD. Approve it later, or raise the limit in Sends."}}
	noKey := unprepared
	noKey.Speeds = outputs.Speeds
	columns := []dashboard.PayoutColumn{{Name: "coin", About: "BTC, ETH, USDT, XRP or DOGE. Required."}, {Name: "business_reference", About: "Your own reference, each one once."}}
	book := dashboard.AddressBookProps{Page: page, Change: true, Ask: true, SecondFactor: true, Methods: payout.Methods, Addresses: []dashboard.BookAddress{
		{ID: "1", Name: "Landlord", Network: "bitcoin-mainnet", Address: row.Address, Waits: now}, {ID: "2", Name: strings.Repeat("Supplier", 10), Network: "xrpl-mainnet", Address: "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", Tag: "4021881377"}},
		Form: ui.Form{Values: map[string]string{"name": "x"}, Errors: map[string][]string{"address": {"Is not an address of Bitcoin (mainnet)."}}}}
	bookToSee, noBook := book, dashboard.AddressBookProps{Page: page, Change: true}
	bookToSee.Change, bookToSee.Ask, bookToSee.Form = false, false, ui.Form{}
	file := dashboard.PayoutFileProps{Page: page, Columns: columns}
	wrongFile := file
	wrongFile.Wrong, wrongFile.More = []dashboard.PayoutFileError{{Row: "Row 2", Column: "address", Sentence: "Is not an address of Bitcoin (mainnet). Copy it again from the recipient's wallet."}, {Sentence: "The file is larger than 1 MiB."}}, true
	noFile := file
	noFile.Form = ui.Form{Errors: map[string][]string{"file": {"Choose a file first."}}}
	wallets := dashboard.PayoutWalletsProps{Page: page, Change: true, SecondFactor: true, Networks: []ui.Option{{Value: "ethereum-mainnet", Label: "ethereum-mainnet"}},
		Wallets: []dashboard.PayoutWallet{{ID: "1", Network: "ethereum-mainnet", Address: paying[0].Value, Who: "Amara Okafor", Created: now}},
		Form:    ui.Form{Values: map[string]string{"address": "0x1"}, Errors: map[string][]string{"address": {"Must be an account: 0x and 40 of the characters 0–9 and a–f."}}}}
	removing := wallets
	removing.Removed, removing.Form = wallets.Wallets[0], ui.Form{Errors: map[string][]string{"password": {"This isn't your password."}}}
	reader, unconnected := wallets, dashboard.PayoutWalletsProps{Page: page, Change: true}
	reader.Change, reader.Form = false, ui.Form{}
	seen := rules
	seen.Change = false
	empty := func(shown, payment string, ask bool) templ.Component {
		return dashboard.Sends(dashboard.SendsProps{Page: page, Ask: ask, Tabs: tabs, Sums: sums, Shown: shown, Payment: payment})
	}
	return map[string]templ.Component{
		"sends": dashboard.Sends(sends), "sends-empty": empty("", "", true), "sends-empty-to-see": empty("", "", false), "sends-none-approve": empty("approve", "", true), "sends-none-sign": empty("sign", "", true),
		"sends-none-way": empty("way", "", true), "sends-none-address": empty("address", "", true), "sends-none-failed": empty("failed", "", true), "sends-none-done": empty("done", "", true), "sends-none-of-payment": empty("", row.Payment, true),
		"send": dashboard.Send(one), "send-refused": dashboard.Send(refused), "send-ready": dashboard.Send(ready), "send-waiting": dashboard.Send(waiting), "send-failed": dashboard.Send(failed), "send-done": dashboard.Send(done),
		"send-marked": dashboard.Send(marked), "send-another-way": dashboard.SendAnotherWay(markForm),
		"send-another-way-done": dashboard.Send(another),
		"send-refund":           dashboard.SendForm(refund), "send-refund-transfer": dashboard.SendForm(stray),
		"send-refund-none": dashboard.SendForm(none), "send-payout": dashboard.SendForm(payout),
		"send-sign-no-wallet": dashboard.SendSign(unprepared), "send-sign-choose": dashboard.SendSign(choose), "send-sign": dashboard.SendSign(prepared), "send-sign-tron": dashboard.SendSign(onTron),
		"send-sign-differs": dashboard.SendSign(differs), "send-sign-checked": dashboard.SendSign(checked), "send-sign-declined": dashboard.SendSign(declined),
		"send-sign-outputs": dashboard.SendSign(outputs), "send-sign-contract": dashboard.SendSign(contract), "send-sign-no-key": dashboard.SendSign(noKey),
		"sends-to-sign": dashboard.Sends(toSign), "sends-to-approve": dashboard.Sends(toApprove), "sends-approve": dashboard.SendApprove(approve), "sends-approve-refused": dashboard.SendApprove(notApproved), "send-sign-together": dashboard.SendSign(together), "send-sign-together-choose": dashboard.SendSign(chosen), "send-sign-together-differs": dashboard.SendSign(batchDiffers),
		"send-sign-together-outdated": dashboard.SendSign(outdated), "send-sign-together-nothing": dashboard.SendSign(nothing),
		"address-book": dashboard.AddressBook(book), "address-book-to-see": dashboard.AddressBook(bookToSee), "address-book-none": dashboard.AddressBook(noBook),
		"payout-file": dashboard.PayoutFile(file), "payout-file-wrong": dashboard.PayoutFile(wrongFile), "payout-file-none": dashboard.PayoutFile(noFile),
		"payout-wallets": dashboard.PayoutWallets(wallets), "payout-wallets-remove": dashboard.PayoutWallets(removing), "payout-wallets-to-see": dashboard.PayoutWallets(reader), "payout-wallets-none": dashboard.PayoutWallets(unconnected),
		"safe": dashboard.Safe(safes), "safe-none": dashboard.Safe(dashboard.SafeProps{Page: page}),
		"send-rules": dashboard.SendRules(rules), "send-rules-to-see": dashboard.SendRules(seen),
	}
}
