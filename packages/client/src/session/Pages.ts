/**
 * Reads a list that comes in pages as one stream. A server whose list does not end is stopped here: by a limit of pages,
 * and when it sends a cursor a second time.
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"

/** How many pages of one list are read. */
export const MAX_PAGES = 64

/**
 * The entries of all pages; a page is requested when the reader wants its entries. Fails with reason `Decode` after
 * `MAX_PAGES` pages, and at a cursor that was there before.
 */
export const stream = <P extends { readonly nextCursor?: string | undefined }, A>(
  method: string,
  page: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  entries: (page: P) => ReadonlyArray<A>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    return Stream.paginateChunkEffect(undefined as string | undefined, (cursor) => {
      if (seen.has(cursor)) return Effect.fail(endless(method, "a cursor was given out twice"))
      if (seen.size === MAX_PAGES) return Effect.fail(endless(method, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.map(page(cursor), (page) => [
        Chunk.unsafeFromArray(entries(page)),
        Option.map(Option.fromNullable(page.nextCursor), (next): string | undefined => next)
      ])
    })
  })

const endless = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` })
