package payments

import (
	"context"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// customersFacts is what the list of customers shows.
type customersFacts struct {
	Query, After string
	List         []list.ListedCustomer
	More         bool
	Zone         *time.Location
}

// customerRow is a customer in the list.
func customerRow(c models.Customer, zone *time.Location) dashboard.CustomerRow {
	return dashboard.CustomerRow{Code: c.Code, Name: c.FirstName + " " + c.LastName, Email: c.Email,
		Href: customersPath + "/" + c.Code, First: c.CreatedAt.In(zone), Last: c.UpdatedAt.In(zone)}
}

// customersProps is the list of customers.
func customersProps(ctx context.Context, shell layout.Page, f customersFacts) dashboard.CustomersProps {
	props := dashboard.CustomersProps{Page: shell, Query: f.Query}
	for _, c := range f.List {
		row := customerRow(c.Customer, f.Zone)
		row.Payments = words.FormatThousands(ctx, c.Payments)
		if c.Payments > list.CustomerCountedTo {
			row.Payments = strconv.Itoa(list.CustomerCountedTo) + "+"
		}
		props.Rows = append(props.Rows, row)
	}
	next := ""
	if f.More {
		next = customersHref(f.Query, f.List[len(f.List)-1].Code)
	}
	props.Pager = listing.MakePager(words.N(ctx, "customers.counted", len(f.List)), f.After != "",
		customersHref(f.Query, ""), f.More, next)
	return props
}

// customerFacts is what the page of one customer shows.
type customerFacts struct {
	Customer models.Customer
	Totals   list.CustomerTotals
	Latest   []models.Payment
	Zone     *time.Location
}

// customerProps is the page of one customer.
func customerProps(ctx context.Context, shell layout.Page, f customerFacts) dashboard.CustomerProps {
	c, totals := f.Customer, f.Totals
	props := dashboard.CustomerProps{Page: shell, CustomerRow: customerRow(c, f.Zone),
		SuccessRate: display.FormatShare(totals.Successful, totals.Ended),
		SuccessNote: words.T(ctx, "customers.of_ended", "Successful", words.FormatThousands(ctx, totals.Successful), "Ended",
			words.FormatThousands(ctx, totals.Ended)), Recent: display.PaymentRows(ctx, f.Latest, f.Zone),
		AllHref: listing.Search{Query: c.Email}.Href()}
	props.Payments = words.FormatThousands(ctx, totals.Payments)
	if totals.Newest {
		props.Payments = words.T(ctx, "customers.over", "N", words.FormatThousands(ctx, list.CustomerTotalsOf))
		props.Limit = words.T(ctx, "customers.figures_of_newest", "N",
			words.FormatThousands(ctx, list.CustomerTotalsOf))
	}
	for _, currency := range money.Currencies() {
		if sum := totals.Received[currency]; sum != 0 {
			props.Volumes = append(props.Volumes, display.FormatHundredths(currency, sum))
		}
	}
	return props
}
