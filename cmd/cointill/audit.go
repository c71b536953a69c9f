package main

import (
	"context"
	"fmt"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/internal/app"
	"cointill/models"
)

type auditCommand struct {
	Verify auditVerify `cmd:"" help:"Follow every chain of the audit logs from its first row, and compare the books with the hashes of closed months and with their sums; exits 1 when one doesn't hold."`
}

type auditVerify struct {
	Business string `help:"Code of one business (BUS_…). Default: all."`
}

// Run verifies; it may run beside a serving instance.
func (c auditVerify) Run(ctx context.Context, settings *app.Settings) error {
	accounts, db, err := settings.OpenAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	box, err := settings.OpenMasterKey()
	if err != nil {
		return err
	}
	audits := &audit.Service{DB: db, Clock: clock.Real(), Secrets: box}
	list, err := audits.ListBusinesses(ctx)
	if c.Business != "" {
		var one models.Business
		one, err = accounts.Business(ctx, c.Business)
		list = []models.Business{one}
	}
	if err != nil {
		return explainFault(err)
	}
	broken, ledger := 0, &journal.Service{DB: db, Clock: clock.Real()}
	for _, business := range list {
		v, err := audits.VerifyChain(ctx, business.ID, 0)
		if err != nil {
			return err
		}
		said := "holds"
		if v.Broken != "" {
			said = "DOES NOT HOLD. " + v.Broken
			broken++
		}
		sealed := "not sealed yet"
		if v.SealedAt != nil {
			sealed = fmt.Sprintf("sealed up to row %d on %s", v.SealedTo, v.SealedAt.UTC().
				Format("2 January 2006, 15:04 UTC"))
		}
		fmt.Printf("%s %s: %d rows, %s: %s\n", business.Code, business.Name, v.Rows, sealed, said)
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			books, err := ledger.VerifyBooks(ctx, scope.Scope{BusinessID: business.ID, Domain: domain})
			if err != nil {
				return err
			}
			said := "hold"
			if books.Broken != "" {
				said = "DO NOT HOLD. " + books.Broken
				broken++
			}
			fmt.Printf("%s books in %s: %d entries, %d closed months: %s\n", business.Code, domain, books.Entries,
				books.Months, said)
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d audit logs and books of %d businesses don't hold", broken, len(list))
	}
	return nil
}
