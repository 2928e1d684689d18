/**
 * Collects bytes that arrive in pieces in one array of limited length. A peer may send pieces of one byte, and the object of each piece
 * takes about a hundred bytes. Therefore `add` copies every piece except the first. The buffer stores the bodies of HTTP messages
 * (`client/http/ResponseBody`, `server/http/RequestBody`), and lines of `LineFraming` and `Sse` that arrive in several chunks.
 *
 * The fields are mutable. `size` counts all bytes that have arrived, also bytes beyond the limit. The first bytes of `bytes` are the stored
 * bytes.
 */

export class ByteBuffer {
  size: number
  protected bytes: Uint8Array | undefined

  constructor(readonly maxBytes: number) {
    this.size = 0
  }

  /** Adds as many bytes of a piece as the limit allows. Returns `false` when more bytes have arrived than the limit. */
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
        // The length is doubled, so that few bytes are copied, however small the pieces are.
        this.bytes = into = new Uint8Array(Math.min(Math.max(end, 2 * bytes.length), maxBytes))
        into.set(bytes.subarray(0, size))
      }
      into.set(piece.subarray(0, end - size), size)
    }
    return this.size <= maxBytes
  }

  /** Counts bytes without storing them. */
  skip(piece: Uint8Array): void {
    this.size += piece.length
  }

  /** The stored bytes. */
  get all(): Uint8Array {
    return this.bytes === undefined ? NOTHING : this.bytes.subarray(0, Math.min(this.size, this.maxBytes))
  }

  /** Frees the memory and keeps `size`. Call this function when a body is refused because it has too many bytes. */
  free(): void {
    this.bytes = undefined
  }

  /** Frees the memory and sets `size` to 0. */
  clear(): void {
    this.size = 0
    this.bytes = undefined
  }
}

const NOTHING = new Uint8Array(0)
