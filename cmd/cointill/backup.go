package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cointill/core/clock"
	"cointill/internal/app"
	"cointill/models"
)

type backupCommand struct {
	To string `required:"" env:"-" help:"File to write; it must not exist."`
}

// Run copies the embedded database; it may run beside a serving instance.
func (c backupCommand) Run(ctx context.Context, settings *app.Settings) error {
	if err := models.Exists(settings.DatabaseURL, settings.DataDir); err != nil {
		return err
	}
	db, err := models.Open(settings.DatabaseURL, settings.DataDir, clock.Real())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Backup(ctx, c.To, clock.Real()()); err != nil {
		return err
	}
	fmt.Printf("%s holds the database as it is now, and not the master key", c.To)
	if settings.SecretKey == "" {
		fmt.Print(" (secret.key in the data folder)")
	}
	fmt.Println(": without it a copy is of no use. Keep the two apart.")
	return nil
}

type restoreCommand struct {
	From     string `env:"-" help:"Copy of the embedded database, from backup, to put into the data folder. Left out: the database was brought back in another way."`
	LeaveOut *int64 `env:"-" help:"How many addresses of each wallet are never given out, as customers may have got them since the backup was made."`
	All      bool   `name:"all-entered" env:"-" help:"Every wallet that was entered since the backup was made has been entered again: a key that is entered from now on is new, and begins with its first address."`
}

// Run makes a copy the database that is served, and has every wallet leave out
// the addresses that may have been given out since. What fails leaves no copy behind.
func (c restoreCommand) Run(ctx context.Context, settings *app.Settings) (err error) {
	ready := false
	if c.From != "" {
		if err := c.moveCopy(ctx, settings); err != nil {
			return err
		}
		defer func() {
			if err != nil && !ready {
				err = errors.Join(err, models.Discard(settings.DataDir))
			}
		}()
	}
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	if err := p.DB.Brought(ctx); err != nil {
		return err
	}
	of, is, err := p.DB.Copied(ctx)
	if err != nil {
		return err
	}
	if is {
		fmt.Printf("The database is a copy of %s.\n", of)
	}
	if c.LeaveOut == nil && (is || !c.All) {
		return suggestIndex(ctx, p, is && !c.All)
	}
	if c.LeaveOut != nil {
		if err := leaveOut(ctx, p, *c.LeaveOut); err != nil {
			return err
		}
		ready = true // and perhaps served by now
		if err := tellLeftOut(ctx, p); err != nil {
			return err
		}
	}
	if c.All {
		if err := p.DB.Complete(ctx); err != nil {
			return err
		}
		fmt.Println("Keys that are entered from now on begin with their first address.")
	}
	fmt.Println("It can be served now. Blocks are read on from where the copy ends.")
	return nil
}

// moveCopy puts the copy into the data folder.
func (c restoreCommand) moveCopy(ctx context.Context, settings *app.Settings) error {
	if settings.DatabaseURL != "" {
		return models.ErrNotEmbedded
	}
	// or a new key would be made
	if _, err := os.Stat(filepath.Join(settings.DataDir, "secret.key")); settings.SecretKey == "" && err != nil {
		return fmt.Errorf("bring secret.key back into %s first, or set %s_SECRET_KEY: the copy opens with its own "+
			"master key alone", settings.DataDir, app.EnvPrefix)
	}
	played, err := models.Restore(ctx, c.From, settings.DataDir)
	if err == nil && played != "" {
		fmt.Printf("What %s has was restored with it.\n", played)
	}
	return err
}

// leaveOut has every wallet leave out addresses, also those which are entered later.
func leaveOut(ctx context.Context, p *app.Product, by int64) error {
	done, err := p.Wallets.AdvanceAll(ctx, "operator", by)
	for _, w := range done {
		fmt.Printf("Wallet %d issues address %d next: %d to %d are left out, and watched.\n", w.Wallet, w.To, w.From,
			w.To-1)
	}
	if err != nil {
		return explainFault(err)
	}
	return p.DB.Continue(ctx, by)
}

// tellLeftOut explains what applies to wallets that are entered later.
func tellLeftOut(ctx context.Context, p *app.Product) error {
	left, err := models.LeftOut(p.DB.Read(ctx))
	if err == nil && left > 0 {
		fmt.Printf("A key that the database doesn't know leaves out its first %d addresses too, for every business: "+
			"the wallet may have been added since the backup. "+
			"Once all of those are entered again, `cointill restore --all-entered` ends that.\n", left)
	}
	return err
}

// suggestIndex asks for the number and shows its basis. It returns an error, except in the first of
// two steps: then serve refuses the database until the second is done.
func suggestIndex(ctx context.Context, p *app.Product, first bool) error {
	list, err := p.Wallets.Lately(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		fmt.Printf("Wallet %d (%s) issues address %d next; in the last seven days of the copy it issued %d.\n",
			w.Wallet, w.Network, w.Next, w.Issued)
	}
	const wanted = "--leave-out says how many addresses of each wallet may have been given out since: " +
		"take more rather than too few, as an address must never be given out twice, and what is left out is " +
		"watched all the same"
	if !first {
		return errors.New(wanted)
	}
	fmt.Printf("It is not served before `cointill restore --leave-out` is run with a number. %s.\n", wanted)
	return nil
}
