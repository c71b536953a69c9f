package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cointill/core/clock"
	"cointill/core/payment/bulk"
	"cointill/internal/app"
)

// seedCommand fills a database to measure lists at size. It is for developers
// and hidden from the help.
type seedCommand struct {
	Business string `required:"" help:"Code of the business (BUS_…) whose list is to be measured."`
	Payments int    `default:"1000" help:"Payments of that business in the test domain."`
	Others   int    `default:"0" help:"Other merchants, which are made."`
	Theirs   int    `default:"0" help:"Payments of all other merchants together."`
}

// Run makes the payments and counts them on the way.
func (c seedCommand) Run(ctx context.Context, settings *app.Settings) error {
	if c.Payments < 1 || c.Others < 0 || c.Theirs < 0 || c.Theirs > 0 && c.Others == 0 {
		return errors.New("name some payments, and other merchants for theirs")
	}
	accounts, db, err := settings.OpenAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	business, err := accounts.Business(ctx, c.Business)
	if err != nil {
		return explainFault(err)
	}
	now := clock.Real()
	began := now()
	err = bulk.Fill(ctx, db, bulk.Plan{Business: business.ID, Its: c.Payments, Others: c.Others, Theirs: c.Theirs,
		Until: began, Told: func(made, all int) {
			if made%10_000 == 0 || made == all {
				fmt.Fprintf(os.Stderr, "\r%d of %d payments", made, all)
			}
		}})
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return err
	}
	fmt.Printf("%d payments were made in %s. On PostgreSQL, run VACUUM ANALYZE before you measure.\n",
		c.Payments+c.Theirs, now().Sub(began).Round(1e9))
	return nil
}
