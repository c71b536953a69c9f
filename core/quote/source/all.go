package source

// All lists every source, always in this order: exchanges, publishers of
// official rates, and those for the street.
func All() []Source {
	return []Source{
		newCoinbase(), newKraken(), newBitstamp(), newKucoin(), newOKX(), newBinance(),
		coinbaseFX(), erAPI(), currencyAPI(), floatRates(), newFrankfurter(),
		newQuidax(), newLuno(),
	}
}

// Standard lists the sources that are asked where the operator names none:
// those that aren't for the street.
func Standard() []Source {
	var standard []Source
	for _, s := range All() {
		if !s.Street {
			standard = append(standard, s)
		}
	}
	return standard
}

// Named finds a source by its name, such as "kraken".
func Named(name string) (Source, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Source{}, false
}
