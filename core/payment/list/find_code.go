package list

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// amountText is an amount in whole units, in the way of English or French, with or without its currency before or
// behind it.
var amountText = regexp.MustCompile(`^(?i:(?:NGN|GHC|KES|USD|₦|GH₵|KSh|\$)[ \x{a0}]?)?` +
	`([0-9]{1,3}(?:[,  \x{a0}\x{202f}][0-9]{3})+|[0-9]{1,7})(?:[.,]00)?(?:[ \x{a0}]?(?i:NGN|GHC|KES|USD))?$`)

// readAmount reads an amount that people search for. Its currency is left out: no index has the amounts of one
// currency, and a search for an amount that is frequent in another one would go through all of those.
func readAmount(text string) (amount int64, ok bool) {
	found := amountText.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	digits := strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "").Replace(found[1])
	amount, err := strconv.ParseInt(digits, 10, 64)
	return amount, err == nil
}

// readPasted returns what an address of a page is about: the reference that an address of the merchant's was given
// for the way back, or else the last part of its path, which is a reference, a payment page's token, or at explorers a
// hash or an address. Other text stays as it is.
func readPasted(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return text
	}
	named := u.Query() // where a customer is led back to, it ends in both references
	for _, own := range slices.Backward(named["reference"]) {
		if own = strings.ToUpper(own); strings.HasPrefix(own, "PAY_") {
			return own
		}
	}
	if theirs := named["business_reference"]; len(theirs) > 0 && theirs[len(theirs)-1] != "" {
		return theirs[len(theirs)-1]
	}
	path := strings.TrimRight(u.Path, "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" {
		return last
	}
	return text
}

// IsCustomerCode reports whether a text begins as the codes of customers do.
func IsCustomerCode(text string) bool { return strings.HasPrefix(strings.ToUpper(text), "CUS_") }

// codeWays returns the ways to find payments by a code, a payment page's token, or an amount.
func (by finder) codeWays(text string) (ways []way) {
	if upper := strings.ToUpper(text); strings.HasPrefix(upper, "AUTH_") {
		ways = append(ways, by.byCode("authorization_code = ?", upper))
	} else if IsCustomerCode(upper) {
		ways = append(ways, by.byCustomer(customerRange{"code = ?", "code", []any{upper}}))
	}
	if len(text) == payment.TokenLength {
		ways = append(ways, by.byCode("token_hash = ?", payment.HashToken(text)))
	}
	if amount, ok := readAmount(text); ok {
		ways = append(ways, by.byColumn(by.selectRows, "amount = ?", amount))
	}
	return ways
}

// byCode finds the payment with a code that no other payment of any merchant has.
func (by finder) byCode(where, code string) way { return by.byColumn(by.selectAmong, where, code) }

// byColumn finds the payments with a value in an indexed column, among the rows that selectRows or
// selectAmong selects.
func (by finder) byColumn(selectRows func(table any) *models.Tx, where string, value any) way {
	holds := clause.Expr{SQL: where, Vars: []any{value}}
	return way{holds: holds, look: func() ([]int64, bool, error) {
		return readLimited(selectRows(&models.Payment{}).Select("id").Where(holds))
	}}
}

// FindExact returns the reference of the one payment that a text names whole: by a reference, its
// authorization code, the hash of a transaction, or the address of its page; or the code of the customer
// (CUS_…) that it is. It is "" where none or several are named.
func (s *Service) FindExact(ctx context.Context, sc scope.Scope, text string) (string, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return "", err
	}
	text = readPasted(strings.TrimSpace(text))
	if IsCustomerCode(text) {
		var row models.Customer
		err := sc.Rows(s.DB.Point(ctx)).Select("code").Where("code = ?", strings.ToUpper(text)).Limit(1).Find(&row).Error
		if err != nil || row.Code != "" {
			return row.Code, err
		}
	}
	by := finder{s.DB, ctx, sc}
	ways := []way{by.byCode("reference = ?", strings.ToUpper(text)),
		by.byColumn(by.selectRows, "business_reference = ?", text),
		by.byCode("authorization_code = ?", strings.ToUpper(text)), by.byCode("token_hash = ?", payment.HashToken(text))}
	if len(text) >= 32 {
		ways = append(ways, by.byHash(text))
	}
	found, err := searchWays(ways)
	if err != nil || len(found.ids) != 1 || len(found.holds) > 0 {
		return "", err
	}
	var row models.Payment
	err = sc.Rows(s.DB.Point(ctx)).Select("reference").Where("id = ?", found.ids[0]).Take(&row).Error
	return row.Reference, err
}
