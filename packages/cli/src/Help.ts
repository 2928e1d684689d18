/**
 * Makes the pages of `--help`; `Cli` prints them. A page says what a command does, and lists its arguments, its options and the commands
 * below it. A page has no colors, and one line for each argument, option and command, so that other programs can search the page. The
 * descriptions are in the modules of the commands. `OwnWords` reads the names of options with this module.
 */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import { stripVTControlCharacters } from "node:util"

/** A command with its help, and the commands below it. */
export interface Part {
  readonly name: string
  readonly help: HelpDoc.HelpDoc
  readonly parts: ReadonlyArray<Part>
}

export const part = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  parts: ReadonlyArray<Part> = []
): Part => ({
  name: [...Command.getNames(command)].join(),
  help: Command.getHelp(command, CliConfig.defaultConfig),
  parts
})

const textOf = (doc: HelpDoc.HelpDoc): string => stripVTControlCharacters(HelpDoc.toAnsiText(doc)).trim()

/** Sentences that `@effect/cli` adds to every option of a type. The form of the option already says the same. */
const OBVIOUS =
  /^(A user-defined piece|An existing|A file|A directory|A true or false|An integer|One of the following|This (setting|option|argument)) ?/

const blocks = (doc: HelpDoc.HelpDoc): ReadonlyArray<HelpDoc.HelpDoc> =>
  doc._tag === "Sequence" ? [...blocks(doc.left), ...blocks(doc.right)] : [doc]

/** Options that `@effect/cli` adds to every command. */
const BUILT_IN = /^(--completions|--log-level|--wizard|--version|-h, --help)/

const rowsOf = (doc: HelpDoc.HelpDoc, hidden = BUILT_IN): ReadonlyArray<readonly [string, string]> =>
  blocks(doc).flatMap((block) =>
    block._tag === "DescriptionList"
      ? block.definitions.map(([span, about]) =>
        [
          textOf(HelpDoc.p(span)).replace(/^\((.*)\)$/, "$1").replace(/ 0 - \d+$/, ""),
          blocks(about).map(textOf).filter((text) => text !== "" && !OBVIOUS.test(text)).join(" ")
        ] as const
      )
      : []
  ).filter(([name]) => !hidden.test(name))

const isOption = ([name]: readonly [string, string]): boolean => name.startsWith("-")

/** Returns the names of a command's options. The value of a name is `true` if a value follows the name on the command line. */
export const optionsOf = ({ help }: Part): ReadonlyMap<string, boolean> =>
  new Map(
    rowsOf(help, /^$/).filter(isOption).flatMap(([text]) => {
      const names = text.match(/(?<=^|, )--?[\w-]+/g) ?? []
      return names.map((name) => [name, !text.endsWith(names.at(-1) ?? "")] as const)
    })
  )

/** Returns whether a command takes words of the form `name=value`. */
export const hasArguments = ({ help }: Part): boolean =>
  rowsOf(help).some(([name]) => name.startsWith("<") && name.includes("arguments"))

const table = (title: string, rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const width = Math.min(30, Math.max(0, ...rows.map(([name]) => name.length)))
  const lines = rows.map(([name, about]) =>
    name.length > width ? `  ${name}\n  ${" ".repeat(width)}  ${about}` : `  ${name.padEnd(width)}  ${about}`
  )
  return rows.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => line.trimEnd())]
}

const about = ({ help }: Part): string => {
  const paragraph = blocks(help).find(HelpDoc.isParagraph)
  return paragraph === undefined ? "" : textOf(paragraph)
}

/** Returns the page of the command that the words name. When the words do not begin with a command, returns the page of the program. */
export const page = (root: Part, words: ReadonlyArray<string>): string => {
  const path = [root]
  for (const word of words) {
    const next = path.at(-1)?.parts.find(({ name }) => name === word)
    if (next === undefined) break
    path.push(next)
  }
  const part = path.at(-1) ?? root
  const rows = rowsOf(part.help)
  const args = rows.filter(([name]) => name.startsWith("<"))
  const options = rows.filter(isOption)
  const { parts } = part
  const usage = [
    ...path.map(({ name }) => name),
    ...(parts.length > 0 ? ["<command>"] : []),
    ...(options.length > 0 ? ["[options]"] : []),
    ...args.map(([name]) => name)
  ]
  return [
    about(part),
    "",
    `Usage: ${usage.join(" ")}`,
    ...table("Words", args),
    ...table("Commands", parts.map((one) => [one.name, about(one)])),
    ...table("Options", options),
    ...(parts.length === 0 ? [] : ["", `\`${path.map(({ name }) => name).join(" ")} <command> --help\` says more.`]),
    ...(part === root
      ? [
        "`--version` prints the version, `--completions bash` (or zsh, fish) a completion script for the shell.",
        "Guide: https://github.com/effect-mcp/effect-mcp/blob/main/docs/cli.md"
      ]
      : [])
  ].join("\n")
}
