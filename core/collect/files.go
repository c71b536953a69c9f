package collect

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/core/receiving"
)

// Names of the files.
const (
	ReadmeFile = "README.txt"
	GasFile    = "1-gas.json"
	SafeFile   = "1-gas-safe.json"
	TokenFile  = "2-usdt.json"
)

// NativeFile is the name of the file for the network's own coin.
func (p Plan) NativeFile() string { return "3-" + strings.ToLower(string(p.Input.Native)) + ".json" }

// FileNames lists the files of a plan in the order of the steps, without the README.
func (p Plan) FileNames() (names []string) {
	if len(p.Gas) > 0 && !p.Input.Terms.Payer.Contract {
		names = append(names, GasFile)
	}
	if len(p.Gas) > 0 && p.Safe {
		names = append(names, SafeFile)
	}
	if len(p.Tokens) > 0 {
		names = append(names, TokenFile)
	}
	if len(p.Natives) > 0 {
		names = append(names, p.NativeFile())
	}
	return names
}

// BuildArchive returns a ZIP archive of the plan's files and a README. The same plan gives the same bytes.
func (p Plan) BuildArchive(readme string) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	if err := p.addFile(archive, ReadmeFile, []byte(readme)); err != nil {
		return nil, err
	}
	for _, name := range p.FileNames() {
		content, err := p.buildFile(name)
		if err == nil {
			err = p.addFile(archive, name, content)
		}
		if err != nil {
			return nil, fmt.Errorf("file %s of a collection: %w", name, err)
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

// addFile adds one file to an archive.
func (p Plan) addFile(archive *zip.Writer, name string, content []byte) error {
	file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate,
		Modified: p.At.UTC().Truncate(time.Second)})
	if err == nil {
		_, err = file.Write(content)
	}
	return err
}

// buildFile writes one file.
func (p Plan) buildFile(name string) ([]byte, error) {
	switch name {
	case SafeFile:
		return p.buildSafe()
	case GasFile:
		return p.buildTransactions(p.Gas)
	case TokenFile:
		return p.buildTransactions(p.Tokens)
	}
	return p.buildTransactions(p.Natives)
}

// buildSafe writes the first step for the Transaction Builder of a Safe.
func (p Plan) buildSafe() ([]byte, error) {
	orders := make([]chain.Order, len(p.Gas))
	for i, t := range p.Gas {
		orders[i] = t.Order()
	}
	file, err := p.Network.Collector.BuildBatch(orders, p.At)
	return file.Content, err
}

// unsigned is one transaction of a file, with what a person compares.
type unsigned struct {
	From        string         `json:"from"`
	Path        string         `json:"path,omitempty"`
	Wallet      string         `json:"wallet,omitempty"`
	To          string         `json:"to"`
	Coin        string         `json:"coin"`
	Amount      string         `json:"amount"`
	MostFee     string         `json:"most_fee"`
	Transaction jsontext.Value `json:"transaction"`
	Raw         string         `json:"raw"`
}

// buildTransactions writes transactions as a list of objects.
func (p Plan) buildTransactions(transfers []Transfer) ([]byte, error) {
	list := make([]unsigned, len(transfers))
	for i, t := range transfers {
		built, err := p.Network.Collector.BuildNumbered(t.Order(), chain.NumberedTerms{Nonce: t.Nonce, Gas: t.Gas,
			MaxFee: p.Input.Terms.MaxFee, Priority: p.Input.Terms.Priority})
		if err != nil {
			return nil, err
		}
		list[i] = unsigned{From: t.From, Path: t.Path, To: t.To, Coin: string(t.Coin), Amount: t.Coin.Format(t.Amount),
			MostFee: p.Input.Native.Format(t.Fee), Transaction: built.JSON, Raw: built.Raw}
		if t.Key != "" {
			list[i].Wallet = receiving.ShortKey(t.Key)
		}
	}
	text, err := json.Marshal(list, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}
