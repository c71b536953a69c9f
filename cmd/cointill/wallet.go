package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/app"
	"cointill/models"
)

type walletCommand struct {
	Use     walletUse     `cmd:"" help:"Receive a method's payments with a public key, with one address or a list of addresses, or with an account of the XRP Ledger, as the owner does in the dashboard."`
	List    walletList    `cmd:"" help:"List the wallets, with how many addresses each has issued."`
	Advance walletAdvance `cmd:"" help:"Leave out addresses: after a backup was restored, those issued since it was made must not be issued again."`
}

type walletUse struct {
	Business string `required:"" help:"Code of the business (BUS_…)."`
	Domain   string `default:"test" enum:"test,live" help:"test or live."`
	Method   string `required:"" help:"Payment method, e.g. crypto_bitcoin."`
	Network  string `env:"-" placeholder:"tron" help:"Network of the method that has a wallet of its own: tron, for crypto_tether. Default: the method's first network."`
	Key      string `required:"" help:"Extended public key or descriptor; for ether and USDT also one address, or a list with spaces, commas or lines between them; for XRP the account's address. Never a private key."`
	Script   string `help:"pkh, sh(wpkh), wpkh or tr. Default: what the key says."`
	JSON     bool   `name:"json" help:"Print the result as JSON and nothing else."`
}

// Run makes a key the one that payments are received with.
func (c walletUse) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	business, err := p.Accounts.Business(ctx, c.Business)
	if err != nil {
		return explainFault(err)
	}
	info, known := money.Method(c.Method).Info()
	if !known {
		return fmt.Errorf("there is no payment method %q", c.Method)
	}
	code, err := findWalletNetwork(info, money.Chain(c.Network))
	if err != nil {
		return err
	}
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Domain(c.Domain), Actor: "operator", Role: scope.System}
	made, preview, err := p.Receiving.ChangeByOperator(ctx, sc, receiving.Change{Chain: code, Key: c.Key,
		Script: c.Script})
	if err != nil {
		return explainFault(err)
	}
	if c.JSON {
		return printJSON(map[string]any{"wallet": made.ID, "network": made.Network, "script": made.Script,
			"addresses": preview.Addresses})
	}
	c.describeWallet(made, preview)
	return nil
}

// findWalletNetwork returns the network whose wallet receives a coin on one of its networks; without a code that is the
// coin's first network.
func findWalletNetwork(coin money.CoinInfo, code money.Chain) (money.Chain, error) {
	switch {
	case code == "" || code == coin.Chain:
		return coin.Chain, nil
	case !slices.Contains(coin.Chains(), code):
		return "", fmt.Errorf("%s has no network %q, but %s", coin.Method, code, joinCodes(coin.Chains()))
	case code.IsEVM():
		return "", fmt.Errorf("%s has no wallet of its own: payments there go to the addresses of %s. Leave --network out",
			code, coin.Chain)
	}
	return code, nil
}

// joinCodes writes the codes of networks one after the other.
func joinCodes(codes []money.Chain) string {
	var texts []string
	for _, code := range codes {
		texts = append(texts, string(code))
	}
	return strings.Join(texts, ", ")
}

// describeWallet prints what payments are received with now.
func (c walletUse) describeWallet(made models.Wallet, preview wallet.Preview) {
	if made.Script == wallet.ScriptAddress {
		fmt.Printf("Payments by %s all go to the address %s on %s (wallet %d), each with an amount of its own. Compare it "+
			"with your own wallet. It is entered for the networks: %s.\n", c.Method, made.Key, made.Network, made.ID,
			strings.Join(strings.Fields(made.Networks), ", "))
		return
	}
	if a := preview.Account; a != nil {
		fmt.Printf("Payments by %s are received with account %s on %s (wallet %d). Compare it with your own wallet.\n",
			c.Method, made.Key, made.Network, made.ID)
		if !a.RequireTag {
			fmt.Println("It lets payments without a destination tag through, which can't be told apart: set " +
				"asfRequireDest (AccountSet with SetFlag 1).")
		}
		if a.DisallowXRP {
			fmt.Println("It asks wallets not to send it XRP: clear asfDisallowXRP (AccountSet with ClearFlag 3).")
		}
		return
	}
	fmt.Printf("Payments by %s are received with wallet %d on %s, beginning at index %d. Compare with your own "+
		"wallet:\n", c.Method, made.ID, made.Network, made.NextIndex)
	for i, address := range preview.Addresses {
		fmt.Printf("%5d  %s\n", i, address)
	}
	if preview.Begins > 0 {
		fmt.Printf("The first %d addresses of each kind are left out, and watched: the database was restored from a "+
			"backup and doesn't know this key, which may have given them out before. "+
			"Set the wallet's gap limit higher. Once no wallet is missing, `cointill restore --all-entered` has "+
			"keys begin with their first address again.\n", preview.Begins)
	}
}

type walletList struct {
	JSON bool `name:"json" help:"Print the result as JSON and nothing else."`
}

// walletRow is one wallet in the list; the key itself is not printed.
type walletRow struct {
	Wallet   int64  `json:"wallet"`
	Business string `json:"business"`
	Domain   string `json:"domain"`
	Network  string `json:"network"`
	Script   string `json:"script"`
	Issued   int64  `json:"issued"`
	LeftOut  int64  `json:"left_out"` // since a backup was restored
	Next     int64  `json:"next"`     // index of the next address
	Active   bool   `json:"active"`
	// ProvedAt is when a signed message proved the key of one address.
	ProvedAt *time.Time `json:"proved_at"`
}

// Run lists every business's wallets.
func (c walletList) Run(ctx context.Context, settings *app.Settings) error {
	_, db, err := settings.OpenAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	rows := []walletRow{}
	err = db.Read(ctx).Model(&models.Wallet{}).Joins("JOIN businesses ON businesses.id = wallets.business_id").
		Select("wallets.id AS wallet, businesses.code AS business, domain, network, script, next_index AS next, " +
			"active, proved_at, " +
			"(SELECT count(DISTINCT idx) FROM destinations WHERE wallet_id = wallets.id AND payment_id IS NULL) AS " +
			"left_out").Order("wallets.id").Scan(&rows).Error
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Issued = rows[i].Next - rows[i].LeftOut
	}
	if c.JSON {
		return printJSON(rows)
	}
	for _, row := range rows {
		state := "former"
		if row.Active {
			state = "active"
		}
		if row.ProvedAt != nil {
			state += ", key proved on " + row.ProvedAt.UTC().Format("2006-01-02")
		}
		fmt.Printf("%d  %s  %s  %s  %s  %d issued, %d left out, next %d  %s\n",
			row.Wallet, row.Business, row.Domain, row.Network, row.Script, row.Issued, row.LeftOut, row.Next, state)
	}
	return nil
}

type walletAdvance struct {
	Wallet int64 `required:"" help:"Number of the wallet, from wallet list."`
	To     int64 `required:"" help:"Index of the next address to issue; never below the present one."`
}

// Run moves a wallet's next address ahead.
func (c walletAdvance) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	if err := p.Wallets.Advance(ctx, "operator", c.Wallet, c.To); err != nil {
		return explainFault(err)
	}
	fmt.Printf("Wallet %d issues address %d next.\n", c.Wallet, c.To)
	return nil
}
