/**
 * The beginning and the end of bytes that come in two pieces: what `LineFraming` and `Sse` keep of a text that is too
 * long.
 */

/** A copy of the first bytes of both. */
export const beginning = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  const kept = first.subarray(0, length)
  const joined = new Uint8Array(Math.min(first.length + second.length, length))
  joined.set(kept)
  joined.set(second.subarray(0, length - kept.length), kept.length)
  return joined
}

/** A copy of the last bytes of both. */
export const ending = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  if (second.length >= length) return second.slice(-length)
  return beginning(first.subarray(Math.max(0, first.length + second.length - length)), second, length)
}
