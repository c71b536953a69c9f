package catalogue

import "maps"

// About documents a property whose Go type belongs to core, or that is part of every error: a
// description and an example.
type About struct {
	Text    string
	Example any
}

// ListAbouts documents those types, by schema and property. A test demands that
// every property of the document has a description.
func ListAbouts() map[string]map[string]About {
	all := maps.Clone(abouts)
	maps.Copy(all, aboutsOfSigning)
	return all
}

var abouts = map[string]map[string]About{
	"Payment": {
		"domain": {"Environment: test or live.", "test"},
		"reference": {"The service's reference. It may be shown to the customer.",
			"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"business_reference": {"Your reference, or the one that was made for you.", "order-1001"},
		"authorization_code": {"Authorization code of the payment, from its initiation on.",
			"AUTH_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"status":      {"State of the payment. Give value only when it is successful.", "successful"},
		"reason":      {"Machine-readable reason for the state; empty when there is nothing to explain.", ""},
		"remark":      {"The reason as a sentence, or a dash.", "-"},
		"reversed":    {"The chain took the money back after it was final. Rare and grave.", false},
		"business":    {"The merchant.", nil},
		"customer":    {"Who pays.", nil},
		"transaction": {"What was asked, and what came.", nil},
		"transfers": {"Transfers of the coin to the payment: the first 100 that count or did, then the first 100 that " +
			"are surplus.", nil},
		"sends":      {"Refunds of this payment that were asked for as sends: the first 100.", nil},
		"rate":       {"The price at which it was quoted.", nil},
		"expires_at": {"End of the 7 minutes in which the quoted price holds.", "2026-01-31T12:07:00.000000Z"},
		"completed_at": {"When it became successful or declined; null in every other state.",
			"2026-01-31T12:21:40.000000Z"},
		"created_at": {"When it was initiated.", "2026-01-31T12:00:00.000000Z"},
	},
	"Business": {
		"name":   {"The merchant's name.", "Lagos Books"},
		"code":   {"The merchant's code.", "BUS_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"domain": {"Environment.", "test"},
	},
	"Customer": {
		"full_name": {"Name as given with this payment.", "Ada Obi"},
		"email":     {"E-mail address.", "ada.obi@example.com"},
		"code":      {"The customer's code, the same for each of their payments.", "CUS_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
	},
	"Transaction": {
		"charged_amount": {"What was asked, in fiat.", "25000.00"},
		"amount_paid":    {"What came, in fiat at the locked price.", "25000.00"},
		"difference":     {"What came minus what was asked, in fiat.", "0.00"},
		"currency":       {"Fiat currency.", "NGN"},
		"charged_amount_in_crypto": {"What was asked, in the coin. Where the business receives with one address it rises " +
			"when the payment is opened, and only a transfer of exactly this amount is recognised.", "0.00027778"},
		"amount_paid_in_crypto": {"What came, in the coin.", "0.00027778"},
		"difference_in_crypto":  {"What came minus what was asked, in the coin.", "0.00000000"},
		"surplus_in_crypto": {"Amount received in addition to the amount paid, and owed back: it is confirmed, the payment " +
			"ended without it, and it was neither refunded nor attached to a payment.", "0.00000000"},
		"refunded_amount":           {"What was refunded of the amount paid, in fiat at the locked price.", "0.00"},
		"refunded_amount_in_crypto": {"What was refunded of the amount paid, in the coin.", "0.00000000"},
		"payment_method":            {"The payment method and its coin.", nil},
		"network": {"The network that it is to be paid on. Once money came, the network on which it came first: each " +
			"transfer names its own.", "bitcoin-mainnet"},
		"crypto_transaction_hash": {"Hash of the transaction that pays; empty before there is one.", "9f2c41d6a0"},
		"crypto_confirmations":    {"Confirmations of that transaction.", 2},
		"metadata":                {"What was sent as metadata, as it was written; null when nothing was.", nil},
	},
	"Refund": {
		"id": {"Id of the send.", "SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"}, "kind": {"Always refund.", "refund"},
		"status": {"State of the send.", "processing"}, "amount": {"What is sent, in the coin.", "0.00027778"},
		"sent_in_another_way": {"People say that it was sent in another way: no transaction of it is known.", false},
		"hash":                {"Hash of the transaction that pays it; empty before one was seen.", "9f2c41d6a0"},
	},
	"Send": aboutSend, "SendSummary": aboutSend,
	"MethodOfPayment": {"code": {"The payment_method.", "crypto_bitcoin"}, "currency": {"Its coin.", "BTC"}},
	"Transfer": {
		"hash": {"Hash of the transaction.", "9f2c41d6a0"}, "amount": {"What it carries, in the coin.", "0.00027778"},
		"network":       {"The network that carries it.", "bitcoin-mainnet"},
		"counts":        {"Whether it is part of the amount paid.", true},
		"surplus":       {"Whether the payment ended without it, or it came later. It is listed under Unmatched.", false},
		"unmatched_id":  {"Its id there, for a refund by POST /v1/sends; empty where surplus is false.", ""},
		"confirmations": {"Its confirmations; 0 while it is unconfirmed or gone.", 2},
		"status": {"Whether it pays: pending and confirmed do; replaced, dropped, reorged and reverted " +
			"don't, and are no part of any amount.", "confirmed"},
		"first_seen_at": {"When it was first seen on the network: this is the payment's time. One that replaces " +
			"another with a higher fee has that one's.", "2026-01-31T12:02:10.000000Z"},
	},
	"Rate": {
		"price": {"Fiat units for one whole coin.", "90000000"}, "coin": {"The coin.", "BTC"},
		"currency":  {"The fiat currency.", "NGN"},
		"locked_at": {"When it was locked.", "2026-01-31T12:00:00.000000Z"},
	},
	"Failure": {
		"status": {"Always false.", false}, "message": {"What happened and what to do, for people.",
			"Some fields need attention."},
		"code":        {"Machine-readable code of the failure.", "validation_failed"},
		"errors":      {"Sentences by the name of the field, where fields are to blame.", nil},
		"error_codes": {"The machine-readable code of each sentence in errors, in the same order.", nil},
		"request_id":  {"Names the request. Quote it when you ask for help.", "req_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
	},
}

// aboutSend documents what a send and the events about it have in common.
var aboutSend = map[string]About{
	"id":                 {"Id of the send.", "SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
	"kind":               {"refund or payout.", "refund"},
	"status":             {"State of the send.", "ready"},
	"reason":             {"Machine-readable reason for the state; empty when there is nothing to explain.", ""},
	"domain":             {"Environment: test or live.", "test"},
	"business":           {"The merchant.", nil},
	"business_reference": {"Your reference, or the one that was made for you.", "refund-1001"},
	"payment_reference": {"The payment whose money is refunded; null for none.",
		"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
	"payment_method":      {"The payment method and its coin.", nil},
	"network":             {"The network that carries it.", "sandbox-bitcoin"},
	"amount":              {"What the recipient gets, in whole coins.", "0.00027778"},
	"value":               {"The amount's value at the locked price; null where none is known.", "25000.00"},
	"currency":            {"Currency of value; null where no price is known.", "NGN"},
	"reversed":            {"Its money came back after it was final. Rare and grave.", false},
	"paid_twice":          {"A second transaction paid it, too.", false},
	"sent_in_another_way": {"People say that it was sent in another way: no transaction of it is known.", false},
	"hash":                {"Hash of the transaction that pays it; empty before one was seen.", "9f2c41d6a0"},
	"confirmations":       {"Confirmations of that transaction.", 2},
}
