/**
 * Cuts a list into pages, for `PagedList` and for the lists of skills (`SkillIndex` and `SkillRequests` of package `extensions`).
 * `runtime/Paging` makes the cursors. The list is sorted by key, and a cursor contains the last key of its page. So a client that reads
 * page after page gets each entry once, even when the server adds or removes other entries between two pages. Every instance of a server
 * accepts the cursors of every other instance.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 */
import * as Either from "effect/Either"
import type { InvalidParams } from "../../protocol/McpError.js"
import * as Paging from "../runtime/Paging.js"

/** @category models */
export interface Page<out A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | undefined
}

/**
 * Gives the page after `cursor`. The entries must be sorted by key. Fails when the cursor belongs to another list.
 */
export const make = <A>(
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: A]>,
  cursor: string | undefined,
  size: number = Paging.SIZE
): Either.Either<Page<A>, InvalidParams> =>
  Either.map(Paging.start(list, entries, cursor), (index) => Paging.at(list, entries, index, size))

/**
 * Sorts entries by their keys, so that the order of registration does not matter.
 */
export const sorted = <A>(entries: Iterable<readonly [key: string, item: A]>): Array<readonly [string, A]> =>
  [...entries].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
