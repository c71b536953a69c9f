// Command cointill is the whole product: the service, its migrations, and the
// commands an operator needs beside it.
package main

import (
	"cointill/internal/app"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of merchants, on machines that have none

	"github.com/alecthomas/kong"
)

// commands are the subcommands; serve is the default.
type commands struct {
	app.Settings `group:"Settings of the instance:"`

	Serve       serveCommand       `cmd:"" default:"withargs" help:"Serve the API, the dashboard and the payment pages (the default)."`
	Demo        demoCommand        `cmd:"" help:"Serve with a ready business and the sample payments of its last 90 days."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database schema up to date and stop."`
	Business    businessCommand    `cmd:"" help:"Businesses."`
	User        userCommand        `cmd:"" help:"Users of the dashboard."`
	Key         keyCommand         `cmd:"" help:"API keys."`
	Wallet      walletCommand      `cmd:"" help:"Merchants' wallets."`
	Audit       auditCommand       `cmd:"" help:"The audit logs of the businesses."`
	Chain       chainCommand       `cmd:"" help:"The networks and their nodes."`
	Rates       ratesCommand       `cmd:"" help:"The live prices, their sources, and how old they are."`
	Listen      listenCommand      `cmd:"" help:"Forward test events to a local server while you build a receiver."`
	Trigger     triggerCommand     `cmd:"" help:"Make a test event happen, for real, in the sandbox."`
	Backup      backupCommand      `cmd:"" help:"Copy the embedded database to a file, also while it is served."`
	Restore     restoreCommand     `cmd:"" help:"Make a backup the database that is served: no address is given out twice."`
	Rescan      rescanCommand      `cmd:"" help:"Read old blocks of a network again for money that was missed."`
	Config      configCommand      `cmd:"" help:"Print the effective settings, secrets masked."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
	Seed        seedCommand        `cmd:"" hidden:"" help:"Fill the test domain with payments, to measure lists at size."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a running instance whether it is ready; exits 1 when it isn't."`
}

func main() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	app.KeepToMemory()
	if err := runCommand(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cointill:", err)
		os.Exit(1)
	}
}

func runCommand(arguments []string) error {
	command, all, err := parseArguments(arguments)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(&all.Settings)
}

// parseArguments reads the environment and the arguments: which command runs, with which settings.
func parseArguments(arguments []string) (*kong.Context, *commands, error) {
	if err := loadEnvironment(); err != nil {
		return nil, nil, err
	}
	var all commands
	all.EVM = app.NewEVMSettings()
	parser, err := kong.New(&all, kong.Name("cointill"), kong.UsageOnError(), kong.DefaultEnvars(app.EnvPrefix),
		kong.Description("Accept BTC, ETH, USDT, XRP and DOGE at your own till: prices in NGN, GHC, KES or USD, "+
			"money straight into your own wallet."))
	if err != nil {
		return nil, nil, err
	}
	command, err := parser.Parse(arguments)
	if err != nil {
		return nil, nil, err
	}
	return command, &all, all.Settings.CompleteSettings()
}
