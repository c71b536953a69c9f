// Package money holds exact amounts: coin amounts as whole numbers of the
// coin's smallest unit, prices as decimals, and the fiat currencies and coins
// that Cointill knows. No float touches money anywhere in this program.
package money

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Amount is a number of a coin's smallest units (satoshi, wei, drop), never
// negative on disk, of any size. The zero value is zero. Amounts are values:
// no method changes its receiver.
type Amount struct{ n big.Int }

// maxDigits is what NUMERIC(78,0) holds: enough for 2^256-1.
const maxDigits = 78

// ErrAmount is returned for text that is no whole number of units.
var ErrAmount = errors.New("money: not a whole number of units")

// Units returns the amount of n smallest units.
func Units(n int64) Amount { var a Amount; a.n.SetInt64(n); return a }

// FromBig returns the amount n; it keeps a copy.
func FromBig(n *big.Int) Amount { var a Amount; a.n.Set(n); return a }

// ParseUnits reads a whole number of smallest units in decimal digits.
func ParseUnits(text string) (Amount, error) {
	var a Amount
	if len(text) > maxDigits+1 {
		return a, fmt.Errorf("%w: %d characters", ErrAmount, len(text))
	}
	if _, ok := a.n.SetString(text, 10); !ok {
		return Amount{}, fmt.Errorf("%w: %q", ErrAmount, text)
	}
	return a, nil
}

// Big returns a copy of the amount as a big integer.
func (a Amount) Big() *big.Int { return new(big.Int).Set(&a.n) }

// Add returns a + b.
func (a Amount) Add(b Amount) Amount { var c Amount; c.n.Add(&a.n, &b.n); return c }

// Sub returns a - b, which may be negative: a difference to show.
func (a Amount) Sub(b Amount) Amount { var c Amount; c.n.Sub(&a.n, &b.n); return c }

// Abs returns the amount without its sign.
func (a Amount) Abs() Amount { var c Amount; c.n.Abs(&a.n); return c }

// Cmp compares as big.Int does: -1, 0, +1.
func (a Amount) Cmp(b Amount) int { return a.n.Cmp(&b.n) }

// Sign is -1, 0 or +1.
func (a Amount) Sign() int { return a.n.Sign() }

// MulDiv returns a·num/den rounded towards zero. It is for shares such as a
// tolerance in basis points; den must not be zero.
func (a Amount) MulDiv(num, den int64) Amount {
	var c Amount
	c.n.Mul(&a.n, big.NewInt(num))
	c.n.Quo(&c.n, big.NewInt(den))
	return c
}

// String gives the digits, without unit.
func (a Amount) String() string { return a.n.String() }

// Format writes the amount in whole coins: exactly `decimals` is the unit's
// power of ten, and at least `show` digits follow the point; more follow only
// where the amount has them, so that nothing is ever rounded away.
func (a Amount) Format(decimals, show int) string {
	text := new(big.Int).Abs(&a.n).String()
	if len(text) <= decimals {
		text = strings.Repeat("0", decimals-len(text)+1) + text
	}
	whole, part := text[:len(text)-decimals], text[len(text)-decimals:]
	for len(part) > show && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	if a.n.Sign() < 0 {
		whole = "-" + whole
	}
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// Value writes the digits: NUMERIC(78,0) on PostgreSQL, text on SQLite.
func (a Amount) Value() (driver.Value, error) { return a.n.String(), nil }

// Scan reads what either database gives back.
func (a *Amount) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*a = Amount{}
	case string:
		return a.setText(v)
	case []byte:
		return a.setText(string(v))
	case int64:
		*a = Units(v)
	default:
		return fmt.Errorf("%w: a %T", ErrAmount, src)
	}
	return nil
}

func (a *Amount) setText(text string) (err error) {
	*a, err = ParseUnits(text)
	return err
}

// GormDBDataType is the column type per database: SQLite's numeric would turn
// large amounts into floats.
func (Amount) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	if db.Name() == "postgres" {
		return "numeric(78,0)"
	}
	return "text"
}

// MarshalJSON writes the digits as a string, as JSON numbers are floats to most readers.
func (a Amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.n.String()) }

// UnmarshalJSON reads digits in a string.
func (a *Amount) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return a.setText(text)
}
