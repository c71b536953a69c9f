package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"cointill/core/spelling"
	"cointill/internal/app"
)

// setting is one setting as the environment and the config command name it.
type setting struct {
	variable string
	value    reflect.Value
	secret   bool
	help     string
}

// listSettings walks the settings.
func listSettings(s *app.Settings) []setting {
	return walkSettings(reflect.ValueOf(s).Elem())
}

// walkSettings lists the fields of a struct, and of those embedded in it.
func walkSettings(v reflect.Value) []setting {
	var all []setting
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if _, embedded := field.Tag.Lookup("embed"); embedded {
			inner := v.Field(i).Interface()
			if inner == nil {
				inner = app.NewEVMSettings()
			}
			all = append(all, walkSettings(reflect.ValueOf(inner).Elem())...)
			continue
		}
		name := field.Tag.Get("name")
		if name == "" {
			name = kebabCase(field.Name)
		}
		_, isSecret := field.Tag.Lookup("secret")
		all = append(all, setting{
			variable: app.EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")),
			value:    v.Field(i), secret: isSecret, help: field.Tag.Get("help"),
		})
	}
	return all
}

// kebabCase writes DataDir as data-dir, as the flags are named.
func kebabCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// loadEnvironment reads the …_FILE variants of secrets and refuses variables that
// nothing reads, with the nearest name that something does.
func loadEnvironment() error {
	known := map[string]bool{app.EnvPrefix + "_TEST_DATABASE_URL": true, app.EnvPrefix + "_VIEWBOOK": true,
		app.EnvPrefix + "_API_KEY":        true,
		app.EnvPrefix + "_WEBHOOK_SECRET": true}
	var names []string
	for _, each := range listSettings(&app.Settings{}) {
		known[each.variable] = true
		names = append(names, each.variable)
		if !each.secret {
			continue
		}
		file := each.variable + "_FILE"
		known[file] = true
		path, ok := os.LookupEnv(file)
		if !ok {
			continue
		}
		if _, both := os.LookupEnv(each.variable); both {
			return fmt.Errorf("set either %s or %s, not both", each.variable, file)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.Setenv(each.variable, strings.TrimSpace(string(data))); err != nil {
			return err
		}
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, app.EnvPrefix+"_") && !known[name] {
			meant, _ := spelling.Nearest(name, names)
			return fmt.Errorf("nothing reads the variable %s; did you mean %s? cointill config lists all", name, meant)
		}
	}
	return nil
}
