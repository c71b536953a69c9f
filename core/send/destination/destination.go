// Package destination reads the addresses and tags that sends go to.
package destination

import (
	"cmp"
	"errors"
	"strings"

	"cointill/chain"
	bitcoin "cointill/chain/bitcoin/params"
	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	xrpl "cointill/chain/xrpl/params"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/models"
)

// Destination is where a send goes.
type Destination struct {
	Address string
	Tag     *int64 // of the XRP Ledger; nil for none
}

// Network is the network of a send. Token is the contract of USDT on it, as the network's signer knows it; "" for none.
type Network struct{ Name, Token string }

// Parse reads an address and a tag for a coin on a network, and returns them in their
// usual form. Faults of the fields address and tag: Invalid.
func Parse(coin money.Coin, on Network, text string, tag *int64) (Destination, error) {
	fields := fault.Fields{}
	d := Read(coin, on, text, tag, fields)
	return d, fault.Validation(fields)
}

// Read is Parse that adds its errors to fields.
func Read(coin money.Coin, on Network, text string, tag *int64, fields fault.Fields) Destination {
	d, network := Destination{Address: strings.TrimSpace(text), Tag: tag}, on.Name
	if tag != nil && (coin != money.XRP || *tag < 0 || *tag > 1<<32-1) {
		sentence := fault.NewMessage("Must be a number from 0 to 4294967295.")
		if coin != money.XRP {
			sentence = fault.NewMessage("Only XRP has destination tags.")
		}
		fields.AddMessage("tag", sentence)
	}
	switch {
	case d.Address == "" || len(d.Address) > 120:
		fields.Add("address", "Must be an address of %s.", place.NameNetwork(coin, network))
	case coin == money.XRP:
		d.readLedger(network, fields)
	case chain.Network(network).Code() == money.Tron:
		d.readTron(fields)
	case coin == money.ETH || coin == money.USDT:
		d.readEthereum(network, fields)
	default:
		name := networkName(network, coin)
		var script []byte
		net, known := bitcoin.Lookup(coin.Info().Chain, name)
		if known {
			script = net.Script(d.Address)
		}
		if script == nil {
			fields.Add("address", "Is not an address of %s (%s). Copy it again from the recipient's wallet.",
				coin.Info().Network, name)
			break
		}
		d.Address = net.Address(script) // as blocks are read: BIP 173 allows capitals
	}
	if chain.Network(network).IsSandbox() {
		on.Token = place.SandboxToken
	}
	if on.Token != "" && strings.EqualFold(d.Address, on.Token) {
		fields.Add("address", "This is the token's own contract. Money that is sent there is lost.")
	}
	return d
}

// networkName returns the name of a network's kind, such as mainnet. The sandbox's networks take the addresses of
// the test networks that developers run themselves.
func networkName(network string, coin money.Coin) string {
	if chain.Network(network).IsSandbox() {
		return "regtest"
	}
	return strings.TrimPrefix(network, string(coin.Info().Chain)+"-")
}

func (d *Destination) readEthereum(network string, fields fault.Fields) {
	address, err := ethereum.ParseAddress(d.Address)
	switch {
	case err != nil:
		facts, _ := money.FindNetworkFacts(chain.Network(network).Code())
		fields.Add("address", "Is not an address of %s: 0x and 40 of the characters 0–9 and a–f, with the "+
			"capitals of its checksum. Copy it again from the recipient's wallet.", cmp.Or(facts.Label, "Ethereum"))
	case address == ethereum.Address{}:
		fields.Add("address", "Money that is sent to the zero address is lost.")
	}
	d.Address = address.String()
}

func (d *Destination) readTron(fields fault.Fields) {
	address, err := tron.ParseAddress(d.Address)
	switch {
	case err != nil:
		fields.Add("address", "Is not an address of Tron: %s.", explainTron(err))
	case address == tron.Address{}:
		fields.Add("address", "Money that is sent to the zero address is lost.")
	}
	d.Address = address.String()
}

// explainTron returns why a text is no address of Tron.
func explainTron(err error) fault.Message {
	switch {
	case errors.Is(err, tron.ErrAddress):
		return fault.NewMessage("an address of Tron begins with T and has 34 letters and digits")
	case errors.Is(err, tron.ErrLetter):
		return fault.NewMessage("it has a character that no address of Tron has: among others 0, O, I and l are not " +
			"used")
	case errors.Is(err, tron.ErrTyping):
		return fault.NewMessage("its checksum is wrong, so a character is mistyped or missing. Copy it again")
	case errors.Is(err, tron.ErrNetwork):
		return fault.NewMessage("it is an address of another network. An address of Tron begins with T")
	case errors.Is(err, tron.ErrEVM):
		return fault.NewMessage("it is an address of Ethereum's kind (0x…). An address of Tron begins with T")
	case errors.Is(err, tron.ErrHex):
		return fault.NewMessage("an address of Tron in hexadecimal begins with 41 and has 42 digits")
	}
	return fault.Verbatim(err.Error())
}

// readLedger reads a classic address, or an X-address, which may hold the tag (XLS-5d).
func (d *Destination) readLedger(network string, fields fault.Fields) {
	account, tag, err := xrpl.Read(d.Address, xrpl.Params{Test: !strings.HasSuffix(network, "mainnet")})
	if err != nil {
		fields.Add("address", "Is not an address of this XRP Ledger. Copy it again from the recipient's wallet.")
		return
	}
	d.Address = account.String()
	if tag == nil {
		return
	}
	inside := int64(*tag)
	if d.Tag != nil && *d.Tag != inside {
		fields.Add("tag", "Differs from the tag that the address holds.")
	}
	d.Tag = &inside
}

// RefuseOwn refuses an address on which the business receives payments, and a payout wallet of it. network is the one
// that the addresses of the send's network are kept under.
func RefuseOwn(tx *models.Tx, sc scope.Scope, network, address string) error {
	var own []int64
	if err := tx.Model(&models.Destination{}).Where("network = ? AND address = ? AND business_id = ?", network, address,
		sc.BusinessID).Limit(1).Pluck("id", &own).Error; err != nil {
		return err
	}
	if len(own) > 0 {
		return fault.RefuseField("address", "Is one of your own addresses: payments come to it.")
	}
	if err := tx.Model(&models.PayoutWallet{}).Where("business_id = ? AND UPPER(address) = ?", sc.BusinessID,
		strings.ToUpper(address)).Limit(1).Pluck("id", &own).Error; err != nil { // an adapter may ignore capitals
		return err
	}
	if len(own) > 0 {
		return fault.RefuseField("address", "Is one of your own addresses: you send from it.")
	}
	return nil
}

// TagNumber returns a tag as it is stored with payout addresses: -1 for none.
func TagNumber(tag *int64) int64 {
	if tag == nil {
		return -1
	}
	return *tag
}
