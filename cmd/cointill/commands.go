package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/internal/app"
)

type versionCommand struct{}

// Run prints the version and the build.
func (versionCommand) Run() error {
	fmt.Println(strings.Join(strings.Fields("cointill "+app.Version+" "+app.BuildRevision()+" "+runtime.Version()), " "))
	return nil
}

type configCommand struct{}

// Run prints every setting with its variable; secrets show only whether they are set.
func (configCommand) Run(settings *app.Settings) error {
	for _, each := range listSettings(settings) {
		text := fmt.Sprint(reflect.Indirect(each.value))
		if list, ok := each.value.Interface().([]string); ok {
			text = strings.Join(list, ",")
		}
		if each.secret && text != "" {
			text = "(set, not shown)"
		}
		fmt.Printf("# %s\n%s=%s\n", each.help, each.variable, text)
	}
	return nil
}

type migrateCommand struct{}

// Run brings the schema up to date.
func (migrateCommand) Run(ctx context.Context, settings *app.Settings) error {
	db, err := settings.OpenDatabase(ctx, clock.Real())
	if err != nil {
		return err
	}
	fmt.Println("The database schema is up to date.")
	return db.Close()
}

type businessCommand struct {
	Create businessCreate `cmd:"" help:"Create a business with its owner."`
}

type businessCreate struct {
	Name          string `required:"" help:"Name of the business."`
	Email         string `required:"" help:"E-mail of the owner, to sign in with."`
	Owner         string `help:"Name of the owner. Default: the name of the business."`
	PasswordStdin bool   `required:"" help:"Read the owner's password from standard input."`
	JSON          bool   `name:"json" help:"Print the result as JSON and nothing else."`
}

// Run creates a business; it may run beside a serving instance.
func (c businessCreate) Run(ctx context.Context, settings *app.Settings) error {
	password, err := io.ReadAll(io.LimitReader(os.Stdin, 4096))
	if err != nil {
		return err
	}
	accounts, db, err := settings.NewAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Owner == "" {
		c.Owner = c.Name
	}
	business, _, err := accounts.CreateBusiness(ctx, account.NewBusiness{
		BusinessName: c.Name, Name: c.Owner, Email: c.Email, Password: strings.TrimRight(string(password), "\r\n"),
	})
	if err != nil {
		return explainFault(err)
	}
	if c.JSON {
		return printJSON(map[string]string{"code": business.Code, "name": business.Name, "email": c.Email})
	}
	fmt.Printf("Business %s is ready: its code is %s, its owner signs in as %s.\n", business.Name, business.Code,
		c.Email)
	return nil
}

type keyCommand struct {
	Create keyCreate `cmd:"" help:"Create an API key; it is shown once."`
}

type keyCreate struct {
	Business string `required:"" help:"Code of the business (BUS_…)."`
	Domain   string `default:"test" enum:"test,live" help:"test or live."`
	Name     string `required:"" help:"What the key is for."`
	// Permissions are the key's; without any it has the usual ones.
	Permissions []string `help:"What it may do, such as payments:read,links. Default: all, in live without payments:resolve and sends:write."`
	JSON        bool     `name:"json" help:"Print the result as JSON and nothing else."`
}

// Run creates an API key; it may run beside a serving instance.
func (c keyCreate) Run(ctx context.Context, settings *app.Settings) error {
	accounts, db, err := settings.OpenAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	box, err := settings.OpenMasterKey()
	if err != nil {
		return err
	}
	business, err := accounts.Business(ctx, c.Business)
	if err != nil {
		return explainFault(err)
	}
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Domain(c.Domain), Actor: "operator", Role: scope.System}
	may := apikey.DefaultPermissions(sc.Domain)
	if len(c.Permissions) > 0 {
		may = nil
		for _, name := range c.Permissions {
			may = append(may, apikey.Permission(name))
		}
	}
	_, key, err := apikey.New(db, clock.Real(), box).CreateRestrictedKey(ctx, sc, c.Name, may)
	if err != nil {
		return explainFault(err)
	}
	if c.JSON {
		return printJSON(map[string]string{"key": key, "domain": c.Domain, "name": c.Name})
	}
	fmt.Printf("The key is shown this once:\n%s\n", key)
	return nil
}

func printJSON(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

type healthcheckCommand struct{}

// Run asks the instance that these settings describe whether it is ready.
func (healthcheckCommand) Run(ctx context.Context, settings *app.Settings) error {
	base, err := localAddress(settings)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", text)
	}
	fmt.Println("ready")
	return nil
}
