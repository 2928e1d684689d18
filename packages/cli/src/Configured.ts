/**
 * Finds a server by its name in configuration files, for `Target`. With `--config FILE` this module searches only this file. Without
 * `--config` it first searches the user's own files of all hosts, and then the files of the current folder. An entry of the current folder
 * needs the user's consent (`Trust`). Only the entry of the first file that has the name counts, even if this entry is disabled or cannot
 * be read.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { QuitException, Terminal } from "@effect/platform/Terminal"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, refused } from "./CommandFailure.js"
import { Output } from "./CommandOutput.js"
import { fit, line } from "./Escape.js"
import * as Suggestion from "./Suggestion.js"
import * as Trust from "./Trust.js"

export interface Given {
  readonly config: Option.Option<string>
  readonly trust: boolean
}

const sources = (
  config: Option.Option<string>
): Effect.Effect<ReadonlyArray<ConfiguredServers.Configuration>, Failure> =>
  Option.match(config, {
    onSome: (path) =>
      Effect.mapBoth(ConfiguredServers.read(path), {
        onFailure: ({ message }) => refused(message),
        onSuccess: (file) => [file]
      }),
    onNone: () =>
      Effect.zipWith(
        ConfiguredServers.userFiles(),
        ConfiguredServers.folderFiles(process.cwd()),
        (own, ofFolder) => [...own, ...ofFolder]
      )
  })

const MAX_NAMES = 20
const MAX_NAME = 40

/** Returns a sentence that lists the names in the files, and marks a name that cannot be used. */
const listed = (files: ReadonlyArray<ConfiguredServers.Configuration>): string => {
  const entries = [...ServersConfig.merge(files.map(({ entries }) => entries))]
  if (entries.length === 0) return "No file with servers was found"
  const names = entries.slice(0, MAX_NAMES).map(([name, { _tag }]) =>
    `${fit(line(name), MAX_NAME)}${_tag === "Server" ? "" : _tag === "Disabled" ? " (disabled)" : " (cannot be read)"}`
  )
  const more = entries.length - names.length
  return `The files have ${names.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
}

/**
 * Returns the server with this name, with its variables filled in. Fails when no file has the name, when the entry is disabled or cannot be
 * read, and when the user does not agree to an entry of the current folder. `trust` is the user's agreement. Prints the error of a file
 * that cannot be read. When one of the user's own files cannot be read, the function does not use an entry of the current folder, and
 * fails.
 */
export const find = (name: string, { config, trust }: Given): Effect.Effect<
  ServersConfig.Program | ServersConfig.Address,
  Failure | QuitException,
  Output | FileSystem.FileSystem | Path.Path | Terminal
> =>
  Effect.gen(function*() {
    const { note } = yield* Output
    const files = yield* sources(config)
    const found = files.find(({ entries }) => entries.has(name))
    const before = found === undefined ? files : files.slice(0, files.indexOf(found))
    for (const { error, isOfFolder } of before) {
      if (error === undefined) continue
      yield* note(error.message)
      if (found?.isOfFolder === true && isOfFolder !== true) {
        return yield* refused(
          `The file that cannot be read possibly has the server "${
            fit(line(name), MAX_NAME)
          }", too: correct the file, or name another file with --config`
        )
      }
    }
    if (found === undefined) {
      return yield* Suggestion.unknown(
        (word) => `No server is called "${fit(line(word), MAX_NAME)}"`,
        name,
        [...ServersConfig.merge(files.map(({ entries }) => entries)).keys()],
        () => `${listed(files)}. A URL begins with http:// or https://, a command line comes after --`
      )
    }
    const entry = found.entries.get(name)
    const filled = yield* ConfiguredServers.fill(
      new Map(entry === undefined ? [] : [[name, entry]]),
      { folder: process.cwd() }
    )
    const server = yield* usable(name, found.file, filled.get(name))
    if (found.isOfFolder === true && !trust && entry?._tag === "Server") {
      yield* Trust.ask(name, found.file, entry, server)
    }
    return server
  })

const usable = (
  name: string,
  file: string,
  entry: ServersConfig.Entry | undefined
): Effect.Effect<ServersConfig.Program | ServersConfig.Address, Failure> =>
  entry?._tag === "Server"
    ? Effect.succeed(entry.server)
    : Effect.fail(refused(
      entry?._tag === "LeftOut"
        ? ServersConfig.errorOf(name, entry).message
        : `The server "${fit(line(name), MAX_NAME)}" is disabled in ${file}`
    ))
