/**
 * What a client knows of the tools of its server, from the lists that the server has sent: their output schemas, whether they run as
 * tasks, and which headers repeat their arguments over HTTP. The session lists tools through this module. `OutputCheck` and
 * `RemoteTasks` look for a tool here, which is then listed once for all calls that wait for it; `modern/ToolHeaders` learns and
 * looks for headers.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Stream from "effect/Stream"
import type { CallOptions, ListOptions } from "../CallOptions.js"
import type { ClientError } from "../ClientError.js"
import * as Pages from "../Pages.js"
import type { Call } from "./MethodCalls.js"
import type { TimeLeft } from "./TimeLeft.js"

/** What is known of a tool. Each time that the server lists the tool, this is another object. */
export interface ServerTool {
  readonly outputSchema: JsonObject | undefined
  readonly taskSupport: "forbidden" | "optional" | "required" | undefined
}

/** The headers of a call with these arguments. */
export type MakeHeaders = (args: JsonObject | undefined) => Record<string, string>

export interface ServerToolsService {
  /** One page of the list. Its tools are remembered, unless the tools change before the page arrives. */
  readonly page: (call: Call, options: ListOptions | undefined) => Effect.Effect<Tools.ListToolsResult, ClientError>
  /** The whole list, page after page. Its tools are remembered, unless the tools change meanwhile. */
  readonly list: (call: Call, options?: CallOptions) => Stream.Stream<Tools.Tool, ClientError>
  /** Forgets all tools, because they have changed. A header of an old list stays until the tool is listed again. */
  readonly forget: () => void
  /**
   * The tool of this name. When the tool is not known, `list` is read until it has the tool, for at most the time that is left. The
   * failure says why the tool is not known. When the list could not be read or has no such tool, it is not read again for a minute.
   *
   * With `listings`, what was known before the tools were listed for that many times is not enough.
   */
  readonly find: (
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>,
    left: TimeLeft["after"],
    listings?: number
  ) => Effect.Effect<Either.Either<ServerTool, string>>
  /** How many times `find` has listed the tools. */
  readonly listings: () => number
  /** The tools whose results could not be checked, which is reported once for each until the tools change. */
  readonly unchecked: Set<string>
  /** Remembers the headers of a tool; `undefined` for none. */
  readonly setHeaders: (name: string, headers: MakeHeaders | undefined) => void
  /** The headers of a call. A tool that was never listed has none. */
  readonly headersOf: (params: JsonObject | undefined) => Record<string, string>
}

/** For how many milliseconds the tools are not listed again after that has failed. */
const FAILED_FOR = 60_000

/** For how many tools the headers are kept: the oldest go first. Most tools have none and are not counted. */
const MAX_HEADERS = 1000

const NOT_LISTED = "the server does not list the tool"

const OVER = "the time of the call was over before the tools were listed"

export const make = (): ServerToolsService => {
  const known = new Map<string, ServerTool>()
  const headers = new Map<string, MakeHeaders>()
  const unchecked = new Set<string>()
  // Counts what `known` holds: no more than one list may hold.
  let budget = new Pages.Budget()
  let isListed = false
  let changes = 0
  let listings = 0
  let failure: { readonly why: string; readonly until: number } | undefined
  const listing = Semaphore.make()

  const clear = (): void => {
    known.clear()
    budget = new Pages.Budget()
    isListed = false
  }

  /** Remembers the tools of a list that is requested now, unless the tools change before the list arrives. */
  const learning = (): (tools: ReadonlyArray<Tools.Tool>) => void => {
    const before = changes
    return (tools) => {
      if (changes !== before) return
      for (const { execution, name, outputSchema } of tools) {
        if (!budget.fits([name, outputSchema])) clear()
        else known.set(name, { outputSchema, taskSupport: execution?.taskSupport })
      }
    }
  }

  const now = (name: string): Either.Either<ServerTool, string> =>
    Either.fromNullable(known.get(name), () => NOT_LISTED)

  const failed = (clock: Clock.Clock, why: string): Either.Either<never, string> => {
    failure = { why, until: Edition.millis(clock) + FAILED_FOR }
    return Either.left(why)
  }

  /** Reads the list until it has the tool of this name. */
  const look = (name: string, list: Stream.Stream<Tools.Tool, ClientError>, clock: Clock.Clock) =>
    Effect.suspend(() => {
      clear()
      const before = changes
      const reading = Stream.runForEachWhile(
        Stream.chunks(list),
        () => Effect.sync(() => !known.has(name) && changes === before)
      )
      return Effect.match(reading, {
        onFailure: (error) => failed(clock, `the tools could not be listed: ${error.message}`),
        onSuccess: () => {
          if (changes !== before) return Either.left("the tools changed while they were listed")
          listings++
          isListed = !known.has(name)
          return isListed ? failed(clock, NOT_LISTED) : now(name)
        }
      })
    })

  return {
    page: (call, options) =>
      Effect.suspend(() => {
        const learn = learning()
        return Effect.tap(page(call, options?.cursor, options), ({ tools }) => Effect.sync(() => learn(tools)))
      }),
    list: (call, options) =>
      Stream.suspend(() => {
        const learn = learning()
        const tools = Pages.stream("tools/list", (cursor) => page(call, cursor, options), ({ tools }) => tools)
        return Stream.mapChunks(tools, (chunk) => {
          learn(Chunk.toReadonlyArray(chunk))
          return chunk
        })
      }),
    forget: () => {
      changes++
      failure = undefined
      unchecked.clear()
      clear()
    },
    find: (name, list, left, listingsBefore = -1) =>
      Effect.suspend(() => {
        const isKnown = () => listings > listingsBefore && (known.has(name) || isListed)
        if (isKnown()) return Effect.succeed(now(name))
        return Effect.flatMap(Effect.clock, (clock) => {
          let hasBegun = false
          const looking = Effect.suspend(() => {
            if (isKnown()) return Effect.succeed(now(name))
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
            // A call that only waited for the list of another call knows nothing of the server.
            onTimeout: () => hasBegun ? failed(clock, OVER) : Either.left(OVER)
          })
        })
      }),
    listings: () => listings,
    unchecked,
    setHeaders: (name, make) => {
      headers.delete(name)
      if (make === undefined) return
      headers.set(name, make)
      if (headers.size > MAX_HEADERS) headers.delete(headers.keys().next().value!)
    },
    headersOf: (params) => {
      const make = typeof params?.name === "string" ? headers.get(params.name) : undefined
      return make === undefined ? {} : make(params?.arguments as JsonObject | undefined)
    }
  }
}

const page = (call: Call, cursor: string | undefined, options: CallOptions | undefined) =>
  call("tools/list", cursor === undefined ? undefined : { cursor }, options)

/** A transport that is opened without a client knows no tools. */
export class ServerTools extends Context.Reference<ServerTools>()("@effect-mcp/client/session/ServerTools", {
  defaultValue: make
}) {}
