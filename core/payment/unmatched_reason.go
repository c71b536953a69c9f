package payment

// Why a transfer credits no payment.
const (
	WrongAsset = "wrong_asset"
	// NetworkOff: it is the right asset on another network, which is off for the business.
	NetworkOff = "network_off"
	// AddressNotEntered: it is the right asset on a network for which the one address wasn't entered, and its key isn't
	// proved. There the address may be somebody else's.
	AddressNotEntered = "address_not_entered"

	MissingTag = "missing_tag"
	UnknownTag = "unknown_tag"
	// OtherAmount: no payment to the business's one address holds its amount.
	OtherAmount = "other_amount"
	AfterFinal  = "after_final"
	// Surplus: it came before the payment ended, which did not need it.
	Surplus = "surplus"
	// NotPayment: it came by something else than a payment.
	NotPayment = "not_payment"
	// NoTransaction: only the address's balance shows it; no node shows its transaction.
	NoTransaction = "no_transaction"
	// Unproved: it came by a payment whose amount can't be believed.
	Unproved = "unproved"
	// UnknownPayment: the address may have been given to a payment that a restored backup doesn't have.
	UnknownPayment = "unknown_payment"
)
