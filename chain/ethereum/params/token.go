package params

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cointill/core/money"
)

// maxOtherTokens bounds the tokens of an operator's list.
const maxOtherTokens = 50

// tokenName is what an operator may name a token.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9.]{1,12}$`)

// AddTokens returns the network with more tokens beside USDT. texts has the contract and the
// number of decimals of each by its name, for example "0x6B17…1d0F/18". A name that the network
// has already replaces that token.
func (p Params) AddTokens(texts map[string]string) (Params, error) {
	if len(texts) > maxOtherTokens {
		return Params{}, fmt.Errorf("there are more than %d tokens", maxOtherTokens)
	}
	p.Others = slices.Clone(p.Others)
	for name, text := range texts {
		token, err := p.parseToken(name, text)
		if err != nil {
			return Params{}, fmt.Errorf("token %s: %w", name, err)
		}
		p.Others = append(slices.DeleteFunc(p.Others, func(o OtherToken) bool { return o.Name == name }), token)
	}
	slices.SortFunc(p.Others, func(a, b OtherToken) int { return strings.Compare(a.Name, b.Name) })
	for i, o := range p.Others {
		if slices.ContainsFunc(p.Others[:i], func(other OtherToken) bool { return other.Contract == o.Contract }) {
			return Params{}, fmt.Errorf("token %s: another one has the same contract", o.Name)
		}
	}
	return p, nil
}

// parseToken reads a contract and a number of decimals.
func (p Params) parseToken(name, text string) (OtherToken, error) {
	address, digits, _ := strings.Cut(text, "/")
	contract, err := ParseAddress(address)
	decimals, wrong := strconv.ParseUint(digits, 10, 8)
	switch coin := money.Coin(strings.ToUpper(name)); {
	case !tokenName.MatchString(name) || coin.Info().Coin == coin:
		return OtherToken{}, fmt.Errorf("a name has up to 12 letters and digits, and is no coin that is accepted")
	case err != nil:
		return OtherToken{}, err
	case wrong != nil || decimals > 36:
		return OtherToken{}, fmt.Errorf("%q is no contract, a slash and a number of decimals up to 36", text)
	case contract == p.Token:
		return OtherToken{}, fmt.Errorf("this is the contract of USDT")
	}
	return OtherToken{Name: name, Contract: contract, Decimals: int(decimals)}, nil
}
