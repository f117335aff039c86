//go:build !linux

package procfs

import "errors"

// HugePageSize is what one fault of a huge page makes resident.
const HugePageSize = 2 << 20

// IsHuge says nothing here.
func (*Pagemap) IsHuge(uint64) (bool, error) { return false, errors.ErrUnsupported }

// UsesHugePages is false here.
func UsesHugePages() bool { return false }
