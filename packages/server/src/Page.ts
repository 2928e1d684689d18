/**
 * Cuts a list into pages. The list is sorted by key, and a cursor names the last key of its page: an entry that is added
 * or removed between two pages neither repeats nor hides others, and every instance of a server accepts the cursors of
 * every other.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/**
 * The default number of entries on a page. It is high, because many clients read the first page only.
 *
 * @category constants
 */
export const SIZE = 1000

/** @category models */
export interface Page<out A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | undefined
}

/**
 * The page after `cursor`, of entries that are sorted by key. Fails for a cursor of another list.
 *
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
 * The index at which the page after `cursor` begins.
 *
 * @internal
 */
export const start = (
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: unknown]>,
  cursor: string | undefined
): Either.Either<number, InvalidParams> => {
  // No page of this module ends with an empty cursor, so a client that sends an empty cursor begins the list.
  if (cursor === undefined || cursor === "") return Either.right(0)
  const key = keyOf(list, cursor)
  return key === undefined
    ? Either.left(new InvalidParams({ message: "Invalid params: the cursor does not belong to this list" }))
    : Either.right(firstAfter(entries, key))
}

/**
 * The page that begins at an index.
 *
 * @internal
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
 * A page size as an integer of at least 1, so that a client always gets to the end.
 *
 * @internal
 */
export const atLeastOne = (size: number): number => size >= 1 ? Math.floor(size) : 1

/**
 * The entries in the order of their keys, whatever the order of registration.
 *
 * @category utils
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
