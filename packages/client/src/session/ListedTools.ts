/**
 * What the server has listed of its tools: their output schemas, and whether they run as tasks. `ClientSession` feeds it every
 * list of tools that it reads. A tool that is not known is looked for in the list, once for all that wait for it. No more is kept
 * than one list may hold.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import * as Pages from "../Pages.js"
import type { TimeLeft } from "./TimeLeft.js"

/** What is known of a tool. Each time that it is listed, it is another object. */
export interface ListedTool {
  readonly outputSchema: JsonObject | undefined
  readonly taskSupport: "forbidden" | "optional" | "required" | undefined
}

export interface ListedTools {
  /** Gives what remembers the tools of a list that is requested from now on, unless they change before they are there. */
  readonly learning: () => (tools: ReadonlyArray<Tools.Tool>) => void
  /** Forgets all tools, because they have changed. */
  readonly forget: () => void
  /**
   * The tool of this name. When it is not known, the tools are listed until it is there, and no longer than time is left. Left: why
   * it is not known. That the tools could not be listed is remembered for a minute.
   */
  readonly find: (
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>,
    left: TimeLeft["after"]
  ) => Effect.Effect<Either.Either<ListedTool, string>>
}

/** For how many milliseconds the tools are not listed again after that has failed. */
export const FAILED_FOR = 60_000

export const make = (): ListedTools => {
  const known = new Map<string, ListedTool>()
  // What `known` holds, which may be as much as one list.
  let budget = new Pages.Budget()
  let isListed = false
  let changes = 0
  let failure: { readonly why: string; readonly until: number } | undefined
  const listing = Semaphore.make()
  const clear = (): void => {
    known.clear()
    budget = new Pages.Budget()
    isListed = false
  }
  const learning: ListedTools["learning"] = () => {
    const before = changes
    return (tools) => {
      if (changes !== before) return
      for (const { execution, name, outputSchema } of tools) {
        if (!budget.fits([name, outputSchema])) clear()
        else known.set(name, { outputSchema, taskSupport: execution?.taskSupport })
      }
    }
  }
  const now = (name: string): Either.Either<ListedTool, string> => {
    const tool = known.get(name)
    return tool === undefined ? Either.left("the server does not list the tool") : Either.right(tool)
  }
  const failed = (clock: Clock.Clock, why: string): Either.Either<never, string> => {
    failure = { why, until: Edition.millis(clock) + FAILED_FOR }
    return Either.left(why)
  }

  /** Lists the tools, page by page, until the one of this name is there. */
  const look = (name: string, list: Stream.Stream<Tools.Tool, ClientError>, clock: Clock.Clock) =>
    Effect.suspend(() => {
      clear()
      const [learn, unchanged] = [learning(), changes]
      const reading = Stream.runForEachWhile(Stream.chunks(list), (page) =>
        Effect.sync(() => {
          learn(Chunk.toReadonlyArray(page))
          return !known.has(name) && changes === unchanged
        }))
      return Effect.match(reading, {
        onFailure: (error) => failed(clock, `the tools could not be listed: ${error.message}`),
        onSuccess: () => {
          if (changes !== unchanged) return Either.left("the tools changed while they were listed")
          isListed = !known.has(name)
          return now(name)
        }
      })
    })

  return {
    learning,
    forget: () => {
      changes++
      failure = undefined
      clear()
    },
    find: (name, list, left) =>
      Effect.suspend(() => {
        if (known.has(name) || isListed) return Effect.succeed(now(name))
        return Effect.flatMap(Effect.clock, (clock) => {
          let hasBegun = false
          const looking = Effect.suspend(() => {
            if (known.has(name) || isListed) return Effect.succeed(now(name))
            if (failure !== undefined && Edition.millis(clock) < failure.until) {
              return Effect.succeed(Either.left(failure.why))
            }
            hasBegun = true
            return look(name, list, clock)
          })
          const millis = left(Edition.millis(clock))
          if (millis <= 0) return Effect.succeed(Either.left(OVER))
          return millis === Infinity ? listing.run(looking) : Effect.timeoutTo(listing.run(looking), {
            duration: millis,
            onSuccess: identity,
            // A call that only waited for another's list knows nothing of the server.
            onTimeout: () => hasBegun ? failed(clock, OVER) : Either.left(OVER)
          })
        })
      })
  }
}

const OVER = "the time of the call was over before the tools were listed"
