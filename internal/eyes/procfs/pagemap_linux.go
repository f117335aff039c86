package procfs

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugePageSize is what one fault of a huge page makes resident (x86-64; arm64 with pages of 4 KiB).
const HugePageSize = 2 << 20

// scan is struct pm_scan_arg, and region struct page_region (include/uapi/linux/fs.h).
type scan struct {
	size, flags, start, end, walkEnd uint64
	vector                           uintptr
	vectorLen, maxPages              uint64
	inverted, mask, anyOf, returned  uint64
}

type region struct{ start, end, categories uint64 }

// IsHuge says whether an address lies in a huge page that is resident. The error is
// unix.ENOTTY before Linux 6.7, which cannot say.
func (p *Pagemap) IsHuge(addr uint64) (bool, error) {
	const (
		pagemapScan = 0xC0606610 // _IOWR('f', 16, struct pm_scan_arg)
		isHuge      = 1 << 6
	)
	var found region
	page := uint64(os.Getpagesize())
	arg := scan{
		start: addr &^ (page - 1), end: addr&^(page-1) + page,
		vector: uintptr(unsafe.Pointer(&found)), vectorLen: 1, mask: isHuge, returned: isHuge,
	}
	arg.size = uint64(unsafe.Sizeof(arg))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.f.Fd(), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return false, errno
	}
	return n == 1 && found.categories&isHuge != 0, nil
}

// UsesHugePages says whether this machine gives programs huge pages, always or to those
// that ask.
func UsesHugePages() bool {
	b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && !strings.Contains(string(b), "[never]")
}
