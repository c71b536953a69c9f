package ledgertest

import (
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"cointill/chain/xrpl/params"
)

const (
	// Epoch is the Unix time from which the ledger counts seconds.
	Epoch = 946_684_800
	// Drops is the number of drops in an XRP.
	Drops = 1_000_000
	// Reserve is the balance that an account must hold, in drops.
	Reserve = 1 * Drops
	// Fee is the cost of a transaction, in drops.
	Fee = 10
	// Supply is the total supply in drops.
	Supply = 100_000_000_000 * Drops
	// Genesis is the account that holds all XRP at first. Its key is rippled's well-known one.
	Genesis = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	// initialLedgers is the number of empty ledgers at the start.
	initialLedgers = 40
	// firstIndex is the index of the first ledger that servers have.
	firstIndex = 1000
)

// Flags of accounts.
const (
	RequireDestTag = 0x00020000
	DepositAuth    = 0x01000000
)

// Fields is a JSON object.
type Fields = map[string]any

// account is an account root.
type account struct {
	Balance  int64
	Sequence uint32
	Flags    uint32
	lastTx   string
	lastSeq  int64
}

// Applied is a transaction in a ledger.
type Applied struct {
	ID     string
	Tx     Fields // with Amount, without DeliverMax and hash
	Meta   Fields
	Ledger int64 // 0 while the ledger is open
	blob   string
}

// closedLedger is a validated ledger.
type closedLedger struct {
	index      int64
	hash       string
	parent     string
	txHash     string
	stateHash  string
	drops      int64
	time       uint32
	parentTime uint32
	txs        []*Applied
}

const resolution = 10

// Ledger is a chain of ledgers. It is safe for concurrent use.
type Ledger struct {
	// ID is the network's id.
	ID uint32

	mu        sync.Mutex
	clock     func() time.Time
	manual    time.Time // the time if there is no clock
	closed    []*closedLedger
	open      []*Applied
	state     map[string]account // of the open ledger
	validated map[string]account
	burnt     int64
	byID      map[string]*Applied
	serial    int
	listeners map[int]func(*closedLedger)
}

// New makes a network with some empty ledgers. Without a clock, time advances only by the four
// seconds that each ledger takes.
func New(id uint32, clock func() time.Time) *Ledger {
	l := &Ledger{ID: id, clock: clock, manual: time.Unix(Epoch+800_000_000, 0).UTC(), byID: map[string]*Applied{},
		listeners: map[int]func(*closedLedger){},
		state:     map[string]account{Genesis: {Balance: Supply, Sequence: 1}}}
	if clock != nil {
		l.manual = clock().Add(-initialLedgers * time.Second) // the times of ledgers rise by at least a second
	}
	for range initialLedgers {
		l.closeLedger()
	}
	return l
}

// Now returns the network's time.
func (l *Ledger) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.currentTime()
}

func (l *Ledger) currentTime() time.Time {
	if l.clock != nil && len(l.closed) >= initialLedgers {
		return l.clock()
	}
	return l.manual
}

// AdvanceTime advances the time without closing a ledger. It works only without a clock.
func (l *Ledger) AdvanceTime(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.manual = l.manual.Add(d)
}

// CloseLedgers closes the open ledger the given number of times.
func (l *Ledger) CloseLedgers(times int) {
	for range times {
		l.mu.Lock()
		made := l.closeLedger()
		told := maps.Clone(l.listeners)
		l.mu.Unlock()
		for _, tell := range told {
			tell(made)
		}
	}
}

// Tip returns the last validated ledger.
func (l *Ledger) Tip() (index int64, hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.closed[len(l.closed)-1]
	return last.index, last.hash
}

// FindTransaction returns the ledger that holds a transaction, or 0 if no closed ledger does.
func (l *Ledger) FindTransaction(id string) (index int64, hash string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.byID[id]
	if tx == nil || tx.Ledger == 0 {
		return 0, ""
	}
	return tx.Ledger, l.closed[tx.Ledger-firstIndex].hash
}

// Balance returns an account's balance in the open ledger, or 0 if the account does not exist.
func (l *Ledger) Balance(address string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state[address].Balance
}

// Address returns the address of an account that is derived from a name. Its key is unknown.
func Address(name string) string {
	sum := sha512.Sum512([]byte(name))
	return params.Account(sum[:20]).String()
}

// closeLedger makes the next ledger. Its time is the current time, or one second after the last
// ledger.
func (l *Ledger) closeLedger() *closedLedger {
	if l.clock == nil {
		l.manual = l.manual.Add(4 * time.Second)
	} else if len(l.closed) < initialLedgers {
		l.manual = l.manual.Add(time.Second)
	}
	made := &closedLedger{index: firstIndex + int64(len(l.closed)), parent: zeros,
		time: uint32(l.currentTime().Unix() - Epoch), drops: Supply - l.burnt, txs: l.open}
	if n := len(l.closed); n > 0 {
		last := l.closed[n-1]
		made.parent, made.parentTime, made.time = last.hash, last.time, max(made.time, last.time+1)
	}
	made.txHash, made.stateHash = zeros, sha512Half("state", fmt.Sprint(l.state))
	if len(l.open) > 0 {
		made.txHash = sha512Half("transactions", encodeJSON(l.open))
	}
	made.hash = made.computeHash()
	for i, tx := range l.open {
		tx.Ledger = made.index
		tx.Meta["TransactionIndex"] = i
	}
	l.closed, l.open, l.validated = append(l.closed, made), nil, maps.Clone(l.state)
	return made
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// computeHash returns the ledger's hash, computed from its header.
func (c *closedLedger) computeHash() string {
	raw := binary.BigEndian.AppendUint32([]byte("LWR\x00"), uint32(c.index))
	raw = binary.BigEndian.AppendUint64(raw, uint64(c.drops))
	for _, hash := range []string{c.parent, c.txHash, c.stateHash} {
		part, err := hex.DecodeString(hash)
		if err != nil {
			panic(err) // this package wrote the hash
		}
		raw = append(raw, part...)
	}
	raw = binary.BigEndian.AppendUint32(raw, c.parentTime)
	raw = binary.BigEndian.AppendUint32(raw, c.time)
	return sha512Half("", string(append(raw, resolution, 0)))
}

// sha512Half returns the first half of SHA-512 in hexadecimal.
func sha512Half(prefix, content string) string {
	sum := sha512.Sum512([]byte(prefix + content))
	return strings.ToUpper(hex.EncodeToString(sum[:32]))
}

// encodeJSON encodes a value as JSON.
func encodeJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values of this package can be encoded
	}
	return string(data)
}
