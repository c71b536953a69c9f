package app

import (
	"fmt"
	"reflect"
	"strings"

	"cointill/core/money"
)

// evmNodes are the settings of one network code of the registry, beside Ethereum.
type evmNodes struct {
	liveURL, testURL      []string
	testNetwork, testUSDT string
}

// otherEVMChains lists the network codes of the registry beside Ethereum, whose settings are fields of Settings.
func otherEVMChains() (chains []money.Chain) {
	for _, n := range money.EVMNetworks() {
		if n.Name == money.MainNetwork && n.Chain != money.Ethereum {
			chains = append(chains, n.Chain)
		}
	}
	return chains
}

// NewEVMSettings returns a pointer to a struct with the settings of each network code, made from the registry:
// live-bsc-url, test-bsc-url, test-bsc-network, test-bsc-usdt and so on.
func NewEVMSettings() any {
	var fields []reflect.StructField
	add := func(name string, kind reflect.Type, tag string, words ...any) {
		fields = append(fields, reflect.StructField{Name: name, Type: kind,
			Tag: reflect.StructTag(fmt.Sprintf(tag, words...))})
	}
	list, text := reflect.TypeFor[[]string](), reflect.TypeFor[string]()
	for _, c := range otherEVMChains() {
		main, _ := money.FindEVMNetwork(c, money.MainNetwork)
		add(fieldName("Live", c, "URL"), list, `name:"live-%s-url" secret:"" help:"Nodes of %s, best first. Empty: `+
			`it isn't followed."`, c, main.Label)
		names := testNames(c)
		add(fieldName("Test", c, "URL"), list, `name:"test-%s-url" secret:"" help:"Nodes of a test network of %s. `+
			`Empty: none is followed."`, c, main.Label)
		add(fieldName("Test", c, "Network"), text, `name:"test-%s-network" default:"%s" help:"%s, or chain-N where N `+
			`is another network's chain id."`, c, names[0], strings.Join(names, ", "))
		if main.Token.Contract != "" {
			add(fieldName("Test", c, "USDT"), text, `name:"test-%s-usdt" help:"Contract that stands for USDT on the `+
				`test network. It must have %d decimals."`, c, main.Token.Decimals)
		}
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// fieldName names a field of NewEVMSettings.
func fieldName(domain string, c money.Chain, what string) string {
	return domain + strings.ToUpper(string(c)) + what
}

// testNames lists the test networks of a code.
func testNames(c money.Chain) (names []string) {
	for _, n := range money.EVMNetworks() {
		if n.Chain == c && n.Test {
			names = append(names, n.Name)
		}
	}
	return names
}

// readEVMNodes returns the settings of a network code.
func (s *Settings) readEVMNodes(c money.Chain) (n evmNodes) {
	if s.EVM == nil {
		return n
	}
	v := reflect.ValueOf(s.EVM).Elem()
	n.liveURL, _ = v.FieldByName(fieldName("Live", c, "URL")).Interface().([]string)
	n.testURL, _ = v.FieldByName(fieldName("Test", c, "URL")).Interface().([]string)
	n.testNetwork = v.FieldByName(fieldName("Test", c, "Network")).String()
	if usdt := v.FieldByName(fieldName("Test", c, "USDT")); usdt.IsValid() {
		n.testUSDT = usdt.String()
	}
	return n
}
