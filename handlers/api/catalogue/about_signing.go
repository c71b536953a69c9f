package catalogue

// aboutsOfSigning documents what programs get and give to sign sends, and to decide about payments.
var aboutsOfSigning = map[string]map[string]About{
	"AttachRequest": {
		"reference": {"Either reference of the payment that the money belongs to.", "order-1001"},
	},
	"BroadcastRequest": {
		"signed": {"The signed transaction in hexadecimal, or a signed PSBT in base64. Larger ones go by the " +
			"dashboard.", "0x02f8730180843b9aca00"},
	},
	"CustomerWithTotals": {
		"newest_only": {"Whether only the newest 5,000 payments were added up.", false},
		"code":        {"The customer's code, the same for each of their payments.", "CUS_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"payments": {"How many payments they have. A list counts up to 101, and one customer's answer up to " +
			"5,001.", 12},
		"created_at": {"When their first payment was initiated.", "2026-01-31T12:00:00.000000Z"},
		"updated_at": {"When their last payment was initiated.", "2026-01-31T12:00:00.000000Z"},
	},
	"HashRequest": {
		"hash": {"The transaction's hash, as the wallet shows it.",
			"0x4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"},
	},
	"ListedCustomer": {
		"code": {"The customer's code, the same for each of their payments.", "CUS_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"payments": {"How many payments they have. A list counts up to 101, and one customer's answer up to " +
			"5,001.", 12},
		"created_at": {"When their first payment was initiated.", "2026-01-31T12:00:00.000000Z"},
		"updated_at": {"When their last payment was initiated.", "2026-01-31T12:00:00.000000Z"},
	},
	"Signing": {
		"send": {"The send: compare its amount, address and tag with what the wallet shows.", nil},
		"account": {"What pays: a payout wallet, or the name of the account key.",
			"0x8617E340B3D01FA5F11F306F4090FD50E238070D"},
		"fee": {"The most that the network takes, in fee_currency; 0 where the wallet decides.",
			"0.00046200"},
		"fee_rate": {"The fee for a unit of the transaction's size or gas; empty where fees are no rates.", ""},
		"chain_id": {"The chain that the wallet must be on; 0 outside of Ethereum's networks.", 1},
		"uri": {"A link that a wallet opens; empty for none.",
			"ethereum:0x52908400098527886E0F7030069857D2E4169EE7@1?value=500000000000000000"},
		"wallet_request": {"The parameter of eth_sendTransaction, for a wallet in the browser; null for none.", nil},
		"qr_parts":       {"The texts of an animated QR code (BC-UR), shown one after the other; empty for none.", nil},
		"contract": {"Whether a contract wallet makes the transaction from the file: paste its hash " +
			"afterwards.", false},
	},
	"Unmatched": {
		"resolution": {"What was decided about it; empty while nothing was.", ""},
		"hash":       {"Hash of the transaction; empty where only a balance shows the money.", "9f2c41d6a0"},
		"reference": {"The payment that it belongs to, or whose address received it; null for none.",
			"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"},
		"first_seen_at": {"When it was first seen.", "2026-01-31T12:02:10.000000Z"},
	},
}
