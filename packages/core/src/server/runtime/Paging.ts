/**
 * Cuts lists into pages, and makes the cursors of the pages, for `features/ListPage` and `features/PagedList`. `start` finds the index for
 * a cursor, and `at` gives the page that begins at an index. `ResolvedLimits` reads the default size of a page from this module. A page has
 * a limit of entries and a limit of characters, so that clients can read a page even when the schemas of tools are long.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { InvalidParams } from "../../protocol/McpError.js"

/** The default number of entries on a page. This number is high, because many clients read only the first page. */
export const SIZE = 1000

/**
 * How many characters the entries of a page may have together, as JSON. A character has at most three bytes, and clients of this library
 * read messages of up to 10 MiB with up to a million values.
 */
export const MAX_CHARACTERS = 2 * 1024 * 1024

const sizes = new WeakMap<object, number>()

/** Gives the number of characters of an item as JSON. Measures each object only once. */
export const sizeOf = (item: unknown): number => {
  if (typeof item !== "object" || item === null) return String(item).length
  let size = sizes.get(item)
  if (size === undefined) sizes.set(item, size = JsonText.stringify(item)?.length ?? 0)
  return size
}

/** Whether an item is too long for every page. */
export const isTooLong = (item: unknown): boolean => sizeOf(item) > MAX_CHARACTERS

/** Finds the index at which the page after `cursor` begins. Left: the cursor does not belong to this list. */
export const start = (
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: unknown]>,
  cursor: string | undefined
): Either.Either<number, InvalidParams> => {
  // The server never sends an empty cursor. A client that sends an empty cursor gets the first page.
  if (cursor === undefined || cursor === "") return Either.right(0)
  const key = keyOf(list, cursor)
  return key === undefined
    ? Either.left(new InvalidParams({ message: "Invalid params: the cursor does not belong to this list" }))
    : Either.right(firstAfter(entries, key))
}

/** Gives the end of the page that begins at `index`: the index of the first entry that does not fit. */
export const endOf = (
  entries: ReadonlyArray<readonly [key: string, item: unknown]>,
  index: number,
  size: number
): number => {
  const most = Math.min(entries.length, index + atLeastOne(size))
  let end = index
  for (let characters = 0; end < most; end++) {
    characters += sizeOf(entries[end]![1])
    if (characters > MAX_CHARACTERS && end > index) break
  }
  return end
}

/** Gives the page that begins at an index. */
export const at = <A>(
  list: string,
  entries: ReadonlyArray<readonly [key: string, item: A]>,
  index: number,
  size: number
): { readonly items: ReadonlyArray<A>; readonly nextCursor: string | undefined } => {
  const end = endOf(entries, index, size)
  const page = entries.slice(index, end)
  return {
    items: page.map(([, item]) => item),
    nextCursor: end < entries.length ? Encoding.encodeBase64Url(`${list}:${page[page.length - 1]![0]}`) : undefined
  }
}

/** Gives a page size as an integer of at least 1, so that a client always reaches the end of the list. */
export const atLeastOne = (size: number): number => size >= 1 ? Math.floor(size) : 1

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
