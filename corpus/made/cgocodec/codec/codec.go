// Package codec decodes sound with a library in C. A Decoder is to be closed.
package codec

// #include <stdlib.h>
// #include <string.h>
//
// typedef struct { unsigned char *samples; size_t size; int channels; } decoder;
//
// static decoder *decoder_open(size_t size, int channels) {
//   decoder *d = malloc(sizeof *d);
//   d->samples = malloc(size);
//   memset(d->samples, channels, size);
//   d->size = size;
//   d->channels = channels;
//   return d;
// }
//
// static long decoder_loudness(decoder *d) {
//   long sum = 0;
//   for (size_t i = 0; i < d->size; i += 64) sum += d->samples[i];
//   return sum;
// }
//
// static void decoder_close(decoder *d) {
//   free(d->samples);
//   free(d);
// }
import "C"

// Decoder has the samples of one recording, in memory of C's.
type Decoder struct{ c *C.decoder }

// Open decodes size bytes of samples.
func Open(size, channels int) *Decoder {
	return &Decoder{C.decoder_open(C.size_t(size), C.int(channels))} // truth: allocates
}

// Channels is 1 or 2.
func (d *Decoder) Channels() int { return int(d.c.channels) }

// Loudness is the sum over some samples.
func (d *Decoder) Loudness() int { return int(C.decoder_loudness(d.c)) }

// Close frees the samples.
func (d *Decoder) Close() {
	C.decoder_close(d.c)
	d.c = nil
}
