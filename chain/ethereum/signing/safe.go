package signing

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/abi"
)

// safeBuilderVersion is the version of the Transaction Builder whose files SafeBatch writes.
const safeBuilderVersion = "1.16.5"

// SafeBatch returns a file for the Transaction Builder of a Safe, which makes all payments in one
// transaction. All must be from the same Safe on the same network; nonce, gas and fees are the
// Safe's own and are not used.
func SafeBatch(payments []Payment, created time.Time) ([]byte, error) {
	if len(payments) == 0 {
		return nil, ErrPayment
	}
	transfers, transactions := make([]transfer, len(payments)), make([]any, len(payments))
	first := &transfers[0]
	for i, p := range payments {
		t, err := p.parseTransfer()
		transfers[i] = t
		if err != nil || t.chainID != first.chainID || t.from != first.from {
			return nil, ErrPayment
		}
		transactions[i] = map[string]any{"to": t.receiver().String(), "value": t.value().String(),
			"data": formatBytes(t.calldata()), "contractMethod": nil, "contractInputsValues": nil}
	}
	meta := map[string]any{"name": "Cointill", "description": "", "txBuilderVersion": safeBuilderVersion,
		"createdFromSafeAddress": first.from.String(), "createdFromOwnerAddress": ""}
	batch := map[string]any{"version": "1.0", "chainId": strconv.FormatUint(first.chainID, 10),
		"createdAt": created.UnixMilli(), "meta": meta, "transactions": transactions}
	meta["checksum"] = computeSafeChecksum(batch, meta)
	return json.Marshal(batch, json.Deterministic(true))
}

// computeSafeChecksum returns the checksum of a file of the Transaction Builder: the Keccak-256
// hash of everything but the name, which users may change. meta is the file's part that names it.
// The rule is in apps/tx-builder/src/lib/checksum.ts in github.com/safe-global/safe-react-apps.
func computeSafeChecksum(batch, meta map[string]any) string {
	batch, meta = maps.Clone(batch), maps.Clone(meta)
	meta["name"] = nil
	batch["meta"] = meta
	sum := abi.Keccak(appendSafeValue(nil, batch))
	return formatBytes(sum[:])
}

// appendSafeValue appends a value in the form that is hashed. An object is the list of its keys in
// order, then its values in that order, each with a comma behind it.
func appendSafeValue(to []byte, value any) []byte {
	switch v := value.(type) {
	case []any:
		to = append(to, '[')
		for i, one := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendSafeValue(to, one)
		}
		return append(to, ']')
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		to = appendJSON(append(to, '{'), keys)
		for _, key := range keys {
			to = append(appendSafeValue(to, v[key]), ',')
		}
		return append(to, '}')
	}
	return appendJSON(to, value)
}

func appendJSON(to []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and lists of texts can always be written
	}
	return append(to, text...)
}

// ErrContractSigns refuses a signed transaction of a contract wallet.
const ErrContractSigns chain.InputRefusal = "A contract wallet sends the transaction itself. Paste the " +
	"transaction's hash."
