/**
 * What the server has listed of its tools: their output schemas, and whether they run as tasks. `ClientSession` feeds it every
 * list of tools that it reads. A tool that is not known is looked for in the whole list, once for all that wait for it.
 */
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/Semaphore"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"

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
  /** The tool of this name. When it is not known, the tools are listed. Left: why it is not known. */
  readonly find: (
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>
  ) => Effect.Effect<Either.Either<ListedTool, string>>
}

export const make = (): ListedTools => {
  const known = new Map<string, ListedTool>()
  let isListed = false
  let listings = 0
  let changes = 0
  const listing = Semaphore.make()
  const learning: ListedTools["learning"] = () => {
    const before = changes
    return (tools) => {
      if (changes !== before) return
      for (const { execution, name, outputSchema } of tools) {
        known.set(name, { outputSchema, taskSupport: execution?.taskSupport })
      }
    }
  }
  const now = (name: string): Either.Either<ListedTool, string> => {
    const tool = known.get(name)
    return tool === undefined ? Either.left("the server does not list the tool") : Either.right(tool)
  }

  return {
    learning,
    forget: () => {
      changes++
      known.clear()
      isListed = false
    },
    find: (name, list) =>
      Effect.suspend(() => {
        if (known.has(name) || isListed) return Effect.succeed(now(name))
        const before = listings
        return listing.run(Effect.suspend(() => {
          if (known.has(name) || isListed || listings !== before) return Effect.succeed(now(name))
          const [learn, unchanged] = [learning(), changes]
          return Effect.match(Stream.runCollect(list), {
            onFailure: (error) => {
              listings++
              return Either.left(`the tools could not be listed: ${error.message}`)
            },
            onSuccess: (tools) => {
              listings++
              if (changes !== unchanged) return Either.left("the tools changed while they were listed")
              isListed = true
              learn(Chunk.toReadonlyArray(tools))
              return now(name)
            }
          })
        }))
      })
  }
}
