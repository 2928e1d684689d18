/**
 * Reads a list that comes in pages as one stream. The stream fails with `ListCut` when the list does not end or is too large: after too many
 * pages, when the pages together hold too many values or characters, and when the server sends a cursor a second time.
 *
 * @since 0.1.0
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ClientError } from "./ClientError.js"

/**
 * How many pages of one list are read.
 *
 * @category constants
 */
export const MAX_PAGES = 64

/**
 * How many values the entries of one list may consist of, on all pages together.
 *
 * @category constants
 */
export const MAX_VALUES = 500_000

/**
 * How many characters the entries of one list may have, on all pages together.
 *
 * @category constants
 */
export const MAX_CHARACTERS = 16 * 1024 * 1024

/**
 * Counts what is kept of the lists of a server. Mutable, because it looks at each value.
 *
 * @internal
 */
export class Budget {
  private values = 0
  private characters = 0

  /** Whether this, too, is within the limits of a list. */
  fits(entry: unknown): boolean {
    const left = [entry]
    while (left.length > 0) {
      const value = left.pop()
      if (++this.values > MAX_VALUES) return false
      if (typeof value === "string") this.characters += value.length
      else if (Array.isArray(value)) { for (const one of value) left.push(one) }
      else if (typeof value === "object" && value !== null) {
        for (const [key, one] of Object.entries(value)) {
          this.characters += key.length
          left.push(one)
        }
      }
      if (this.characters > MAX_CHARACTERS) return false
    }
    return true
  }
}

/**
 * The rest of a list is not read.
 *
 * @category models
 */
export class ListCut extends TransportError {}

/**
 * The entries of all pages; a page is requested when the reader wants its entries. Fails with `ListCut` after the entries that are
 * within the limits, after `MAX_PAGES` pages, and at a cursor that was there before.
 *
 * @category utils
 */
export const stream = <P extends { readonly nextCursor?: string | undefined }, A>(
  method: string,
  page: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  entries: (page: P) => ReadonlyArray<A>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    const budget = new Budget()
    let count = 0
    const tooLarge = () =>
      cut(
        method,
        `all entries may have ${MAX_VALUES} values and ${MAX_CHARACTERS} characters together, so those after the first ` +
          `${count} are left out`
      )
    return Stream.paginateChunkEffect(undefined as string | undefined | ListCut, (cursor) => {
      if (cursor instanceof ListCut) return Effect.fail(cursor)
      if (seen.has(cursor)) return Effect.fail(cut(method, "a cursor was given out twice"))
      if (seen.size === MAX_PAGES) return Effect.fail(cut(method, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.map(page(cursor), (page) => {
        const all = entries(page)
        const end = all.findIndex((entry) => !budget.fits(entry))
        const kept = end === -1 ? all : all.slice(0, end)
        count += kept.length
        return [
          Edition.chunk(kept),
          end === -1
            ? Option.map(Option.fromNullable(page.nextCursor), (next): string | undefined => next)
            : Option.some(tooLarge())
        ]
      })
    })
  })

const cut = (method: string, why: string): ListCut =>
  new ListCut({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` })
