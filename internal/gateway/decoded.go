package gateway

// A decoded JSON value takes many times its size: seven bytes of text can become
// a map of 370. So trees are counted against the caller's share, and bounded.
const (
	// SmallArguments is the size up to which arguments are decoded uncounted, in
	// bytes.
	SmallArguments = 4 << 10
	// mostValues is how many values arguments may have to be decoded.
	mostValues = 200_000
	// The bytes that an object and any other value take in a tree, measured.
	objectSize = 400
	valueSize  = 100
)

// DecodedSize estimates the number of values in a JSON text, and the bytes that
// they take when they are decoded. It refuses more values than may be decoded.
// The text must have passed a scanner: only its structure is counted.
func DecodedSize(raw []byte) (values, size int, err error) {
	values, objects := 1, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{':
			objects++
			values++
		case '[', ',':
			values++
		}
	}
	if values > mostValues {
		return 0, 0, Errorf(CodeInvalid, "the arguments have more than %d values, which is too many to read them; send less at once", mostValues)
	}
	return values, len(raw) + values*valueSize + objects*(objectSize-valueSize), nil
}
