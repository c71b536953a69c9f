package tron

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
	"cointill/chain/tron/params"
)

const (
	// maxTransactions bounds the transactions of a block. The smallest ones take some 200 of its 2 MB.
	maxTransactions = 20_000
	// maxLogs bounds the logs of a transaction, and maxTopics the topics of a log.
	maxLogs, maxTopics = 50_000, 4
	// maxParts bounds the contracts and results in a transaction, which has one of each.
	maxParts = 16
)

// Results of transactions.
const (
	resultSuccess = "SUCCESS"
	resultDefault = "DEFAULT" // of a transaction that calls no contract
	infoFailed    = "FAILED"
)

// fullBlock is a block with its transactions.
type fullBlock struct {
	header
	Transactions transactions `json:"transactions"`
}

// transaction holds the fields that are read of a transaction in a block.
type transaction struct {
	ID   hash     `json:"txID"`
	Raw  hexBytes `json:"raw_data_hex"`
	Ret  results  `json:"ret"`
	Data struct {
		Contracts contracts `json:"contract"`
	} `json:"raw_data"`
}

// result is the result of a transaction as its block has it.
type result struct {
	Contract string `json:"contractRet"`
}

// contract is what a transaction does.
type contract struct {
	Type      string `json:"type"`
	Parameter struct {
		Value jsontext.Value `json:"value"`
	} `json:"parameter"`
	owner account // that sent the transaction
}

// info is the result of a transaction as the node computed it.
type info struct {
	ID      hash   `json:"id"`
	Fee     int64  `json:"fee"` // sun
	Number  int64  `json:"blockNumber"`
	Time    int64  `json:"blockTimeStamp"` // milliseconds
	Result  string `json:"result"`         // FAILED, or none
	Receipt struct {
		Result string `json:"result"` // none if the transaction called no contract
	} `json:"receipt"`
	Logs logs `json:"log"`
}

// logEntry is an event that a contract emitted.
type logEntry struct {
	Address account  `json:"address"`
	Topics  topics   `json:"topics"`
	Data    hexBytes `json:"data"`
}

// decodeList reads a list of at most most elements. check refuses an element as soon as it is read.
func decodeList[T any](d *jsontext.Decoder, most int, check func(*T) error) (all []T, err error) {
	err = node.ReadList(d, most, func() error {
		all = append(all, *new(T))
		last := &all[len(all)-1]
		if err := json.UnmarshalDecode(d, last, node.AllowDuplicateNames); err != nil {
			return err
		}
		return check(last)
	})
	return all, err
}

// accept takes every element.
func accept[T any](*T) error { return nil }

// The lists in blocks and results.
type (
	transactions []transaction
	results      []result
	contracts    []contract
	infos        []info
	logs         []logEntry
	topics       []hash
)

// UnmarshalJSONFrom reads the list. Each id must be the hash of the transaction's raw data. No raw data is kept.
func (l *transactions) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxTransactions, func(t *transaction) error {
		if len(t.Raw) == 0 || params.TransactionID(t.Raw) != t.ID.String() {
			return fmt.Errorf("the id %s is not the hash of its transaction", t.ID)
		}
		t.Raw = nil
		return nil
	})
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *results) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxParts, accept[result])
	return err
}

// UnmarshalJSONFrom reads the list. Of contracts other than a transfer of TRX only type and sender are kept.
func (l *contracts) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxParts, func(c *contract) error {
		var value struct {
			Owner account `json:"owner_address"`
		}
		if json.Unmarshal(c.Parameter.Value, &value, node.AllowDuplicateNames) == nil { // some kinds have no sender
			c.owner = value.Owner
		}
		if c.Type != transferContract {
			c.Parameter.Value = nil
		}
		return nil
	})
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *infos) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxTransactions, func(i *info) error {
		if i.ID == (hash{}) {
			return errors.New("a result without its transaction")
		}
		return nil
	})
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *logs) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxLogs, accept[logEntry])
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *topics) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxTopics, accept[hash])
	return err
}

// findOwner returns the account that sent the transaction and pays its fee; the zero account where that isn't known.
func (t *transaction) findOwner() account {
	if len(t.Data.Contracts) != 1 {
		return account{}
	}
	return t.Data.Contracts[0].owner
}

// contractResult returns the transaction's result as the block has it, or "".
func (t *transaction) contractResult() string {
	if len(t.Ret) == 0 {
		return ""
	}
	return t.Ret[0].Contract
}

// hasSucceeded reports whether a transaction succeeded, by its block and by its result, which must agree.
func hasSucceeded(t *transaction, i *info) (bool, error) {
	said := i.Receipt.Result
	ok := i.Result != infoFailed && (said == "" || said == resultDefault || said == resultSuccess)
	if block := t.contractResult(); block != "" && ok != (block == resultSuccess) {
		return false, fmt.Errorf("transaction %s ends with %q in its block, and with %q in its result", t.ID, block, said)
	}
	return ok, nil
}

// matchInfos orders the results like the transactions of a block. There must be exactly one for each, of this block:
// a result names no block's id, but its number and its time to the millisecond.
func matchInfos(b *fullBlock, all infos) ([]*info, error) {
	if len(all) != len(b.Transactions) {
		return nil, fmt.Errorf("%d results for %d transactions", len(all), len(b.Transactions))
	}
	byID := make(map[hash]*info, len(all))
	for n := range all {
		i := &all[n]
		if i.Number != b.Head.Raw.Number || i.Time != b.Head.Raw.Time {
			return nil, fmt.Errorf("the result of %s is of block %d at %d", i.ID, i.Number, i.Time)
		}
		byID[i.ID] = i
	}
	ordered := make([]*info, len(all))
	for n := range b.Transactions {
		i, ok := byID[b.Transactions[n].ID]
		if !ok {
			return nil, fmt.Errorf("no result for %s", b.Transactions[n].ID)
		}
		delete(byID, i.ID)
		ordered[n] = i
	}
	return ordered, nil
}
