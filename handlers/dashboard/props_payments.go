package dashboard

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// listSize is how many rows a page of a list has.
const listSize = 25

// search is what the list of payments was asked for, in its address.
type search struct {
	Query, Status, Method, Currency string
	Before                          int64
}

// filter is the search as core takes it.
func (s search) filter() payment.Filter {
	return payment.Filter{Query: s.Query, Status: s.Status, Method: s.Method, Currency: s.Currency, Before: s.Before, Limit: listSize}
}

// href is the address of the list with this search.
func (s search) href() string {
	values := url.Values{}
	for name, value := range map[string]string{"q": s.Query, "status": s.Status, "method": s.Method, "currency": s.Currency} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if s.Before > 0 {
		values.Set("before", strconv.FormatInt(s.Before, 10))
	}
	if len(values) == 0 {
		return "/dashboard/payments"
	}
	return "/dashboard/payments?" + values.Encode()
}

// chips are the active filters, each with the way to the list without it.
func (s search) chips() (list []dashboard.Chip) {
	add := func(text string, without search) {
		without.Before = 0
		list = append(list, dashboard.Chip{Text: text, RemoveHref: without.href()})
	}
	if s.Query != "" {
		without := s
		without.Query = ""
		add(s.Query, without)
	}
	if s.Status != "" {
		without := s
		without.Status = ""
		add("Status: "+ui.StateWord(s.Status), without)
	}
	if s.Method != "" {
		without := s
		without.Method = ""
		add("Method: "+methodName(s.Method), without)
	}
	if s.Currency != "" {
		without := s
		without.Currency = ""
		add("Currency: "+s.Currency, without)
	}
	return list
}

// methodName is a payment method in words.
func methodName(code string) string {
	if info, ok := money.Method(code).Info(); ok {
		return info.Name
	}
	return strings.TrimPrefix(code, "crypto_")
}

// methodOptions are the payment methods as choices.
func methodOptions() (list []ui.Option) {
	for _, info := range money.Coins() {
		list = append(list, ui.Option{Value: string(info.Method), Label: info.Name + " (" + string(info.Coin) + ")"})
	}
	return list
}

// paymentsProps is the list of payments.
func paymentsProps(page layout.Page, s search, found payment.Page, zone *time.Location) dashboard.PaymentsProps {
	props := dashboard.PaymentsProps{
		Page: page, Filters: dashboard.Filters{Query: s.Query, Status: s.Status, Method: s.Method, Currency: s.Currency},
		Methods: methodOptions(), Chips: s.chips(), Rows: paymentRows(found.Payments, zone),
	}
	first, next := s, s
	first.Before, next.Before = 0, found.Next
	props.Pager = pager(ui.Count(len(props.Rows), "payment", "payments"), s.Before > 0, first.href(), found.Next > 0, next.href())
	return props
}

// pager is the way through a list.
func pager(shown string, later bool, first string, more bool, next string) ui.PagerProps {
	p := ui.PagerProps{Shown: shown}
	if later {
		p.First = first
	}
	if more {
		p.Next = next
	}
	return p
}
