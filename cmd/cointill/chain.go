package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"cointill/chain"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/internal/app"
	"cointill/models"
)

type chainCommand struct {
	Status chainStatus `cmd:"" help:"Show every network that is followed, and its nodes."`
	Reset  chainReset  `cmd:"" aliases:"anew" help:"Follow a test network from its present end, after its operators reset it."`
}

type chainStatus struct {
	JSON bool `name:"json" help:"Print the result as JSON and nothing else."`
}

// networkStatus is how one network does, for people and programs.
type networkStatus struct {
	Network string             `json:"network"`
	Domain  string             `json:"domain"`
	Applied int64              `json:"applied"`         // height of the last applied block
	Tip     int64              `json:"tip"`             // height that the node had when the follower last asked
	Problem string             `json:"problem"`         // "" when healthy
	At      time.Time          `json:"at"`              // when the follower last wrote
	Notes   []string           `json:"notes,omitempty"` // what to know although it is healthy
	Nodes   []chain.NodeStatus `json:"nodes,omitempty"`
}

// Run prints how the following goes; it may run beside a serving instance.
func (c chainStatus) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	var cursors []models.ChainCursor
	if err := p.DB.Read(ctx).Find(&cursors).Error; err != nil {
		return err
	}
	var all []networkStatus
	for _, f := range p.Follows {
		row := networkStatus{Network: string(f.Network()), Domain: string(f.Domain),
			Problem: "Nothing has been read of it yet: is an instance serving?"}
		for _, cursor := range cursors {
			if cursor.Network == row.Network {
				row.Applied, row.Tip, row.Problem, row.At = cursor.Height, cursor.SourceTip, cursor.Problem,
					cursor.UpdatedAt
				row.Notes = slices.DeleteFunc([]string{cursor.Note, cursor.TokenNote},
					func(note string) bool { return note == "" })
			}
		}
		if err := row.countFrozen(p.DB.Read(ctx)); err != nil {
			return err
		}
		if s, ok := f.NetworkSource.(app.RealNetwork); ok {
			row.Nodes = s.Nodes(ctx)
		}
		all = append(all, row)
	}
	if c.JSON {
		return printJSON(all)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NETWORK\tDOMAIN\tAPPLIED\tTIP\tSTATE")
	for _, row := range all {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", row.Network, row.Domain, row.Applied, row.Tip,
			cmp.Or(row.Problem, "ok"))
		for _, note := range row.Notes {
			fmt.Fprintf(table, "\t\t\t\t%s\n", note)
		}
		for _, node := range row.Nodes {
			fmt.Fprintf(table, "  %s\t%s\t\t%d\t%s\n", node.Host, node.Version, node.Height, cmp.Or(node.Problem, "ok"))
			if node.Note != "" {
				fmt.Fprintf(table, "\t\t\t\t%s\n", node.Note)
			}
		}
	}
	return table.Flush()
}

// countFrozen counts the addresses that the issuer of the network's token has frozen.
func (s *networkStatus) countFrozen(db *models.Tx) error {
	var count int64
	err := db.Model(&models.Destination{}).Where("network = ? AND barred_at IS NOT NULL", s.Network).Count(&count).Error
	if count > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("Tether has frozen %d of the addresses that were given to payments: what USDT is there "+
				"can't be sent on.", count))
	}
	return err
}

type chainReset struct {
	Network string `required:"" help:"Test network, as chain status names it, e.g. xrp-testnet."`
}

// Run forgets where a test network was followed to. It may run beside a serving
// instance, which goes on from the network's end at its next look.
func (c chainReset) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	if _, _, err := p.FindNetwork(c.Network); err != nil {
		return err
	}
	for _, f := range p.Follows {
		if string(f.Network()) == c.Network && f.Domain != scope.Test {
			return fmt.Errorf("%s is followed with real money: its blocks never start over. Check the node, and "+
				"which network it follows", c.Network)
		}
	}
	observer := observe.New(p.Payments, p.Sends, new(chain.WatchSet))
	known, err := observer.ResetNetwork(ctx, chain.Network(c.Network))
	switch {
	case err != nil:
		return err
	case !known:
		return fmt.Errorf("nothing of %s was read yet: serve it first", c.Network)
	}
	fmt.Printf("%s is followed from its present end. What was credited stays. Open payments that had "+
		"received something wait for it again. Blocks after the last one that was read are not searched.\n", c.Network)
	return nil
}

type rescanCommand struct {
	Network string `required:"" help:"Network, as chain status names it, e.g. bitcoin-mainnet."`
	From    int64  `required:"" help:"Height to begin with."`
	To      int64  `help:"Height to end with. Default: the last block that was applied."`
}

// Run reads old blocks again for money that was missed, e.g. after a backup was
// restored. It may run beside a serving instance, and again at any time.
func (c rescanCommand) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	source, watching, err := p.FindNetwork(c.Network)
	if err != nil {
		return err
	}
	observer := observe.New(p.Payments, p.Sends, watching)
	if err := observer.Load(ctx, source.Network()); err != nil {
		return err
	}
	cursor, err := observer.Cursor(ctx, source.Network())
	if err != nil {
		return err
	}
	if !cursor.Known {
		return fmt.Errorf("nothing of %s was read yet: serve it first", c.Network)
	}
	to := cursor.Block.Height
	if c.To > 0 {
		to = min(to, c.To)
	}
	if c.From < 0 || c.From > to {
		return fmt.Errorf("--from must be from 0 to %d", to)
	}
	found := 0
	for height := c.From; height <= to; height++ {
		fresh, err := rereadBlock(ctx, observer, source, height)
		if err != nil {
			return fmt.Errorf("block %d: %w; begin again with --from %d", height, err, height)
		}
		found += fresh
		drawProgress(int(height-c.From+1), int(to-c.From+1), "blocks")
	}
	fmt.Printf("Read %d blocks of %s again: %d transfers were not known.\n", to-c.From+1, c.Network, found)
	return nil
}

// rereadBlock reads one block within the time that a node may take.
func rereadBlock(ctx context.Context, observer *observe.Observer, source app.NetworkSource, height int64) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	view, err := source.At(ctx)
	if err != nil {
		return 0, err
	}
	block, err := view.Block(ctx, height, observer.Watching)
	if err != nil {
		return 0, err
	}
	return observer.Reread(ctx, source.Network(), block)
}
