/**
 * Cuts a list into pages. The list is in the order of its keys, and a cursor names the last one that was given out: entries
 * which come and go between two pages neither repeat nor hide others, and every instance of a server takes the cursors of
 * every other.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/**
 * How many entries a page holds unless the server says otherwise. Clients that read one page only are common.
 *
 * @since 0.1.0
 * @category limits
 */
export const SIZE = 1000

/**
 * @since 0.1.0
 * @category models
 */
export interface Page<out A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | undefined
}

/**
 * The page that begins after `cursor`, of entries sorted by their keys. A cursor that is none of this list's is refused.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A>(
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: A]>,
  cursor: string | undefined,
  size: number = SIZE
): Either.Either<Page<A>, InvalidParams> =>
  Either.map(start(list, entries, cursor), (index) => at(list, entries, index, size))

/**
 * Where the page after `cursor` begins.
 *
 * @since 0.1.0
 * @category constructors
 */
export const start = (
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: unknown]>,
  cursor: string | undefined
): Either.Either<number, InvalidParams> => {
  if (cursor === undefined) return Either.right(0)
  const key = keyOf(list, cursor)
  return key === undefined
    ? Either.left(new InvalidParams({ message: "Invalid params: this list never gave out this cursor" }))
    : Either.right(firstAfter(entries, key))
}

/**
 * The page that begins at this index.
 *
 * @since 0.1.0
 * @category constructors
 */
export const at = <A>(
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: A]>,
  index: number,
  size: number = SIZE
): Page<A> => {
  const end = index + atLeastOne(size)
  const page = entries.slice(index, end)
  return {
    items: page.map(([, item]) => item),
    nextCursor: end < entries.length ? Encoding.encodeBase64Url(`${list}:${page[page.length - 1]![0]}`) : undefined
  }
}

/**
 * How many entries a page of this size holds: one at least, or nobody would get to the end.
 *
 * @since 0.1.0
 * @category limits
 */
export const atLeastOne = (size: number): number => size >= 1 ? Math.floor(size) : 1

/**
 * Entries in the order of their keys, whatever the order in which they came.
 *
 * @since 0.1.0
 * @category combinators
 */
export const sorted = <A>(entries: Iterable<readonly [key: string, item: A]>): Array<readonly [string, A]> =>
  [...entries].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)

const firstAfter = (entries: ReadonlyArray<readonly [key: string, item: unknown]>, key: string): number => {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]![0] > key) high = middle
    else low = middle + 1
  }
  return low
}

const keyOf = (list: string, cursor: string): string | undefined => {
  const decoded = Either.getOrUndefined(Encoding.decodeBase64UrlString(cursor))
  return decoded?.startsWith(`${list}:`) === true ? decoded.slice(list.length + 1) : undefined
}
