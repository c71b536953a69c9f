package signing

import (
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/go-json-experiment/json"

	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// feeMarketType begins an EIP-1559 transaction.
const feeMarketType = 2

// Unsigned is a transaction for a wallet to sign, in two forms.
type Unsigned struct {
	Raw  string // 0x and the EIP-1559 transaction without signature
	JSON []byte // the object that Transaction.from and signTransaction of ethers take
}

// BuildUnsigned returns the EIP-1559 transaction that makes a payment. The object has no sender,
// because ethers rejects one in an unsigned transaction.
func BuildUnsigned(p Payment) (Unsigned, error) {
	t, err := p.parse()
	if err != nil {
		return Unsigned{}, err
	}
	object := struct {
		Type                 int    `json:"type"`
		ChainID              string `json:"chainId"`
		Nonce                string `json:"nonce"`
		To                   string `json:"to"`
		Value                string `json:"value"`
		Data                 string `json:"data"`
		GasLimit             string `json:"gasLimit"`
		MaxFeePerGas         string `json:"maxFeePerGas"`
		MaxPriorityFeePerGas string `json:"maxPriorityFeePerGas"`
		AccessList           []int  `json:"accessList"`
	}{feeMarketType, fmt.Sprint(p.ChainID), fmt.Sprint(p.Nonce), t.receiver().String(), t.value().String(),
		formatBytes(t.calldata()), fmt.Sprint(p.GasLimit), p.MaxFeePerGas.String(), p.MaxPriorityFeePerGas.String(),
		[]int{}}
	text, err := json.Marshal(object)
	return Unsigned{Raw: formatBytes(p.encode(t)), JSON: text}, err
}

// encode returns the EIP-1559 transaction without signature.
func (p Payment) encode(t transfer) []byte {
	receiver := t.receiver()
	fields := appendUint(nil, p.ChainID)
	fields = appendUint(fields, p.Nonce)
	fields = appendInteger(fields, p.MaxPriorityFeePerGas.Big())
	fields = appendInteger(fields, p.MaxFeePerGas.Big())
	fields = appendUint(fields, p.GasLimit)
	fields = appendString(fields, receiver[:])
	fields = appendInteger(fields, t.value())
	fields = appendString(fields, t.calldata())
	fields = append(fields, encodeList(nil)...) // no access list
	return append([]byte{feeMarketType}, encodeList(fields)...)
}

// WalletRequest returns the parameter of eth_sendTransaction for a wallet in the browser
// (EIP-1193).
func WalletRequest(p Payment) ([]byte, error) {
	t, err := p.parse()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Type                 string `json:"type"`
		ChainID              string `json:"chainId"`
		From                 string `json:"from"`
		To                   string `json:"to"`
		Value                string `json:"value"`
		Data                 string `json:"data"`
		Nonce                string `json:"nonce"`
		Gas                  string `json:"gas"`
		MaxFeePerGas         string `json:"maxFeePerGas"`
		MaxPriorityFeePerGas string `json:"maxPriorityFeePerGas"`
	}{formatQuantity(big.NewInt(feeMarketType)), formatUint(p.ChainID), t.from.String(), t.receiver().String(),
		formatQuantity(t.value()), formatBytes(t.calldata()), formatUint(p.Nonce), formatUint(p.GasLimit),
		formatQuantity(p.MaxFeePerGas.Big()), formatQuantity(p.MaxPriorityFeePerGas.Big())})
}

// URI returns the link with which a wallet pays (EIP-681).
func URI(p Payment) (string, error) {
	t, err := p.parseTransfer()
	switch {
	case err != nil:
		return "", err
	case t.token != nil:
		return params.TokenURI(p.ChainID, t.token.String(), t.to.String(), p.Amount), nil
	}
	return params.EtherURI(p.ChainID, t.to.String(), p.Amount), nil
}

func formatBytes(text []byte) string { return "0x" + hex.EncodeToString(text) }

// formatQuantity writes a number as JSON-RPC does: in hexadecimal without leading zeros.
func formatQuantity(n *big.Int) string { return fmt.Sprintf("0x%x", n) }

func formatUint(n uint64) string { return fmt.Sprintf("0x%x", n) }

// TransferCall returns the parameter of eth_estimateGas for a transfer of a token.
func TransferCall(token, from, to string, amount money.Amount) (map[string]string, error) {
	t, err := Payment{ChainID: 1, From: from, To: to, Token: token, Amount: amount}.parseTransfer()
	if err != nil {
		return nil, err
	}
	return map[string]string{"from": from, "to": token, "data": formatBytes(t.calldata())}, nil
}
