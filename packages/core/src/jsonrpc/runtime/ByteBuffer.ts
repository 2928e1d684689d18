/**
 * Bytes that arrive in pieces, as one array of bounded length. A peer may send pieces of one byte, and the object of a piece takes about
 * a hundred bytes, so `add` copies all pieces but the first. The bodies of HTTP messages (`client/http/ResponseBody`,
 * `server/http/RequestBody`), and the lines of `LineFraming` and `Sse` that a chunk cuts in two, are held in such a buffer.
 *
 * Mutable: `size` counts all bytes that have arrived, also bytes that did not fit; `bytes` begins with the bytes that fit.
 */

export class ByteBuffer {
  size: number
  protected bytes: Uint8Array | undefined

  constructor(readonly maxBytes: number) {
    this.size = 0
  }

  /** Adds as much of a piece as fits. `false` when more bytes than fit have arrived. */
  add(piece: Uint8Array): boolean {
    const { bytes, maxBytes, size } = this
    this.size += piece.length
    if (size > maxBytes) return false
    const end = Math.min(this.size, maxBytes)
    if (bytes === undefined) {
      this.bytes = piece
    } else {
      let into = bytes
      if (end > bytes.length) {
        // Doubling bounds the bytes that are copied, however small the pieces are.
        this.bytes = into = new Uint8Array(Math.min(Math.max(end, 2 * bytes.length), maxBytes))
        into.set(bytes.subarray(0, size))
      }
      into.set(piece.subarray(0, end - size), size)
    }
    return this.size <= maxBytes
  }

  /** Counts bytes that are not needed. */
  skip(piece: Uint8Array): void {
    this.size += piece.length
  }

  /** The bytes that fit. */
  get all(): Uint8Array {
    return this.bytes === undefined ? NOTHING : this.bytes.subarray(0, Math.min(this.size, this.maxBytes))
  }

  /** Frees the memory. For a body that is refused because it has too many bytes. */
  free(): void {
    this.bytes = undefined
  }

  /** Begins again, with no bytes. */
  clear(): void {
    this.size = 0
    this.bytes = undefined
  }
}

const NOTHING = new Uint8Array(0)
