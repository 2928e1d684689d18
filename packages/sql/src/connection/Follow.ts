/**
 * Reads the rows of other nodes as they come, for `SqlChangeBus` and `SqlInbox`: after each wake-up, until there are no more rows. A read
 * that fails is tried again with the next wake-up.
 */
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlConnectionService } from "../SqlConnection.js"
import type { SqlStoreError } from "../SqlStoreError.js"

/** How many rows are read at once. */
export const READ = 256

/** How long a reader waits for a wake-up, before it looks whether there are rows. */
export const LOOK = Duration.seconds(1)

/** `read` gives up to `READ` rows after the rows that it gave before. */
export const rows = <Row, A>(
  { wakes }: SqlConnectionService,
  channel: string,
  read: Effect.Effect<ReadonlyArray<Row>, SqlStoreError>,
  toElements: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<A>>
): Stream.Stream<A> => {
  const page = Effect.orElse(
    Effect.tapError(read, (error) => Effect.logDebug(`The rows are read again: ${error.message}`)),
    () => Effect.succeed<ReadonlyArray<Row>>([])
  )
  const all = StreamArrays.paginate(
    undefined,
    () =>
      Effect.flatMap(page, (rows) =>
        Effect.map(toElements(rows), (elements) => [
          elements,
          rows.length < READ ? Option.none<undefined>() : Option.some(undefined)
        ]))
  )
  return Stream.flatMap(wakes(channel, LOOK), () => all)
}
