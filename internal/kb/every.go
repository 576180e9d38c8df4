package kb

import (
	"bytes"
	"context"
	"encoding/json"
)

// everyPage is how many items are read at once for those who want all.
const everyPage = 200

// Every hands out all items, whole and in the order of their ids, until give fails.
// Each is as it is when its turn comes; what is created or deleted meanwhile may
// be left out.
func (b *Base) Every(ctx context.Context, give func(Item) error) (err error) {
	defer b.stamp(&err)
	for after := int64(0); ; {
		// These lack their neighbours, which are read with each.
		page, err := b.store.Items(ctx, after, everyPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			after = page[i].ID
			found, ok, err := b.store.Item(ctx, after)
			if err != nil {
				return err
			}
			if !ok || found.Item.ID != after { // it was deleted, or has moved
				continue
			}
			if err := give(found.Item); err != nil {
				return err
			}
		}
	}
}

// EncodeItem is an item as get_item_detail answers it, on one line.
func EncodeItem(item Item) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(newItemAnswer(Found{Item: item}))
	return b.Bytes(), err
}
