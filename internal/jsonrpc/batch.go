package jsonrpc

import "bytes"

// MaxBatch is how many messages an array may hold.
const MaxBatch = 256

// BatchVersion is the version of MCP that lets messages travel in arrays; no
// other does.
const BatchVersion = "2025-03-26"

// IsBatch tells an array of messages.
func IsBatch(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] == '['
}

// SplitBatch takes an array apart, up to one more than MaxBatch. The messages
// have memory of their own, since each is scanned in place.
func SplitBatch(data []byte) ([][]byte, error) {
	var messages [][]byte
	err := Elements(data, func(message []byte) bool {
		messages = append(messages, bytes.Clone(message))
		return len(messages) <= MaxBatch
	})
	return messages, err
}
