/**
 * Reads the rows that other nodes store, for `SqlChangeBus` and `SqlInbox`. After each notification (`Wake`) this module reads until there
 * are no more rows. When a read fails, this module reads again after the next notification.
 */
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlConnectionService } from "../SqlConnection.js"
import type { SqlStoreError } from "../SqlStoreError.js"

/** How many rows one statement reads at most. */
export const READ = 256

/** How long a reader waits for a notification before it reads without a notification. */
export const LOOK = Duration.seconds(1)

/** Returns a stream of the elements of all new rows. `read` must return up to `READ` rows that follow the rows of its last call. */
export const rows = <Row, A>(
  { wakes }: SqlConnectionService,
  channel: string,
  read: Effect.Effect<ReadonlyArray<Row>, SqlStoreError>,
  toElements: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<A>>
): Stream.Stream<A> => {
  const page = Effect.orElse(
    Effect.tapError(
      read,
      (error) => Effect.logDebug(`The rows could not be read; they are read again: ${error.message}`)
    ),
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
