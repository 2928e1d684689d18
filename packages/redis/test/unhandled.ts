/**
 * Rejections that no code handles: each would end the process of a server.
 */
import { Effect } from "effect"

/** The errors of those that there are, until the scope closes. */
export const unhandled = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const errors: Array<unknown> = []
      const listener = (error: unknown) => void errors.push(error)
      process.on("unhandledRejection", listener)
      return { errors, listener }
    }),
    ({ listener }) => Effect.sync(() => process.off("unhandledRejection", listener))
  ),
  ({ errors }) => errors
)
