package app

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"cointill/core/contact"
	"cointill/core/ident"
	"cointill/core/secret"
	"cointill/core/settings"
	"cointill/web"
)

// EnvPrefix begins the name of every setting in the environment.
const EnvPrefix = "COINTILL"

// Settings are all that an operator can set, by flag or environment variable
// COINTILL_… of the same name. Those tagged secret have a …_FILE twin in the
// environment and are never printed.
type Settings struct {
	Listen       string   `default:"127.0.0.1:8080" help:"Address to serve on."`
	BaseURL      string   `name:"base-url" help:"Public address of this instance, e.g. https://pay.example.com. Default: http:// and the address served on."`
	DataDir      string   `default:"./data" help:"Folder for the embedded database and the secret key."`
	DatabaseURL  string   `name:"database-url" secret:"" help:"postgres://… for PostgreSQL. Empty: SQLite in the data folder."`
	AddressMarks []string `help:"Folders that keep, outside of the database, how far addresses were given out. Empty: in the data folder and in the user's state folder."`
	SecretKey    string   `secret:"" help:"Master key: 32 bytes or more in base64. Empty: kept in the data folder, made at the first start. All replicas need the same."`

	SMTPURL string `name:"smtp-url" secret:"" help:"smtp:// or smtps:// server for receipts, e.g. smtp://user:password@mail.example.com:587?from=till@example.com. Empty: mails stay in the dashboard's mailbox."`

	WebhookLoopback *bool `negatable:"" help:"Let webhooks of the test domain reach this machine's loopback addresses. Default: only while the base URL is plain http on a loopback address, and the program serves on one."`
	WebhookPrivate  bool  `help:"Let webhooks reach private addresses: for development only."`

	LiveBitcoinURL      []string          `name:"live-bitcoin-url" secret:"" help:"Bitcoin nodes of the live domain, best first, e.g. http://user:password@127.0.0.1:8332. Empty: no live bitcoin."`
	LiveBitcoinNetwork  string            `name:"live-bitcoin-network" default:"mainnet" enum:"mainnet" help:"mainnet."`
	TestBitcoinURL      []string          `name:"test-bitcoin-url" secret:"" help:"Bitcoin nodes of a test network for the test domain. Empty: the sandbox."`
	TestBitcoinNetwork  string            `name:"test-bitcoin-network" default:"testnet4" enum:"testnet4,signet,regtest,simnet" help:"testnet4, signet, regtest or simnet."`
	LiveDogecoinURL     []string          `name:"live-dogecoin-url" secret:"" help:"Dogecoin nodes of the live domain. Empty: no live dogecoin."`
	LiveDogecoinNetwork string            `name:"live-dogecoin-network" default:"mainnet" enum:"mainnet" help:"mainnet."`
	TestDogecoinURL     []string          `name:"test-dogecoin-url" secret:"" help:"Dogecoin nodes of a test network for the test domain. Empty: the sandbox."`
	TestDogecoinNetwork string            `name:"test-dogecoin-network" default:"testnet" enum:"testnet,regtest" help:"testnet or regtest."`
	LiveEthereumURL     []string          `name:"live-ethereum-url" secret:"" help:"Nodes of Ethereum for the live domain, best first, e.g. https://host/key. Empty: no live ether and USDT."`
	LiveEthereumNetwork string            `name:"live-ethereum-network" default:"mainnet" enum:"mainnet" help:"mainnet."`
	TestEthereumURL     []string          `name:"test-ethereum-url" secret:"" help:"Nodes of a test network for the test domain. Empty: the sandbox."`
	TestEthereumNetwork string            `name:"test-ethereum-network" default:"sepolia" help:"sepolia, or chain-N where N is another network's chain id."`
	TestEthereumUSDT    string            `name:"test-ethereum-usdt" help:"Contract that stands for USDT on the test network. It must have 6 decimals."`
	LiveEthereumTokens  map[string]string `name:"live-ethereum-tokens" mapsep:"," help:"Tokens beside USDT, USDC and DAI whose arrival is listed under Unmatched, with contract and decimals, e.g. PYUSD=0x6c3ea9036406852006290770BEdFcAbA0e23A0e8/6."`
	TestEthereumTokens  map[string]string `name:"test-ethereum-tokens" mapsep:"," help:"The same on the test network, where none is known."`
	// EVM holds the settings of the registry's other networks of Ethereum's kind: see NewEVMSettings.
	EVM any `embed:""`

	LiveTronURL     []string `name:"live-tron-url" secret:"" help:"Nodes of Tron, best first, e.g. https://key@api.trongrid.io. Empty: it isn't followed."`
	TestTronURL     []string `name:"test-tron-url" secret:"" help:"Nodes of a test network of Tron. Empty: none is followed."`
	TestTronNetwork string   `name:"test-tron-network" default:"nile" enum:"nile,shasta" help:"nile or shasta."`
	TestTronUSDT    string   `name:"test-tron-usdt" help:"Contract that stands for USDT on the test network. It must have 6 decimals. Default: the one that its wallets use."`

	LiveXRPURL        []string `name:"live-xrp-url" secret:"" help:"Servers of the XRP Ledger for the live domain, best first, e.g. wss://host:51233. Empty: no live XRP."`
	LiveXRPNetwork    string   `name:"live-xrp-network" default:"mainnet" enum:"mainnet" help:"mainnet."`
	TestXRPURL        []string `name:"test-xrp-url" secret:"" help:"Servers of a test network for the test domain. Empty: the sandbox."`
	TestXRPNetwork    string   `name:"test-xrp-network" default:"testnet" help:"testnet, devnet, or network-N where N is another network's network_id."`
	XRPSharedAccounts bool     `name:"xrp-shared-accounts" help:"Let several businesses receive with one account of the XRP Ledger. Their destination tags differ all the same."`

	NodePoll map[string]string `name:"node-poll" mapsep:"," help:"How often the nodes of a network are asked for new blocks, from 1s to 1m, e.g. ethereum=12s,tron=20s. Default: 10 s on Tron, a third of the usual time of a block on networks of Ethereum's kind, else 1 s, and at least 1 s."`

	RateSources []string          `secret:"" help:"Sources of live prices: standard, or names; name=https://host asks a mirror; none asks no source. cointill rates lists them." default:"standard"`
	RateTrusted map[string]string `mapsep:"," help:"Sources that are trusted alone when fewer than two agree, e.g. USD/NGN=coinbase-fx."`
	RateBands   map[string]string `mapsep:"," help:"How many percent from the median a source may be, by coin or currency, where that isn't 2 for coins and 5 for currencies, e.g. NGN=8,DOGE=3."`

	Confirmations map[string]string `mapsep:"," help:"How many confirmations payments wait for at least, by coin, for those up to 100 USD and above, where that is more than usual, e.g. DOGE=12/60,BTC=4."`

	Operators []string `help:"E-mail addresses of users, with a second factor or a passkey, who may see the dashboard's System page and are mailed of its troubles."`

	MetricsListen string   `help:"Address for Prometheus metrics, e.g. 127.0.0.1:9090. Empty: no metrics."`
	OTLPEndpoint  string   `name:"otlp-endpoint" help:"OpenTelemetry collector for traces, by OTLP over HTTP, e.g. http://127.0.0.1:4318. Empty: no traces."`
	OTLPHeaders   []string `name:"otlp-headers" secret:"" help:"Headers of every request to the collector, e.g. authorization=Bearer word."`

	TrustedProxies []string `help:"Addresses of front servers whose X-Forwarded-For and X-Forwarded-Proto are believed."`
	RateLimit      int64    `default:"6000" help:"Requests a minute that one API key may make."`
	LogLevel       string   `default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
}

// CompleteSettings checks the settings together and derives the others.
func (s *Settings) CompleteSettings() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("%s_LISTEN must be host:port, e.g. 127.0.0.1:8080", EnvPrefix)
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	base, err := web.ParseBase(s.PublicBase(s.Listen))
	if err != nil && s.BaseURL != "" { // a base URL that follows from the listener is checked once it listens
		return fmt.Errorf("%s_BASE_URL: %w", EnvPrefix, err)
	}
	if s.WebhookLoopback == nil {
		development := err == nil && !base.HTTPS && servesLoopback(s.Listen) // plain http is on loopback only
		s.WebhookLoopback = &development
	}
	if s.RateLimit < 1 {
		return fmt.Errorf("%s_RATE_LIMIT must be 1 or more", EnvPrefix)
	}
	if _, err := settings.ParseDepths(s.Confirmations); err != nil {
		return fmt.Errorf("%s_CONFIRMATIONS: %w", EnvPrefix, err)
	}
	if err := s.completeMarks(os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME")); err != nil {
		return err
	}
	for i, address := range s.Operators {
		s.Operators[i] = strings.ToLower(strings.TrimSpace(address))
		if !contact.CheckEmail(s.Operators[i]).IsZero() {
			return fmt.Errorf("%s_OPERATORS: %q is no e-mail address", EnvPrefix, address)
		}
	}
	return nil
}

// PublicBase returns the public address of this instance: as set, or the host:port that it listens on.
func (s *Settings) PublicBase(listening string) string {
	if s.BaseURL != "" {
		return s.BaseURL
	}
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return "http://" + listening
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// servesLoopback reports that other machines don't reach an address to serve on.
func servesLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	at, invalid := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || invalid == nil && at.IsLoopback())
}

// AllowsWebhookLoopback reports whether webhooks of the test domain may reach loopback addresses:
// never before CompleteSettings has looked at the base URL.
func (s *Settings) AllowsWebhookLoopback() bool {
	return s.WebhookLoopback != nil && *s.WebhookLoopback
}

// OpenMasterKey opens the master key, making one in the data folder when none is set.
func (s *Settings) OpenMasterKey() (*secret.Box, error) {
	text := s.SecretKey
	if text == "" {
		var err error
		if text, err = keyFile(filepath.Join(s.DataDir, "secret.key")); err != nil {
			return nil, err
		}
	}
	master, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%s_SECRET_KEY must be base64", EnvPrefix)
	}
	return secret.NewBox(master)
}

// keyFile reads the master key of a data folder, or makes it there. The file
// appears whole or not at all, also when two processes start at once.
func keyFile(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return string(data), err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "secret.key.*")
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(base64.StdEncoding.EncodeToString(ident.RandomBytes(32)) + "\n")
	if err = errors.Join(err, draft.Chmod(0o600), draft.Sync(), draft.Close()); err != nil {
		return "", err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	data, err = os.ReadFile(path)
	return string(data), err
}
