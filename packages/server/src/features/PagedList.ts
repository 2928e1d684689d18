/**
 * The pages of a shelf, worked out once: they hold until an entry comes or goes. Kept are those that a client gets who reads
 * from the first page on, whatever cursors it makes up.
 *
 * How a list is cut is the business of `Page`; what an entry says of itself comes from who asks for the listing.
 *
 * @since 0.1.0
 */
import type { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Either from "effect/Either"
import type { EntryTable } from "./EntryTable.js"
import * as Page from "./Page.js"

/**
 * Gives the page that begins after a cursor, as the result of a method: the same object as long as it holds.
 *
 * @since 0.1.0
 * @category models
 */
export type PagedList<R> = (cursor: string | undefined) => Either.Either<R, InvalidParams>

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, B, R>(options: {
  /** What cursors of this list begin with. */
  readonly list: string
  readonly shelf: EntryTable<A>
  readonly pageSize: number
  readonly advertised: (entry: A) => B
  readonly result: (items: ReadonlyArray<B>) => R
}): PagedList<R & { readonly nextCursor?: string }> => {
  const { advertised, list, result, shelf } = options
  const size = Page.atLeastOne(options.pageSize)
  const pages = new Map<number, R & { readonly nextCursor?: string }>()
  let sorted: Array<readonly [string, A]> = []
  let revision = -1
  return (cursor) => {
    if (revision !== shelf.revision) {
      revision = shelf.revision
      pages.clear()
      sorted = Page.sorted(shelf)
    }
    return Either.map(Page.start(list, sorted, cursor), (index) => {
      const known = pages.get(index)
      if (known !== undefined) return known
      const { items, nextCursor } = Page.at(list, sorted, index, size)
      const page = {
        ...result(items.map(advertised)),
        ...(nextCursor === undefined ? undefined : { nextCursor })
      }
      if (index % size === 0) pages.set(index, page)
      return page
    })
  }
}
