/**
 * Bytes that arrive in pieces, as one array. A peer may send pieces of one byte, and an array object of its own takes about a
 * hundred bytes: so pieces are copied. Bytes that arrive in one piece are not.
 *
 * Mutable: the first `size` bytes of `bytes` have arrived.
 */

export class ByteBuffer {
  size = 0
  private bytes: Uint8Array | undefined

  /** `maxBytes`: what the caller adds at most. */
  constructor(private readonly maxBytes: number) {}

  add(piece: Uint8Array): void {
    const { bytes, size } = this
    this.size += piece.length
    if (bytes === undefined) {
      this.bytes = piece
      return
    }
    if (this.size > bytes.length) {
      // Doubling bounds the bytes that are copied, however small the pieces are.
      this.bytes = new Uint8Array(Math.min(Math.max(this.size, 2 * bytes.length), this.maxBytes))
      this.bytes.set(bytes.subarray(0, size))
    }
    this.bytes!.set(piece, size)
  }

  /** All that has arrived. */
  get all(): Uint8Array {
    return this.bytes === undefined ? NOTHING : this.bytes.subarray(0, this.size)
  }

  /** Forgets what has arrived. */
  clear(): void {
    this.size = 0
    this.bytes = undefined
  }
}

const NOTHING = new Uint8Array(0)
