/**
 * Asks the user before this program uses an entry from a file of the current folder, for `Configured`. Anybody who can write to the folder
 * may have written the entry. The user sees the whole entry, without the values of its variables. After the user has agreed, this program
 * asks again only when the entry has changed. The option `--trust` is the user's agreement, for example in a script. Without a terminal and
 * without `--trust`, this program uses only entries to which the user has already agreed.
 */
import * as Prompt from "@effect/cli/Prompt"
import * as FileSystem from "@effect/platform/FileSystem"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import { join } from "node:path"
import { refused } from "./CommandFailure.js"
import { Output, paint, type Styled } from "./CommandOutput.js"
import { fit, jsonText, line } from "./Escape.js"

/** The most characters of an entry that the user is asked about. Nobody reads a text that is longer than the screen. */
const MAX_SHOWN = 5000

const PLAIN = /^[\w@%+=:,./-]+$/

/** Returns a word as the user would write it in a command line, with quotes if necessary. */
const word = (text: string): string => PLAIN.test(text) ? text : jsonText(text, 0)

/** Returns the variables that a program gets from the `envFile` of its entry. */
const ofEnvFile = (
  { server }: ServersConfig.ServerEntry,
  filled: ServersConfig.Program | ServersConfig.Address
): Readonly<Record<string, string>> =>
  ServersConfig.isAddress(server) || ServersConfig.isAddress(filled) || server.envFile === undefined
    ? {}
    : Object.fromEntries(
      Object.entries(filled.env ?? {}).filter(([key]) =>
        !Object.hasOwn(server.env ?? {}, key) && server.inherit?.includes(key) !== true
      )
    )

/** Returns everything that an entry does, one line each. */
const described = (
  name: string,
  file: string,
  entry: ServersConfig.ServerEntry,
  others: Readonly<Record<string, string>>
): Styled => {
  const { server } = entry
  const variables = ServersConfig.variablesOf(entry)
  const row = (title: string, text: string | undefined): ReadonlyArray<Styled> =>
    text === undefined ? [] : ["\n  ", paint("dim", `${title}: `), line(text)]
  const settings = (title: string, values: Readonly<Record<string, string>> = {}): ReadonlyArray<Styled> =>
    Object.entries(values).flatMap(([key, value]) => row(title, `${word(key)}=${word(value)}`))
  return [
    `The server ${word(name)} comes from a file of this folder:`,
    ...row("file", file),
    ...(ServersConfig.isAddress(server)
      ? [...row("connects to", server.url), ...settings("header", server.headers)]
      : [
        ...row("runs", [server.command, ...server.args ?? []].map(word).join(" ")),
        ...settings("variable", server.env),
        ...row(
          "variables of the file",
          server.envFile && `${word(server.envFile)}: ${Object.keys(others).map(word).join(", ")}`
        ),
        ...row("in the folder", server.cwd)
      ]),
    ...row("gets of your environment", variables.length === 0 ? undefined : variables.map(word).join(", "))
  ]
}

/** Returns the path of an empty file. When this file exists, the user has agreed to an entry with this content. */
const mark = (
  name: string,
  file: string,
  { server, variables }: ServersConfig.ServerEntry,
  others: Readonly<Record<string, string>>
): string =>
  join(
    homedir(),
    ".effect-mcp",
    "trusted",
    createHash("sha256").update(JSON.stringify([name, file, server, variables, others])).digest("hex")
  )

const remember = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    yield* files.makeDirectory(join(path, ".."), { recursive: true, mode: 0o700 })
    yield* files.writeFileString(path, "", { mode: 0o600 })
  })

/**
 * Succeeds when the user agrees, or has agreed before, to the use of an entry of a folder's file. `filled` is the entry with its variables
 * filled in. Fails when the user does not agree, when nobody can be asked, and when the entry is too long to be shown.
 */
export const ask = (
  name: string,
  file: string,
  entry: ServersConfig.ServerEntry,
  filled: ServersConfig.Program | ServersConfig.Address
) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const { interactive, note } = yield* Output
    const others = ofEnvFile(entry, filled)
    if (JSON.stringify([name, entry.server, Object.keys(others)]).length > MAX_SHOWN) {
      return yield* refused(
        `The entry of ${
          word(fit(line(name), 40))
        } in ${file} is too long to be shown: read the file, and run again with --trust`
      )
    }
    const path = mark(name, file, entry, others)
    if (yield* Effect.orElseSucceed(files.exists(path), () => false)) return
    yield* note(described(name, file, entry, others))
    if (!interactive) {
      return yield* refused(
        `The server ${word(name)} is used only when you agree: run the command at a terminal, or give --trust`
      )
    }
    const message = ServersConfig.isAddress(entry.server) ? "Connect to it?" : "Run it?"
    if (!(yield* Prompt.confirm({ message, initial: false }))) {
      return yield* refused(`The server ${word(name)} is not used`)
    }
    yield* Effect.catchAll(remember(path), (error) => note(`You will be asked again: ${error.message}`))
  })
